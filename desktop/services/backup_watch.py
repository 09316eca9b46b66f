"""Backs up the database while the window is open: on a separate thread, when a backup is due."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from core.domain.clock import Clock
from core.domain.events import JobProgress
from core.settings.record import BackupSettings
from core.storage.folder import DataFolder
from desktop.ui.translation import translate

FIRST_LOOK_MS = 120_000
"""Delay after the start, in which the window and the trainer have the disk for themselves."""
LOOK_EVERY_MS = 60_000
_AFTER_A_FAILURE_MS = 3_600_000
_ENDS_WITHIN_MS = 10_000
_REPORT_INTERVAL_S = 0.2
_JOB_ID = "backup"
_log = logging.getLogger("ghostcandle")


class BackupMaker(QThread):
    """Makes one backup. Signals, queued to the window's thread:

    progressed: JobProgress. made: Backup. failed: a sentence; nothing was changed then.
    """

    progressed = Signal(object)
    made = Signal(object)
    failed = Signal(str)

    def __init__(self, folder: DataFolder, keep: int, clock: Clock, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("BackupMaker")
        self._folder, self._keep, self._clock = folder, keep, clock
        self._title = translate("Window", "Backing up the database")
        self._reported_s = 0.0

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        from core.storage.backups import BackupCancelled, make_backup  # noqa: PLC0415 - long after the first paint
        from core.storage.errors import StorageError  # noqa: PLC0415

        is_made = False
        try:
            backup = make_backup(
                self._folder,
                self._clock,
                self._keep,
                is_cancelled=self.isInterruptionRequested,
                on_progress=self._report_progress,
            )
            is_made = True
            self.made.emit(backup)
        except BackupCancelled:
            _log.info("A backup was given up, for the window is being closed.")
        except StorageError as error:
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("The database could not be backed up.")
            words = translate("Window", "No backup was made ({0}: {1}). See the log for details.")
            self.failed.emit(words.format(type(error).__name__, error))
        self.progressed.emit(JobProgress(_JOB_ID, self._title, 0, 0 if is_made else 1, is_over=True))

    def _report_progress(self, done: int, total: int) -> None:
        now_s = self._clock.monotonic_s()
        if now_s - self._reported_s >= _REPORT_INTERVAL_S:
            self._reported_s = now_s
            self.progressed.emit(
                JobProgress(_JOB_ID, self._title, done, total + 1)
            )  # copied pages are not verified yet


class BackupWatch(QObject):
    """Looks from `start` to `close` whether a backup is due, and makes one when asked. Lives in the window's thread."""

    progressed = Signal(object)
    """JobProgress"""
    failed = Signal(str)
    """Why no backup was made."""
    made = Signal(object, bool)
    """Backup, and whether it was requested; the last `failed` no longer holds."""

    def __init__(
        self, folder: DataFolder, settings: Callable[[], BackupSettings], clock: Clock, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._folder, self._settings, self._clock = folder, settings, clock
        self._maker: BackupMaker | None = None
        self._has_failed = self._is_asked = self._is_closed = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    def start(self, first_look_ms: int = FIRST_LOOK_MS) -> None:
        """Begin; the database is open."""
        self._timer.start(first_look_ms)

    def close(self) -> bool:
        """Cancel a backup in progress, and wait for its end. False if that took too long."""
        self._is_closed = True
        self._timer.stop()
        if self._maker is None:
            return True
        self._maker.requestInterruption()
        return self._maker.wait(_ENDS_WITHIN_MS)

    @Slot()
    def look(self) -> None:
        """Make a backup if one is due; look again later."""
        from core.storage.backups import is_due  # noqa: PLC0415 - long after the first paint

        if self._maker is not None:
            return  # it was asked for; its end sets the next look
        if is_due(self._folder, self._settings().every_hours, self._clock.now_ms()):
            self._make()
        else:
            self._timer.start(LOOK_EVERY_MS)

    @Slot()
    def make_now(self) -> None:
        """Make a backup now, whether it is due or not. If one is in progress, that one counts."""
        self._is_asked = True
        if self._maker is None:
            self._make()

    def _make(self) -> None:
        self._has_failed = False
        self._maker = BackupMaker(self._folder, self._settings().keep, self._clock, self)
        self._maker.progressed.connect(self.progressed)
        self._maker.made.connect(self._on_made)
        self._maker.failed.connect(self._on_failed)
        self._maker.finished.connect(self._on_finished)
        self._maker.start(QThread.Priority.LowPriority)

    @Slot(object)
    def _on_made(self, backup: object) -> None:
        self.made.emit(backup, self._is_asked)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        _log.warning("%s", sentence)
        self._has_failed = True
        self.failed.emit(sentence)

    @Slot()
    def _on_finished(self) -> None:
        maker, self._maker = self._maker, None
        if maker is None or self._is_closed:
            return
        maker.deleteLater()
        self._is_asked = False
        self._timer.start(_AFTER_A_FAILURE_MS if self._has_failed else LOOK_EVERY_MS)
