"""Opens the database at the start of a window, on a separate thread: checking a large one takes seconds."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, QThread, Signal

from core.domain.candle import Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock
from core.domain.events import JobProgress
from core.storage.folder import DataFolder
from desktop.services.candle_loader import SHOWN_AT_FIRST
from desktop.ui.translation import translate

CHECK_JOB = "database check"
_REPORT_EVERY_S = 0.2
_log = logging.getLogger("ghostcandle")


class DatabaseOpener(QThread):
    """Checks the database and recovers a damaged one; it is closed again then.

    There may be no other connection meanwhile. Signals, queued to the window's thread, one of the last two at the end:

    previewed: Market and CandleSeries, the newest stored candles before the check; only of a large database that was
    closed by its last owner. progressed: JobProgress. opened: the sentence for the user, or None. failed: a sentence;
    the database cannot be used.
    """

    previewed = Signal(object, object)
    progressed = Signal(object)
    opened = Signal(object)
    failed = Signal(str)

    def __init__(
        self, folder: DataFolder, clock: Clock, parent: QObject | None = None, market: Market | None = None
    ) -> None:
        """market: its candles are previewed."""
        super().__init__(parent)
        self.setObjectName("DatabaseOpener")
        self._folder, self._clock, self._market = folder, clock, market
        self._title = translate("Window", "Checking the database")
        self._reported_s: float | None = None

    def skip(self) -> None:
        """Skip the rest of the check: the next start runs it. Callable from the window's thread."""
        self.requestInterruption()

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        from core.storage.database import Watch  # noqa: PLC0415 - after the first paint
        from core.storage.errors import StorageError  # noqa: PLC0415 - after the first paint
        from core.storage.recovering import open_or_recover  # noqa: PLC0415 - after the first paint

        self._preview()
        try:
            check = Watch(self._report, self.isInterruptionRequested)
            opened = open_or_recover(self._folder, clock=self._clock, watch=check)
            opened.db.close()
            self._report_end(is_done=True)
            self.opened.emit(opened.notice)
        except StorageError as error:
            self._report_end(is_done=False)
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("The database could not be opened.")
            words = translate("Window", "The database could not be opened ({0}: {1}). See the log for details.")
            self._report_end(is_done=False)
            self.failed.emit(words.format(type(error).__name__, error))

    def _preview(self) -> None:
        """Errors in the file are reported by the check."""
        from core.storage.recovering import newest_unchecked  # noqa: PLC0415 - after the first paint

        if self._market is None:
            return
        try:
            stored = newest_unchecked(self._folder, self._market, SHOWN_AT_FIRST)
            if stored is not None:
                interval = self._market.interval
                series = CandleSeries.from_columns(interval, stored.open_time_ms, stored.values)
                self.previewed.emit(self._market, series)
        except Exception as error:
            _log.info("No candles are shown before the database is checked: %s", error)

    def _report(self, done: int, total: int) -> None:
        now_s = self._clock.monotonic_s()
        if self._reported_s is None or now_s - self._reported_s >= _REPORT_EVERY_S:
            self._reported_s = now_s
            # The rows that were read must still be checked: reading all of them is not the end.
            self.progressed.emit(JobProgress(CHECK_JOB, self._title, done, total + total // 4))

    def _report_end(self, *, is_done: bool) -> None:
        if self._reported_s is not None:
            self.progressed.emit(JobProgress(CHECK_JOB, self._title, int(is_done), 1, is_over=True))
