"""Evaluates a run's scores while they are shown: on a separate thread, at most every two seconds."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from core.domain.events import ForecastScored
from core.evaluation.findings import Request
from core.evaluation.running import RunningAccuracy
from core.storage.database import open_database
from core.storage.errors import StorageError
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

PAUSE_MS = 2_000
"""Between an answer and the next question, unless something else is asked."""
_ENDS_WITHIN_MS = 10_000
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True)
class _Question:
    run_id: str
    horizons: int
    request: Request
    trade_cost: float
    is_reset: bool
    """Scores that were read have other versions now."""


class AccuracyReader(QThread):
    """Answers questions one after another, on a separate connection; the newest question is the one that counts.

    Signals, queued to the window's thread, one of them for the newest question:
        found: a RunAccuracy. It may come twice: early of the horizon that was asked for, then of all.
        failed: a sentence.
        answered: the question is over.
    """

    found = Signal(object)
    failed = Signal(str)
    answered = Signal()

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("AccuracyReader")
        self._database = database
        self._questions: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._is_ending = False

    def ask(self, question: _Question) -> None:
        """Callable from the window's thread."""
        self._questions.put(question)

    def end(self) -> bool:
        """End soon and wait. False where it took too long."""
        self._is_ending = True
        self._questions.put(None)
        return self.wait(_ENDS_WITHIN_MS)

    def run(self) -> None:
        """PySide loses exceptions of other threads, so none leaves this method."""
        while (question := self._questions.get()) is not None and not self._is_ending:
            question = self._serve(question)
            while question is not None and not self._is_ending:
                question = self._serve(question)
            if self._is_ending:
                return

    def _serve(self, first: _Question) -> _Question | None:
        """Open the run and answer all questions about it; gives the first one about another run."""
        try:
            with closing(open_database(self._database, readonly=True)) as db:
                accuracy = RunningAccuracy(db, first.run_id, first.horizons)
                return self._answer_all(accuracy, first)
        except StorageError as error:
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("The scores could not be read.")
            words = translate("Window", "The scores could not be read ({0}: {1}). See the log for details.")
            self.failed.emit(words.format(type(error).__name__, error))
        self.answered.emit()
        return None

    def _answer_all(self, accuracy: RunningAccuracy, question: _Question) -> _Question | None:
        run = (question.run_id, question.horizons)
        while True:
            self._answer(accuracy, question.request, question.trade_cost)
            self.answered.emit()
            following = self._questions.get()
            if following is None or self._is_ending:
                return None
            if following.is_reset or (following.run_id, following.horizons) != run:
                return following
            question = following

    def _answer(self, accuracy: RunningAccuracy, request: Request, trade_cost: float) -> None:
        is_first = not accuracy.has_read_all
        for horizon in sorted(accuracy.horizons, key=lambda each: each != request.horizon):
            for _ in accuracy.read_more(horizon):
                if self._is_ending:
                    return
                self.msleep(1)  # the window's thread waits for the interpreter's lock no longer than for one piece
            if is_first and horizon == request.horizon:
                self.found.emit(accuracy.find(request, trade_cost))
        self.found.emit(accuracy.find(request, trade_cost))


class AccuracyWatch(QObject):
    """Between the Accuracy dock, the run's state and the reader. Lives in the window's thread."""

    def __init__(
        self,
        state: RunState,
        database: Path,
        horizons: Callable[[], int],
        trade_cost: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        """trade_cost: of the paper score, as a share of a trade's value."""
        super().__init__(parent)
        self._state = state
        self._horizons, self._trade_cost = horizons, trade_cost
        self._reader = AccuracyReader(database, self)
        self._reader.found.connect(state.take_accuracy)
        self._reader.failed.connect(state.accuracy_unknown)
        self._reader.answered.connect(self._on_answered)
        self._wanted: Request | None = None
        self._asked: tuple[str, Request, float] | None = None
        """The last question; None while it needs a new answer."""
        self._is_under_way = False
        self._is_reset = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        state.scored.connect(self._on_scored)
        state.record_changed.connect(self._on_record)

    def want(self, request: Request) -> None:
        """Somebody looks at this now. Said as often as it is looked at."""
        is_other = request != self._wanted
        self._wanted = request
        if is_other or not self._pause.isActive():
            self._ask()

    @Slot()
    def take_costs(self) -> None:
        """A trade may cost something else now."""
        self._ask()

    def close(self) -> None:
        """End the thread and wait."""
        self._pause.stop()
        self._wanted = None
        if self._reader.isRunning() and not self._reader.end():
            _log.error("The thread that reads scores did not end in time.")

    @Slot(object)
    def _on_scored(self, scored: ForecastScored) -> None:
        self._is_reset = self._is_reset or scored.version > 1
        self._asked = None

    @Slot()
    def _on_record(self) -> None:
        self._asked = None

    @Slot()
    def _ask(self) -> None:
        run_id, wanted, trade_cost = self._state.run_id, self._wanted, self._trade_cost()
        if run_id is None or wanted is None or self._is_under_way or self._asked == (run_id, wanted, trade_cost):
            return
        if not self._reader.isRunning():
            self._reader.start(QThread.Priority.LowPriority)
        self._asked, self._is_under_way = (run_id, wanted, trade_cost), True
        self._reader.ask(_Question(run_id, self._horizons(), wanted, trade_cost, self._is_reset))
        self._is_reset = False

    @Slot()
    def _on_answered(self) -> None:
        self._is_under_way = False
        self._pause.start()
        if self._asked is not None and self._asked[1] != self._wanted:
            self._ask()  # something else was chosen meanwhile
