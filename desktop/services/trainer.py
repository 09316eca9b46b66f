"""The trainer of the watched model, from the window's side: the thread that trains, and its one owner."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterable
from contextlib import closing

from PySide6.QtCore import QObject, QThread, Signal, Slot

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import EventBatch, TrainerFailed
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import PassingError, StorageError
from core.storage.folder import DataFolder
from core.training.commands import TrainerCommand
from core.training.hosting.inbox import Inbox
from core.training.online.trainer_spec import SessionSpec
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_STOP_WITHIN_MS = 120_000
"""The driver needs up to 45 s to end an unresponsive trainer, and then stores that. Qt aborts the whole program if a
running thread is deleted."""
_log = logging.getLogger("ghostcandle")


class TrainingWorker(QThread):
    """The thread that trains: one run, from start to end. Its run() drives every step; its host chooses the place of
    the computation. A stopped worker is not started again; make another."""

    batch = Signal(object)
    """EventBatch: all events of one candle, or the failure of the worker itself. Queued to the window's thread."""

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
        """Thread-safe inbox of the current run."""

    def stop(self) -> bool:
        """End the run, with a last checkpoint, and wait. False if it did not end in time."""
        self.inbox.stop()
        self.quit()
        return self.wait(_STOP_WITHIN_MS)

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            self._drive()
        except Exception as error:
            words = translate("Window", "Training stopped: {0}").format(error)
            passing = error.fault if isinstance(error, PassingError) else None
            failure = TrainerFailed(words, traceback.format_exc(), passing=passing)
            _log.error("%s\n%s", failure.sentence, failure.details)
            self.batch.emit(EventBatch((failure,)))

    def _drive(self) -> None:
        from core.training.hosting.driver import TrainingDriver  # noqa: PLC0415 - after the first paint
        from core.training.hosting.process_host import host_maker  # noqa: PLC0415

        with closing(open_database(DataFolder(self._spec.root).database, creates=False)) as db:
            store = CandleStore(db)
            make_host = host_maker(self._spec, self._clock)
            emit, clock = self.batch.emit, self._clock
            inbox, shown = self.inbox, self._shown
            TrainingDriver(self._spec, make_host, store, inbox, emit, clock, shows_first=shown, stays=True).run()


class Trainer(QObject):
    """Owns the worker, of which at most one runs at a time, and puts messages into its inbox. Lives in the window's
    thread."""

    begins = Signal(object)
    """A trainer is started. Run: the stored run that it continues, or None."""
    over = Signal()
    """The trainer's thread has ended, in whatever way."""

    def __init__(self, database: WindowDatabase, state: RunState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database, self._state = database, state
        self.worker: TrainingWorker | None = None
        self._ending: TrainingWorker | None = None
        """The worker that `end` waits for."""

    @property
    def is_running(self) -> bool:
        return self.worker is not None and self.worker.isRunning()

    @property
    def is_stopping(self) -> bool:
        """Whether the worker was asked to end."""
        return self.worker is not None and self.worker.inbox.is_stopped

    def start(self, spec: SessionSpec, shown: Market, caught_up: Iterable[Market], ended: Iterable[Market]) -> None:
        """shown: the market on the chart. caught_up, ended: the markets whose feeds have already caught up or ended."""
        worker = TrainingWorker(spec, self._state.clock, self, shown)
        worker.batch.connect(self._state.apply)
        worker.finished.connect(lambda: self._on_finished(worker))
        self.worker = worker
        for market in caught_up:
            worker.inbox.caught_up(market)
        for market in ended:
            worker.inbox.feed_ended(market)
        try:
            run = None if spec.new_run else self._database.runs.find(spec.market, spec.fingerprint, spec.others)
        except StorageError:
            run = None  # the trainer will meet it too, and say so
        self.begins.emit(run)
        worker.start()

    @property
    def inbox(self) -> Inbox:
        """The worker's inbox. Messages to a trainer that is not running are dropped."""
        return Inbox() if self.worker is None else self.worker.inbox

    @Slot(object)
    def send(self, command: TrainerCommand) -> None:
        self.inbox.send(command)

    def stop(self) -> None:
        """Ask the worker to end with a last checkpoint. Does not wait."""
        if self.worker is not None:
            self.worker.inbox.stop()

    def stop_and_wait(self) -> None:
        """End it with a last checkpoint when no event loop will run any more."""
        for worker in (self.worker, self._ending):
            if worker is not None and not worker.stop():
                _log.error("The training thread did not end in time.")

    async def end(self) -> None:
        """Ask it to stop and wait, on a separate thread: the window keeps painting."""
        worker, self.worker = self.worker, None
        if worker is None:
            return
        self._ending = worker
        if not await asyncio.to_thread(worker.stop):
            _log.error("The training thread did not end in time.")
            return
        self._ending = None
        worker.deleteLater()

    def _on_finished(self, worker: TrainingWorker) -> None:
        if self.worker in (worker, None):  # else the next one was started meanwhile
            self.over.emit()
