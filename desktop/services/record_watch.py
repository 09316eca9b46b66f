"""Reads a run's record while a panel shows results from it: on a separate thread, at most every two seconds."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from core.domain.events import ForecastScored
from core.evaluation.findings import Request, RunAccuracy
from core.evaluation.leaderboard import ExpertRecord, leaderboard
from core.evaluation.running import RunningAccuracy
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.runs import RunStore
from desktop.state.leaderboard import FoundLeaderboard, LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from sqlite_utils import Database


PAUSE_MS = 2_000
"""Pause between an answer and the next question, unless the request changes."""
_ENDS_WITHIN_MS = 10_000
_log = logging.getLogger("ghostcandle")


class Answers(Protocol):
    """Caches the data of one subject, a run or several, for the next question about it."""

    def answer(self, request: Any) -> Iterator[object | None]:
        """Work in pieces: None after each, and every result that is to be shown. Raises StorageError."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its subject."""

    subject: Hashable
    request: Hashable
    is_reset: bool
    """Some scores already read have new versions."""


class RecordThread(QThread):
    """Answers questions one after another, on a separate connection; the newest question is the one that counts.

    Signals, queued to the window's thread, one of them for the newest question:
        found: a result. There may be several, of which the last is complete.
        failed: a sentence.
        answered: the question is over.
    """

    found = Signal(object)
    failed = Signal(str)
    answered = Signal()

    def __init__(
        self, name: str, database: Path, open_subject: Callable[[Database, Any], Answers], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._database, self._open_subject = database, open_subject
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._is_ending = self._is_interrupted = False

    def ask(self, question: Question) -> None:
        """Callable from the window's thread."""
        self._is_interrupted = False
        self._questions.put(question)

    def interrupt(self) -> None:
        """Abandon the current question after its current piece."""
        self._is_interrupted = True

    def end(self) -> bool:
        """End soon and wait. False if it took too long."""
        self._is_ending = True
        self._questions.put(None)
        return self.wait(_ENDS_WITHIN_MS)

    def run(self) -> None:
        """PySide loses exceptions of other threads, so none leaves this method."""
        question = self._questions.get()
        while question is not None and not self._is_ending:
            question = self._serve(question)

    def _serve(self, question: Question) -> Question | None:
        """Open the subject and answer all questions about it; returns the first one about another subject."""
        subject = question.subject
        try:
            with closing(open_database(self._database, readonly=True)) as db:
                answers = self._open_subject(db, subject)
                while True:
                    self._answer(answers, question.request)
                    self.answered.emit()
                    following = self._questions.get()
                    if following is None or self._is_ending or following.is_reset or following.subject != subject:
                        return following
                    question = following
        except StorageError as error:
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("The record could not be read.")
            words = translate("Window", "The record could not be read ({0}: {1}). See the log for details.")
            self.failed.emit(words.format(type(error).__name__, error))
        self.answered.emit()
        return self._questions.get()

    def _answer(self, answers: Answers, request: Hashable) -> None:
        for found in answers.answer(request):
            if self._is_ending or self._is_interrupted:
                return
            if found is None:
                self.msleep(1)  # the window's thread waits for the interpreter's lock no longer than for one piece
            else:
                self.found.emit(found)


class RecordWatch(QObject):
    """Connects a dock, the run's state and the reading thread. Lives in the window's thread."""

    def __init__(self, state: RunState, thread: RecordThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._reader = state, thread
        thread.setParent(self)
        thread.answered.connect(self._on_answered)
        self._wanted: Hashable | None = None
        self._asked: tuple[Hashable, Hashable] | None = None
        """Subject and request of the last question; None while it needs a new answer."""
        self._under_way: tuple[Hashable, Hashable] | None = None
        """Subject and request of the unanswered question."""
        self._is_outdated = False
        """Whether the request has changed since."""
        self._is_reset = False
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        state.scored.connect(self._on_scored)
        state.record_changed.connect(self._on_record)

    def subject(self) -> Hashable | None:
        """The subject of the questions; None: ask nothing."""
        raise NotImplementedError

    def want(self, request: Hashable) -> None:
        """Request an answer, which is looked at now. Called at each refresh of the dock."""
        is_other = request != self._wanted
        self._wanted = request
        if is_other or not self._pause.isActive():
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
        subject, wanted = self.subject(), self._wanted
        if subject is None or wanted is None:
            return
        asked = (subject, wanted)
        if self._under_way is not None:
            if asked != self._under_way:
                self._is_outdated = True
                self._reader.interrupt()
            return
        if asked == self._asked:
            return
        if not self._reader.isRunning():
            self._reader.start(QThread.Priority.LowPriority)
        self._asked = self._under_way = asked
        self._reader.ask(Question(*asked, self._is_reset))
        self._is_reset = False

    @Slot()
    def _on_answered(self) -> None:
        self._under_way = None
        if self._wanted is None:
            return  # closed meanwhile
        self._pause.start()
        if self._is_outdated:
            self._asked, self._is_outdated = None, False
            self._ask()


class _Scores:
    """Reads the scores of one run, all horizons. A request names the visible part."""

    def __init__(self, db: Database, subject: tuple[str, int]) -> None:
        """subject: run id and horizons."""
        self._accuracy = RunningAccuracy(db, *subject)

    def answer(self, shown: Request) -> Iterator[RunAccuracy | None]:
        """May yield several results: first the requested horizon, then all, and again with the chances of prices, and
        with what insides are worth."""
        accuracy = self._accuracy
        is_first = not accuracy.has_read_all
        for horizon in sorted(accuracy.horizons, key=lambda each: each != shown.horizon):
            for _ in accuracy.read_more(horizon):
                yield None
            if is_first and horizon == shown.horizon:
                yield accuracy.find(shown)
        found = accuracy.find(shown)
        if shown.wants_touches:
            yield replace(found, touched=accuracy.touches.find(shown.horizon))
            for _ in accuracy.touches.read_more():
                yield None
            found = replace(found, touched=accuracy.touches.find(shown.horizon))
        yield found
        for _ in accuracy.insides.read_more():
            yield None
        if (inside := accuracy.insides.find()) != found.inside:
            yield replace(found, inside=inside)


class AccuracyWatch(RecordWatch):
    """Answers a `Request`."""

    def __init__(self, state: RunState, database: Path, settings: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(state, RecordThread("AccuracyReader", database, _Scores), parent)
        self._settings = settings
        self._reader.found.connect(state.set_accuracy)
        self._reader.failed.connect(state.set_accuracy_trouble)

    def subject(self) -> Hashable | None:
        run_id = self._state.run_id
        return None if run_id is None else (run_id, self._settings.current.model.horizons)


class _LeaderboardAnswers:
    """Leaderboards of the chart's market (the first id) and of all markets of its model."""

    def __init__(self, db: Database, subject: tuple[str, ...]) -> None:
        """subject: ids of runs."""
        self._db, self._ids = db, subject
        self._records: dict[tuple[str, ...], ExpertRecord] = {}

    def answer(self, request: LeaderboardRequest) -> Iterator[FoundLeaderboard | None]:
        ids = self._ids if request.of_all_markets else self._ids[:1]
        if ids not in self._records:
            runs = RunStore(self._db)
            self._records[ids] = ExpertRecord(self._db, [runs.get(each) for each in ids])
        record = self._records[ids]
        for _ in record.read_more():
            yield None
        yield FoundLeaderboard(ids, request, leaderboard(record, request.ranking))


class LeaderboardWatch(RecordWatch):
    """Answers a `LeaderboardRequest`."""

    def __init__(self, state: RunState, database: Path, parent: QObject | None = None) -> None:
        super().__init__(state, RecordThread("LeaderboardReader", database, _LeaderboardAnswers), parent)
        self._reader.found.connect(state.leaderboard.set_found)
        self._reader.failed.connect(state.leaderboard.set_trouble)

    def subject(self) -> Hashable | None:
        run_id = self._state.run_id
        return None if run_id is None else (run_id, *(each for each in self._state.members if each != run_id))
