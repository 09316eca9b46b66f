"""Opens the database at the start of a window, on a separate thread: checking a large one takes seconds."""

from __future__ import annotations

import logging
import threading
from functools import partial

from PySide6.QtCore import QObject, QThread, Signal

from core.domain.candle import Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock
from core.domain.events import JobProgress
from core.storage.folder import DataFolder
from desktop.services.candle_loader import SHOWN_AT_FIRST
from desktop.ui.translation import translate

CHECK_JOB = "database check"
CONVERSION_JOB = "database conversion"
_REPORT_EVERY_S = 0.2
_log = logging.getLogger("ghostcandle")


class DatabaseOpener(QThread):
    """Checks the database, recovers a damaged one and brings an older one up to date; it is closed again then.

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
        """market: whose candles are previewed."""
        super().__init__(parent)
        self.setObjectName("DatabaseOpener")
        self._folder, self._clock, self._market = folder, clock, market
        self._titles = {
            CHECK_JOB: translate("Window", "Checking the database"),
            CONVERSION_JOB: translate("Window", "Bringing the database up to date"),
        }
        self._reported_s: dict[str, float] = {}
        self._is_given_up = threading.Event()

    def skip(self) -> None:
        """Skip the rest of the check: the next start runs it. Callable from the window's thread."""
        self.requestInterruption()

    def give_up_conversion(self) -> None:
        """Leave an older database unchanged: it cannot be used then. Callable from the window's thread."""
        self._is_given_up.set()

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        from core.storage.database import Watch  # noqa: PLC0415 - after the first paint
        from core.storage.errors import StorageError  # noqa: PLC0415 - after the first paint
        from core.storage.recovering import open_or_recover  # noqa: PLC0415 - after the first paint

        self._preview()
        try:
            check = Watch(partial(self._report, CHECK_JOB), self.isInterruptionRequested)
            conversion = Watch(partial(self._report, CONVERSION_JOB), self._is_given_up.is_set)
            opened = open_or_recover(self._folder, clock=self._clock, watch=check, conversion=conversion)
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

    def _report(self, job_id: str, done: int, total: int) -> None:
        now_s = self._clock.monotonic_s()
        if job_id == CONVERSION_JOB:
            self._report_end_of(CHECK_JOB, is_done=True)
        if job_id not in self._reported_s or now_s - self._reported_s[job_id] >= _REPORT_EVERY_S:
            self._reported_s[job_id] = now_s
            # The rows that were read must still be checked, or written: reading all of them is not the end.
            self.progressed.emit(JobProgress(job_id, self._titles[job_id], done, total + total // 4))

    def _report_end(self, *, is_done: bool) -> None:
        for job_id in self._titles:
            self._report_end_of(job_id, is_done=is_done)

    def _report_end_of(self, job_id: str, *, is_done: bool) -> None:
        if self._reported_s.pop(job_id, None) is not None:
            self.progressed.emit(JobProgress(job_id, self._titles[job_id], int(is_done), 1, is_over=True))
