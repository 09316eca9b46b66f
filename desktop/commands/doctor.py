"""`ghostcandle doctor`: check this machine, and say what to do."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from core.machine.cuda_setup import CudaFacts, Gpu, advice_for, case_of, facts_from
from core.settings import tree as settings_file
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from desktop.commands.options import common_options, data_folder, print_json
from desktop.commands.requirements import misfits, required_packages, required_python

_OWN_NAMES = ("core", "desktop", "models", "resources")
_FEWEST_FREE_BYTES = 2 * 1024**3
_TORCH_WITHIN_S = 120.0
_SOURCE = Path(__file__).resolve().parents[2]


class State(StrEnum):
    """How a finding is."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `advice` is empty where there is nothing to do."""

    name: str
    state: State
    what: str
    advice: str = ""


def collect(folder: DataFolder, device: str | None = None) -> list[Finding]:
    """Look at everything. Takes a few seconds: torch is asked in a separate process.

    device: the one that training is to use; without it, the settings'.
    """
    settings, warnings = settings_file.load(folder.settings)
    wanted = device or settings.training.device
    looks: tuple[Callable[[], Finding], ...] = (
        _python,
        _packages,
        _qt,
        _display,
        _libraries,
        _fonts,
        lambda: _torch(wanted),
        _ccxt,
        _own_names,
        lambda: _data_folder(folder),
        lambda: _settings(warnings),
        lambda: _database(folder),
    )
    return [*_build(), *(look() for look in looks)]


def _build() -> Iterator[Finding]:
    """What the packaged program says of itself; nothing in a checkout."""
    path = Path(sys.executable).parent / "BUILD_INFO.json"
    if getattr(sys, "frozen", False) and path.exists():
        info = json.loads(path.read_text(encoding="utf-8"))
        yield Finding("Package", State.OK, f"Ghostcandle {info['version']}, torch for {info['torch_build']}")


def _python() -> Finding:
    what = f"{platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})"
    required = required_python()
    if required.contains(platform.python_version(), prereleases=True):
        return Finding("Python", State.OK, what)
    return Finding("Python", State.BAD, what, f"Python {required} is needed. In a checkout run: make setup")


def _packages() -> Finding:
    """By the metadata of each, which the packaged program does not have."""
    wrong = [] if getattr(sys, "frozen", False) else list(misfits(required_packages()))
    if wrong:
        return Finding("Packages", State.WARN, "; ".join(wrong), "In a checkout run: make setup")
    return Finding("Packages", State.OK, "as the program needs them")


def _qt() -> Finding:
    try:
        import PySide6  # noqa: PLC0415 - the doctor also runs where it is broken
        from PySide6 import QtWidgets  # noqa: F401, PLC0415
    except ImportError as error:
        return Finding("Qt", State.BAD, f"cannot be loaded ({error})", "Run: make setup")
    found = str(PySide6.__version__)
    what = f"PySide6 {found}, platforms: {', '.join(sorted(_platform_plugins())) or 'none'}"
    wanted = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    if wanted and wanted not in _platform_plugins():
        advice = "Unset QT_QPA_PLATFORM, or name one of these."
        return Finding("Qt", State.BAD, f"{what}; QT_QPA_PLATFORM asks for {wanted}", advice)
    return Finding("Qt", State.OK, what)


def _platform_plugins() -> dict[str, Path]:
    """Qt's ways to reach a screen, by the name that QT_QPA_PLATFORM knows."""
    from PySide6.QtCore import QLibraryInfo  # noqa: PLC0415

    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    files = [path for path in folder.glob("*q*") if path.suffix in (".so", ".dll", ".dylib")]
    return {path.stem.removeprefix("lib").removeprefix("q"): path for path in files}


def _display() -> Finding:
    if not sys.platform.startswith("linux"):
        return Finding("Display", State.OK, "the desktop of this system")
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if display:
        return Finding("Display", State.OK, display)
    return Finding(
        "Display", State.WARN, "none", "The window cannot open here; `ghostcandle run` works in the terminal."
    )


def _libraries() -> Finding:
    """By loading Qt's X11 plugin: the system names what it cannot find."""
    if not sys.platform.startswith("linux"):
        return Finding("System libraries", State.OK, "come with Qt on this system")
    try:
        ctypes.CDLL(str(_platform_plugins()["xcb"]))
    except (ImportError, KeyError, OSError) as error:
        advice = "In a checkout run: make setup (it installs them, or prints the command)"
        return Finding("System libraries", State.WARN, f"not all there ({error})", advice)
    return Finding("System libraries", State.OK, "all that Qt needs for X11")


def _fonts() -> Finding:
    """Asked of fontconfig, as Qt does: a font database of Qt's would need an application object in this process."""
    if not sys.platform.startswith("linux"):
        return Finding("Fonts", State.OK, "those of this system")
    try:
        count = _count_fonts(ctypes.CDLL("libfontconfig.so.1"))
    except OSError as error:
        return Finding("Fonts", State.WARN, f"not known ({error})", "In a checkout run: make setup")
    if count:
        return Finding("Fonts", State.OK, f"{count} installed")
    return Finding("Fonts", State.BAD, "none: the window would show boxes", "Install one, such as DejaVu Sans.")


def _count_fonts(fontconfig: ctypes.CDLL) -> int:
    fontconfig.FcInitLoadConfigAndFonts.restype = ctypes.c_void_p
    fontconfig.FcConfigGetFonts.restype = ctypes.POINTER(ctypes.c_int)  # its first field is the number of fonts
    fontconfig.FcConfigGetFonts.argtypes = [ctypes.c_void_p, ctypes.c_int]
    configuration = fontconfig.FcInitLoadConfigAndFonts()
    fonts = fontconfig.FcConfigGetFonts(configuration, 0) if configuration else None
    return int(fonts[0]) if fonts else 0


def _torch(requested: str) -> Finding:
    """As training asks, in a child process, so that this one does not import torch; the package has no other Python."""
    try:
        facts = _facts_in_process(requested) if getattr(sys, "frozen", False) else _facts_from_child(requested)
    except subprocess.TimeoutExpired:
        advice = "A driver that hangs does this. Restart the computer, or choose --device cpu."
        return Finding("torch", State.BAD, f"no answer for {_TORCH_WITHIN_S:.0f} s", advice)
    except (ImportError, OSError, subprocess.SubprocessError, ValueError) as error:
        return Finding("torch", State.BAD, f"cannot be loaded ({error})", "Run: make setup")
    case, what = case_of(facts), _torch_text(facts)
    if not facts.reason or requested == "cpu":
        return Finding("torch", State.OK, what)
    if requested != "auto":
        choice = "" if facts.usable else " Until then choose --device cpu, or auto."
        return Finding("torch", State.BAD, what, f"{advice_for(case, facts)}{choice}")
    if case.is_fine or not facts.has_gpu:
        return Finding("torch", State.OK, what)
    return Finding("torch", State.WARN, what, advice_for(case, facts))


def _torch_text(facts: CudaFacts) -> str:
    build = f"CUDA {facts.cuda} build" if facts.cuda else f"{facts.other or 'CPU'} build"
    parts = [f"{facts.torch} ({build})", facts.label or facts.reason]
    parts += [f"driver {facts.driver}"] if facts.driver else []
    parts += [f"{gpu.name}{_capability_text(gpu)}" for gpu in facts.gpus]
    if facts.reason and facts.architectures:
        parts.append(f"torch has code for {' '.join(facts.architectures)}")
    return "; ".join(parts)


def _capability_text(gpu: Gpu) -> str:
    return "" if gpu.capability is None else f" (compute capability {gpu.capability[0]}.{gpu.capability[1]})"


def _facts_from_child(requested: str) -> CudaFacts:
    question = (
        f"import sys; sys.path.insert(0, {str(_SOURCE)!r}); from core.training.engine.cuda_facts import print_facts; "
        f"print_facts({requested!r})"
    )
    command = [sys.executable, "-c", question]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TORCH_WITHIN_S, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise ValueError(last[0])
    return facts_from(json.loads(done.stdout))


def _facts_in_process(requested: str) -> CudaFacts:
    from core.training.engine.cuda_facts import cuda_facts  # noqa: PLC0415 - imports torch

    return dataclasses.replace(cuda_facts(requested), is_packaged=True)


def _ccxt() -> Finding:
    try:
        return Finding("ccxt", State.OK, version("ccxt"))
    except PackageNotFoundError:
        return Finding("ccxt", State.BAD, "not installed", "Run: make setup")


def _own_names() -> Finding:
    """Whether Python would find other packages under the names of the program's; see run_ghostcandle.py."""
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != _SOURCE]
    specs = [PathFinder.find_spec(name, elsewhere) for name in _OWN_NAMES]
    places = [spec.origin or next(iter(spec.submodule_search_locations or ())) for spec in specs if spec]
    if not places:
        return Finding("Python path", State.OK, "no other packages with Ghostcandle's names")
    what = f"not used, because a part of Ghostcandle has the same name: {', '.join(places)}"
    return Finding("Python path", State.WARN, what, "Rename what a model of yours imports from there.")


def _data_folder(folder: DataFolder) -> Finding:
    try:
        folder.ensure()
    except StorageError as error:
        return Finding("Data folder", State.BAD, str(folder.root), str(error))
    free = shutil.disk_usage(folder.root).free
    what = f"{folder.root}, {free / 1e9:.1f} GB free"
    if free < _FEWEST_FREE_BYTES:
        return Finding("Data folder", State.WARN, what, "Free some space: checkpoints and candles need room.")
    return Finding("Data folder", State.OK, what)


def _settings(warnings: Sequence[str]) -> Finding:
    if not warnings:
        return Finding("Settings", State.OK, "read without a complaint")
    return Finding("Settings", State.WARN, " ".join(warnings), "Correct settings.json, or choose again in the window.")


def _database(folder: DataFolder) -> Finding:
    try:
        if not folder.database.exists():
            return Finding("Database", State.OK, "none yet: it is made at the first start")
        open_database(folder.database, readonly=True, quick_check=True).close()
    except (OSError, StorageError) as error:
        return Finding("Database", State.BAD, "not usable", str(error))
    return Finding("Database", State.OK, f"whole, {folder.database.stat().st_size / 1e6:.1f} MB")


_STYLES = {State.OK: "green", State.WARN: "yellow", State.BAD: "red"}


@click.command()
@common_options
def doctor(as_json: bool, data_dir: Path | None, seed: int | None, device: str | None, progress_lines: bool) -> None:
    """Check Python, Qt, the display, torch, ccxt, the data folder and the database. Exit code 1 if one is bad.

    --seed and --progress-lines change nothing here.
    """
    findings = collect(data_folder(data_dir), device)  # a folder that cannot be written is a finding like the others
    ok = all(finding.state is not State.BAD for finding in findings)
    if as_json:
        print_json({"ok": ok, "findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        sentences = Column(overflow="fold"), Column(overflow="fold")  # paths are in them
        table = Table(Column(), Column(), *sentences, box=None, pad_edge=False, show_header=False)
        for finding in findings:
            style = _STYLES[finding.state]
            table.add_row(Text(finding.state.value, style=style), finding.name, finding.what, finding.advice)
        Console(markup=False).print(table)
    if not ok:
        raise SystemExit(1)
