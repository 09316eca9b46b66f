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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import click
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from core.machine.cuda_setup import CudaFacts, Gpu, case_of, facts_from, filled_in
from core.machine.own_commands import own_program
from core.settings import tree as settings_file
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from desktop.commands.options import common_options, data_folder, print_json

_OWN_NAMES = ("core", "desktop", "models", "resources")
_FEWEST_FREE_BYTES = 2 * 1024**3
_TORCH_WITHIN_S = 120.0
_SOURCE = Path(__file__).resolve().parents[2]
_SETUP = "In a checkout, run:\n    make setup"
_CPU_MEANWHILE = "Ghostcandle works now, on the CPU. To use the GPU, do this."
_IF_IN_WINDOWS = "If this computer has an NVIDIA GPU, do this to use it."
_OTHER_DEVICE = "Choose --device cpu, or auto."
_OTHER_DEVICE_MEANWHILE = "Until then, choose --device cpu, or auto."


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    BAD = "bad"


_STYLES = {State.OK: "green", State.WARN: "yellow", State.BAD: "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `advice` is empty if there is nothing to do; its indented lines are commands."""

    name: str
    state: State
    what: str
    advice: str = ""
    details: str = ""
    """Further information for support, such as torch's own reason."""


def collect(folder: DataFolder, device: str | None = None) -> list[Finding]:
    """Run all checks. Takes a few seconds: torch is asked in a separate process. device: the training device; None: the
    settings'."""
    settings, warnings = settings_file.load(folder.settings)
    findings = []
    build_info = Path(sys.executable).parent / "BUILD_INFO.json"
    if getattr(sys, "frozen", False) and build_info.exists():
        info = json.loads(build_info.read_text(encoding="utf-8"))
        what = f"Ghostcandle {info['version']}, torch for {info['torch_build']}"
        findings.append(Finding("Package", State.OK, what))
    return [
        *findings,
        _python(),
        _packages(),
        *_torch(device or settings.training.device),
        _qt(),
        _display(),
        _libraries(),
        _fonts(),
        _ccxt(),
        _own_names(),
        _data_folder(folder),
        _settings(warnings),
        _database(folder),
    ]


def _python() -> Finding:
    what = f"{platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})"
    required = SpecifierSet(metadata("ghostcandle")["Requires-Python"] or "")
    if required.contains(platform.python_version(), prereleases=True):
        return Finding("Python", State.OK, what)
    return Finding("Python", State.BAD, what, f"Python {required} is needed. {_SETUP}")


def _packages() -> Finding:
    """Compares versions by package metadata, which the packaged program lacks."""
    wrong = [] if getattr(sys, "frozen", False) else list(misfits(requires("ghostcandle") or []))
    if wrong:
        return Finding("Packages", State.WARN, "; ".join(wrong), _SETUP)
    return Finding("Packages", State.OK, "as the program needs them")


def misfits(requirements: Iterable[str]) -> Iterator[str]:
    """Packages that are missing or outside their range. Extras, and packages for other Pythons and systems, are not
    checked."""
    for requirement in map(Requirement, requirements):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            yield f"{requirement.name} is not installed"
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            yield f"{requirement.name} is {found}, and {requirement.specifier} is needed"


def _qt() -> Finding:
    try:
        import PySide6  # noqa: PLC0415 - the doctor also runs when it is broken
        from PySide6 import QtWidgets  # noqa: F401, PLC0415
    except ImportError as error:
        return Finding("Qt", State.BAD, f"cannot be loaded ({error})", _SETUP)
    what = f"PySide6 {PySide6.__version__}, platforms: {', '.join(sorted(_platform_plugins())) or 'none'}"
    requested = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    if requested and requested not in _platform_plugins():
        advice = "Unset QT_QPA_PLATFORM, or name one of these."
        return Finding("Qt", State.BAD, f"{what}; QT_QPA_PLATFORM asks for {requested}", advice)
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
    advice = f"The window cannot open here. This does the same job in the terminal:\n    {own_program()} run"
    return Finding("Display", State.WARN, "none", advice)


def _libraries() -> Finding:
    """Loads Qt's X11 plugin: the system names a missing library."""
    if not sys.platform.startswith("linux"):
        return Finding("System libraries", State.OK, "come with Qt on this system")
    try:
        ctypes.CDLL(str(_platform_plugins()["xcb"]))
    except (ImportError, KeyError, OSError) as error:
        advice = "In a checkout, this installs them, or prints the command for it:\n    make setup"
        return Finding("System libraries", State.WARN, "some missing", advice, str(error))
    return Finding("System libraries", State.OK, "all that Qt needs for X11")


def _fonts() -> Finding:
    """Asks fontconfig, as Qt does: Qt's own font database would need an application object in this process."""
    if not sys.platform.startswith("linux"):
        return Finding("Fonts", State.OK, "those of this system")
    try:
        count = _count_fonts(ctypes.CDLL("libfontconfig.so.1"))
    except OSError as error:
        return Finding("Fonts", State.WARN, f"not known ({error})", _SETUP)
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


def _torch(requested: str) -> list[Finding]:
    """Checks torch and the GPU as training does, in a child process, so that this one does not import torch; the
    packaged program has no other Python."""
    try:
        facts = _facts_in_process(requested) if getattr(sys, "frozen", False) else _facts_from_child(requested)
    except subprocess.TimeoutExpired:
        advice = "A driver that hangs does this. Restart the computer, or choose --device cpu."
        return [Finding("torch", State.BAD, f"no answer for {_TORCH_WITHIN_S:.0f} s", advice)]
    except (ImportError, OSError, subprocess.SubprocessError, ValueError) as error:
        return [Finding("torch", State.BAD, f"cannot be loaded ({error})", _SETUP)]
    return [Finding("torch", State.OK, facts.torch), _gpu(facts, requested)]


def _gpu(facts: CudaFacts, requested: str) -> Finding:
    case, details = case_of(facts), _details(facts)
    if not facts.reason:
        gpus = [_gpu_text(gpu) for gpu in facts.gpus if facts.label.endswith(gpu.name)]
        parts = [gpus[0] if gpus else facts.label, *([f"driver {facts.driver}"] if facts.driver else [])]
        return Finding("GPU", State.OK, "; ".join(parts), details=details)
    problem, advice = filled_in(case.problem, facts), filled_in(case.advice, facts)
    if requested == "auto" and facts.is_wsl and not facts.has_gpu:  # without a driver, nothing there lists a GPU
        return Finding("GPU", State.OK, f"{problem}; training runs on the CPU", f"{_IF_IN_WINDOWS}\n{advice}", details)
    if requested == "cpu" or (requested == "auto" and (case.is_fine or not facts.has_gpu)):
        return Finding("GPU", State.OK, f"{problem}; training runs on the CPU", details=details)
    if requested == "auto":
        return Finding("GPU", State.WARN, problem, f"{_CPU_MEANWHILE}\n{advice}", details)
    if case.is_fine:
        advice = _OTHER_DEVICE
    elif not facts.usable:
        advice += f"\n{_OTHER_DEVICE_MEANWHILE}"
    return Finding("GPU", State.BAD, problem, advice, details)


def _details(facts: CudaFacts) -> str:
    build = f"CUDA {facts.cuda} build" if facts.cuda else f"{facts.other or 'CPU'} build"
    parts = [f"torch {facts.torch} ({build})"]
    parts += [f"driver {facts.driver}"] if facts.driver else []
    parts += [_gpu_text(gpu) for gpu in facts.gpus]
    parts += [facts.reason] if facts.reason else []
    if facts.architectures and facts.reason and "driver" not in facts.reason:
        parts.append(f"torch has code for {' '.join(facts.architectures)}")
    return "; ".join(parts)


def _gpu_text(gpu: Gpu) -> str:
    capability = gpu.capability and ".".join(map(str, gpu.capability))
    return f"{gpu.name} (compute capability {capability})" if capability else gpu.name


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
        return Finding("ccxt", State.BAD, "not installed", _SETUP)


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
        _print_findings(findings)
    if not ok:
        raise SystemExit(1)


def _print_findings(findings: Sequence[Finding]) -> None:
    """A table, and below it the advice, the worst first, in which a command is one line at any width, so that it can be
    copied."""
    console = Console(markup=False, highlight=False)
    table = Table(Column(), Column(), Column(overflow="fold"), box=None, pad_edge=False, show_header=False)  # paths
    for finding in findings:
        table.add_row(Text(finding.state.value, style=_STYLES[finding.state]), finding.name, finding.what)
    console.print(table)
    for finding in sorted(findings, key=lambda finding: list(State).index(finding.state), reverse=True):
        if finding.advice:
            console.print(f"\n{finding.name}: {finding.what}", style=_STYLES[finding.state])
            for line in finding.advice.splitlines():
                console.print(line, soft_wrap=line.startswith(" "))
            if finding.details:
                console.print(f"\nFor support: {finding.details}", style="dim")
