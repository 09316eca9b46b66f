"""The thread that trains. Its run() drives every step; where the arithmetic happens is its host's business."""

from __future__ import annotations

import traceback
from contextlib import closing

from PySide6.QtCore import QObject, QThread, Signal

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import TrainerFailed
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import FullDiskError
from core.storage.folder import DataFolder
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.inbox import Inbox
from core.training.hosting.process_host import host_maker
from core.training.online.trainer_spec import SessionSpec
from desktop.ui.translation import translate

_STOP_WITHIN_MS = 45_000


class TrainingWorker(QThread):
    """One run, from start to end. A stopped worker is not started again; make another.

    Signals:
        batch: an EventBatch, all that came of one candle. Queued to the window's thread.
        failed: a TrainerFailed, when the worker itself failed.
    """

    batch = Signal(object)
    failed = Signal(object)

    def __init__(
        self, spec: SessionSpec, clock: Clock, parent: QObject | None = None, shown: Market | None = None
    ) -> None:
        """shown: the market on the chart; None: the first of the spec."""
        super().__init__(parent)
        self.setObjectName("TrainingWorker")
        self._spec = spec
        self._clock = clock
        self._shown = shown or spec.market
        self.inbox = Inbox()
        """Where any thread leaves word for the run."""

    def stop(self) -> bool:
        """End the run, with a last checkpoint, and wait. False where it did not end in time."""
        self.inbox.stop()
        self.quit()
        return self.wait(_STOP_WITHIN_MS)

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            self._drive()
        except Exception as error:
            words = translate("Window", "Training stopped: {0}").format(error)
            needs_room = isinstance(error, FullDiskError)
            self.failed.emit(TrainerFailed(words, traceback.format_exc(), needs_room=needs_room))

    def _drive(self) -> None:
        with closing(open_database(DataFolder(self._spec.root).database)) as db:
            store = CandleStore(db)
            make_host = host_maker(self._spec, self._clock)
            emit, clock = self.batch.emit, self._clock
            inbox, shown = self.inbox, self._shown
            TrainingDriver(self._spec, make_host, store, inbox, emit, clock, shows_first=shown, stays=True).run()
