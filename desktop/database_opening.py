"""Opens the database at the start of a window, on a thread of its own: checking a large one takes seconds."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, QThread, Signal

from core.clock import Clock
from core.events import JobProgress
from core.storage.folder import DataFolder
from desktop.translation import translate

CHECK_JOB = "database check"
_TELL_EVERY_S = 0.2
_log = logging.getLogger("ghostcandle")


class DatabaseOpener(QThread):
    """Checks the database, recovers a damaged one and brings an older one up to date; it is closed again then.

    Nobody else may have a connection meanwhile. Signals, queued to the window's thread, one of the last two at the end:

    progressed: JobProgress. opened: the sentence for the user, or None. failed: a sentence; there is no way to go on.
    """

    progressed = Signal(object)
    opened = Signal(object)
    failed = Signal(str)

    def __init__(self, folder: DataFolder, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DatabaseOpener")
        self._folder, self._clock = folder, clock
        self._title = translate("Window", "Checking the database")
        self._told_s: float | None = None

    def skip(self) -> None:
        """Leave out what is left of the check: the next start does it. Callable from the window's thread."""
        self.requestInterruption()

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        from core.storage.errors import StorageError  # noqa: PLC0415 - after the first paint
        from core.storage.recovering import CheckWatch, open_or_recover  # noqa: PLC0415 - after the first paint

        try:
            watch = CheckWatch(self._tell, self.isInterruptionRequested)
            opened = open_or_recover(self._folder, clock=self._clock, watch=watch)
            opened.db.close()
            self._tell_end()
            self.opened.emit(opened.notice)
        except StorageError as error:
            self._tell_end()
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("The database could not be opened.")
            words = translate("Window", "The database could not be opened ({0}: {1}). The log says more.")
            self._tell_end()
            self.failed.emit(words.format(type(error).__name__, error))

    def _tell(self, done: int, total: int) -> None:
        now_s = self._clock.monotonic_s()
        if self._told_s is None or now_s - self._told_s >= _TELL_EVERY_S:
            self._told_s = now_s
            # What was read has to be looked at yet: it is not over when all is read.
            self.progressed.emit(JobProgress(CHECK_JOB, self._title, done, total + total // 4))

    def _tell_end(self) -> None:
        if self._told_s is not None:
            self.progressed.emit(JobProgress(CHECK_JOB, self._title, 1, 1, is_over=True))
