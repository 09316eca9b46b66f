"""A candle file that is read on another thread: how far it is, and how to end it."""

from __future__ import annotations

import threading
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.domain.events import JobProgress
from core.market.history.errors import ReadingCancelledError
from desktop.ui.translation import translate

READING_JOB = "reading a file"
_PERCENT = 100


class FileReading(QObject):
    """Of one file. Lives in the window's thread; `watch` is called on the thread that reads."""

    progressed = Signal(object)
    """JobProgress, in percent of the file; the last one is over."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._is_cancelled = threading.Event()
        self._progress = JobProgress(READING_JOB, translate("Window", "Reading {0}").format(name), 0, _PERCENT)

    def cancel(self) -> None:
        """End it at the next part of the file. Callable from any thread."""
        self._is_cancelled.set()

    def watch(self, done: int, total: int) -> None:
        """As `read_candle_table` wants it, in bytes. Raises ReadingCancelledError."""
        if self._is_cancelled.is_set():
            raise ReadingCancelledError(translate("Window", "Reading {0} was cancelled.").format(self._name))
        percent = min(_PERCENT - 1, _PERCENT * done // max(total, 1))
        self.progressed.emit(replace(self._progress, done=percent))

    def end(self) -> None:
        """Whatever came of it. In the window's thread."""
        self.progressed.emit(replace(self._progress, done=_PERCENT, is_over=True))
        self.deleteLater()
