"""Crash reports, shown at the next start.

Python's faulthandler writes the stack of a crash into a file of the data folder; how the last owner left the folder is
known from its lock (`core.storage.ownership`). Together with the last lines of the log they make a report that a person
can read and pass on.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import platform
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import TextIO

from core.domain.clock import Clock
from core.domain.dates import utc_text
from core.files.private import make_private
from core.logs.writing import WINDOW_FILE
from core.storage.folder import DataFolder
from core.storage.ownership import FolderOwner

_STACK_FILE = "window-stack.txt"
_LOG_LINES = 80
_LONGEST_LINE = 400
_REPORTS_KEPT = 20
_READ_BYTES = 64_000
_PACKAGES = ("ghostcandle", "PySide6-Essentials", "pyqtgraph", "numpy", "torch", "ccxt")
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True)
class CrashReport:
    """How a process ended. text: the whole report; path: its file, None if it could not be written."""

    at_ms: int
    text: str
    path: Path | None


class CrashLog:
    """The crash log of one process. Call `begin` once the folder is owned, `end` before a regular exit."""

    def __init__(self, folder: DataFolder, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._stack: TextIO | None = None

    def begin(self, left_behind: FolderOwner | None) -> CrashReport | None:
        """Write stacks to the file from now on. Returns the report on the previous owner if it did not exit
        regularly."""
        path = self._folder.logs / _STACK_FILE
        report = None if left_behind is None else self._of_last_owner(left_behind, path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stack = path.open("w", encoding="utf-8")
            make_private(path)
        except OSError as error:
            _log.warning("stacks of a crash are not kept: %s", error)
            return report
        faulthandler.enable(file=self._stack)
        return report

    def end(self) -> None:
        """Stop writing stacks to the file; later crashes go to stderr, if there is one."""
        if self._stack is None:
            return
        faulthandler.disable()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            faulthandler.enable()
        self._stack.close()
        self._stack = None

    def of_error(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> CrashReport:
        """A report on an uncaught exception, after which the process continues."""
        stack = "".join(traceback.format_exception(kind, error, trace))
        return self._write_report(("An error in the window. It kept running.", _versions(), stack, self._last_lines()))

    def _of_last_owner(self, left: FolderOwner, path: Path) -> CrashReport:
        began = utc_text(left.since_ms, "%Y-%m-%dT%H:%M:%S+00:00")
        what = f"The {left.role} that was started at {began} (process {left.pid}) ended unexpectedly."
        stack = _tail(path)
        how = f"It crashed:\n{stack}" if stack else "There is no stack trace: it was killed, or the computer shut down."
        return self._write_report((what, _versions(), how, self._last_lines()))

    def _write_report(self, parts: Sequence[str]) -> CrashReport:
        at_ms = self._clock.now_ms()
        text = "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
        name = f"{utc_text(at_ms, '%Y-%m-%d_%H-%M-%S')}-{at_ms % 1000:03d}"
        path = self._folder.crashes / f"{name}.txt"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            make_private(path)
            # By length first: a year may have five digits.
            for old in sorted(path.parent.glob("*.txt"), key=lambda file: (len(file.name), file.name))[:-_REPORTS_KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the report could not be written: %s", error)
            return CrashReport(at_ms, text, None)
        return CrashReport(at_ms, text, path)

    def _last_lines(self) -> str:
        lines = _tail(self._folder.logs / WINDOW_FILE).splitlines()[-_LOG_LINES:]
        return "The last lines of the log:\n" + "\n".join(line[:_LONGEST_LINE] for line in lines) if lines else ""


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _READ_BYTES))
            return file.read().decode("utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return ""


def _versions() -> str:
    parts = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return f"{parts}\nPython {platform.python_version()} on {platform.platform()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
