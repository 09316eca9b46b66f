"""Crash output of the trainer's process: its stderr in a file, with the stack of the crash.

The C library writes "double free or corruption" to file descriptor 2 and aborts; Python's faulthandler writes the
stack there. Both go to one file in the data folder, so that they are kept without a console too. So does what C code
of a model writes to descriptor 1, where the parent's JSON goes.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import signal
import sys
from pathlib import Path

FILE_NAME = "trainer-stderr.log"
_STDOUT, _STDERR = 1, 2
_LARGEST_BYTES = 1_000_000
_KEPT_BYTES = 64_000
_READ_BYTES = 32_000
_LINES_SHOWN = 80
_LINE_LENGTH = 200
"""faulthandler's list of extension modules alone is several thousand characters long."""


class StderrFile:
    """The child's side: redirects its stdout and stderr to the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_captured = False

    def capture(self) -> None:
        """Redirect descriptors 1 and 2 of this process. If the folder cannot be written, only the file is missing."""
        os.environ["LIBC_FATAL_STDERR_"] = "1"  # glibc before 2.34 writes to the terminal otherwise
        try:
            self._redirect()
        except OSError as error:
            logging.getLogger("ghostcandle.training").warning("stderr is not saved: %s", error)
            return
        self._is_captured = True
        if sys.stderr is None:  # a frozen program without a console
            sys.stderr = open(  # noqa: SIM115 - as long as the process
                _STDERR, "w", buffering=1, closefd=False, errors="backslashreplace"
            )
        faulthandler.enable(file=_STDERR)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGTERM, file=_STDERR, chain=False)  # writes where it hung; SIGKILL ends it

    def limit_size(self) -> None:
        """Truncate the file if it is too large. Cheap enough to call with each answer."""
        if self._is_captured and os.fstat(_STDERR).st_size > _LARGEST_BYTES:
            os.ftruncate(_STDERR, 0)

    def _redirect(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for target in (_STDOUT, _STDERR):
            if descriptor != target:
                os.dup2(descriptor, target)
        if descriptor not in (_STDOUT, _STDERR):
            os.close(descriptor)


class StderrTail:
    """The parent's side: the text written to the file since `mark`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._from = 0

    def mark(self) -> None:
        """Exclude earlier contents, which are not from this child. Of a large file only the end is retained."""
        if _size(self._path) > _KEPT_BYTES:
            with contextlib.suppress(OSError):
                self._path.write_bytes(self._path.read_bytes()[-_KEPT_BYTES // 2 :])
        self._from = _size(self._path)

    def read(self) -> str:
        """The last lines since the mark; empty if there are none."""
        size = _size(self._path)
        start = self._from if self._from <= size else 0
        try:
            with self._path.open("rb") as file:
                file.seek(max(start, size - _READ_BYTES))
                text = file.read(_READ_BYTES).decode(errors="replace")
        except OSError:
            return ""
        return "\n".join(line[:_LINE_LENGTH] for line in text.strip().splitlines()[-_LINES_SHOWN:])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
