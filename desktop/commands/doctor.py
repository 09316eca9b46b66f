"""What this machine has, what it lacks, and what to do: the findings of `ghostcandle doctor`."""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder

_PYTHONS = ((3, 11), (3, 14))
_FEWEST_FREE_BYTES = 2 * 1024**3
_QT_LIBRARIES = ("EGL", "GL", "xkbcommon", "xkbcommon-x11", "xcb-cursor", "xcb-icccm", "dbus-1", "fontconfig")
_TORCH_QUESTION = (
    "import json, torch; print(json.dumps({'version': torch.__version__, 'cuda': torch.version.cuda, "
    "'device': torch.cuda.get_device_name(0) if torch.cuda.is_available() else None}))"
)


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


def collect(folder: DataFolder) -> list[Finding]:
    """Look at everything. Takes a few seconds: torch is asked in a process of its own."""
    looks: tuple[Callable[[], Finding], ...] = (
        _python,
        _qt,
        _display,
        _libraries,
        _torch,
        _ccxt,
        lambda: _data_folder(folder),
        lambda: _database(folder),
    )
    return [*_build(), *(look() for look in looks)]


def build_info() -> dict[str, Any] | None:
    """What the packaged program says of itself; None in a checkout."""
    path = Path(sys.executable).parent / "BUILD_INFO.json"
    if not getattr(sys, "frozen", False) or not path.exists():
        return None
    info: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return info


def _build() -> Iterator[Finding]:
    info = build_info()
    if info is not None:
        yield Finding("Package", State.OK, f"Ghostcandle {info['version']}, torch for {info['torch_build']}")


def _python() -> Finding:
    what = f"{platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})"
    if _PYTHONS[0] <= sys.version_info[:2] < _PYTHONS[1]:
        return Finding("Python", State.OK, what)
    return Finding("Python", State.BAD, what, "Use Python 3.11, 3.12 or 3.13: qasync does not run on later ones.")


def _qt() -> Finding:
    try:
        import PySide6  # noqa: PLC0415 - the doctor also runs where it is broken
        from PySide6 import QtWidgets  # noqa: F401, PLC0415
    except ImportError as error:
        return Finding("Qt", State.BAD, f"cannot be loaded ({error})", "Run: make setup")
    found = str(PySide6.__version__)
    if found.startswith("6.9."):
        return Finding("Qt", State.OK, f"PySide6 {found}")
    return Finding("Qt", State.WARN, f"PySide6 {found}", "Use 6.9: later ones leak or abort under pyqtgraph.")


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
    if not sys.platform.startswith("linux"):
        return Finding("System libraries", State.OK, "come with Qt on this system")
    missing = [name for name in _QT_LIBRARIES if ctypes.util.find_library(name) is None]
    if not missing:
        return Finding("System libraries", State.OK, "all that Qt needs")
    what = "missing: " + ", ".join(f"lib{name}" for name in missing)
    return Finding("System libraries", State.WARN, what, "Run: make setup (it installs them, or prints the command)")


def _torch() -> Finding:
    """Asked in a child process: whoever asks stays without torch. The packaged program has no other Python to ask."""
    try:
        told = _asked_here() if getattr(sys, "frozen", False) else _asked_in_a_child()
    except (ImportError, OSError, subprocess.SubprocessError, ValueError) as error:
        return Finding("torch", State.BAD, f"cannot be loaded ({error})", "Run: make setup")
    build = "CPU build" if told["cuda"] is None else f"CUDA {told['cuda']} build"
    device = told["device"] or "no CUDA device"
    what = f"{told['version']} ({build}), {device}"
    has_idle_gpu = told["device"] is None and shutil.which("nvidia-smi") is not None
    if has_idle_gpu:
        return Finding(
            "torch", State.WARN, what, "There is an NVIDIA GPU that torch cannot use; see the README on CUDA."
        )
    return Finding("torch", State.OK, what)


def _asked_in_a_child() -> dict[str, Any]:
    command = [sys.executable, "-c", _TORCH_QUESTION]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _asked_here() -> dict[str, Any]:
    import importlib  # noqa: PLC0415

    torch = importlib.import_module("torch")
    device = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    return {"version": torch.__version__, "cuda": torch.version.cuda, "device": device}


def _ccxt() -> Finding:
    try:
        return Finding("ccxt", State.OK, version("ccxt"))
    except PackageNotFoundError:
        return Finding("ccxt", State.BAD, "not installed", "Run: make setup")


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


def _database(folder: DataFolder) -> Finding:
    if not folder.database.exists():
        return Finding("Database", State.OK, "none yet: it is made at the first start")
    try:
        open_database(folder.database, readonly=True, quick_check=True).close()
    except StorageError as error:
        return Finding("Database", State.BAD, "not usable", str(error))
    return Finding("Database", State.OK, f"whole, {folder.database.stat().st_size / 1e6:.1f} MB")
