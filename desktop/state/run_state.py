"""What the window knows of the run: one owner, which takes every event; panels only read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import singledispatchmethod

from PySide6.QtCore import QObject, Signal, Slot

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import (
    CheckpointForecast,
    CheckpointsChanged,
    DriftFound,
    EventBatch,
    FirstForecast,
    ForecastMade,
    ForecastScored,
    Incident,
    JobProgress,
    StepDone,
    TrainerEvent,
    TrainerFailed,
    TrainerReady,
    TrainerState,
    TrainerStatus,
)
from core.domain.incident_kinds import IncidentKind
from core.evaluation.findings import RunAccuracy
from core.market.feeds.base import CatchUpProgress, FeedStatus
from core.training.hosting.catch_up import JOB_ID
from desktop.state.feed_record import FeedRecord
from desktop.state.incident_history import IncidentHistory, with_market
from desktop.state.job_list import JobList
from desktop.state.leaderboard import LeaderboardState
from desktop.state.markets import MarketsState
from desktop.state.quotes import QuoteBook
from desktop.state.status_numbers import charted_status, newest_step, rate_in_use
from desktop.state.step_history import RecentGradients, StepHistory
from desktop.ui.translation import translate

DRIFTS_KEPT = 100
_CATCH_UP_JOB = "feed catch-up"
_ANSWERING = frozenset({TrainerState.CATCHING_UP, TrainerState.TRAINING, TrainerState.PAUSED})
_OF_ONE_MARKET, _OF_ANY_MARKET = (ForecastMade, ForecastScored), (DriftFound, Incident)
"""Events of the run of the market on the chart, and of any of the model's; the others are of its head."""


class RunState(QObject):
    """Takes events, and says with one coarse signal for each kind what changed. Lives in the window's thread.

    A model has a run of each of its markets. `run_id` is that of the market on the chart: its forecasts and scores.
    `head_id` is that of the model: steps, checkpoints, diagnosis. With one market they are the same. Incidents and
    drifts are those of all its markets.
    """

    steps_changed = Signal()
    diagnosis_changed = Signal()
    """The gradient doctor said something new."""
    status_changed = Signal()
    drifts_changed = Signal()
    """The loss was found to have risen for longer than chance explains."""
    forecast_changed = Signal()
    scored = Signal(object)
    """ForecastScored: each one, as it comes."""
    checkpoints_changed = Signal()
    checkpoint_saved = Signal(object)
    """CheckpointInfo: each one, as it is saved."""
    checkpoints_deleted = Signal(object)
    """Tuple of ids: these are gone."""
    checkpoint_forecast = Signal(object)
    """CheckpointForecast: what a kept checkpoint would forecast, as was asked."""
    incidents_changed = Signal()
    incident_happened = Signal(object)
    """Incident: each one, as it comes; not those of history."""
    feed_changed = Signal()
    jobs_changed = Signal()
    accuracy_changed = Signal()
    """The scores were looked at closely, or cannot be."""
    ready = Signal(object)
    """TrainerReady: the trainer is running."""
    failed = Signal(object)
    """TrainerFailed: training cannot continue by itself."""
    run_changed = Signal()
    """Another model is watched now, or none: all that belonged to the former is gone."""
    record_changed = Signal()
    """The run of another market is on the chart now, or none, whether of the same model or of another one."""

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.clock = clock
        self.steps = StepHistory()
        self.gradients = RecentGradients()
        self.diagnosis: Diagnosis | None = None
        self.restored_at_ms: int | None = None
        """When the model was last taken back to a checkpoint: steps up to then are of other weights."""
        self.jobs = JobList(clock)
        self.run_id: str | None = None
        self.head_id: str | None = None
        self.members: dict[str, Market] = {}
        """The model's markets by the ids of their runs; empty until a trainer or the database has named them."""
        self.market: Market | None = None
        self.last_run_id: str | None = None
        self.last_head_id: str | None = None
        """Of the market's run that was trained last, and of its model: its checkpoints are there before a trainer."""
        self.interval_ms: int | None = None
        """How long a candle of the watched market lasts; None before there is one."""
        self.trainer: TrainerReady | None = None
        self.status: TrainerStatus | None = None
        self.forecast: ForecastMade | None = None
        """The newest that was committed."""
        self._first_forecast: ForecastMade | None = None
        self.feed: FeedStatus | None = None
        self.feed_record = FeedRecord(clock, self)
        """What the feed has said since a market was asked for; `begin` leaves it alone, for that comes later."""
        self.quotes = QuoteBook(self)
        self.markets = MarketsState(self)
        """Each market of the list and of the run; `apply` passes it all events."""
        self.leaderboard = LeaderboardState(lambda: self.run_id, self.record_changed, self)
        self.failure: TrainerFailed | None = None
        self.accuracy: RunAccuracy | None = None
        self.accuracy_trouble: str | None = None
        """What the scores said when they were looked at last, None while nobody did; and why they cannot be."""
        self.has_trainer = False
        """A trainer was started and has not ended: it may hold a device."""
        self.is_on_break = False
        """Training was stopped to release its device, and will continue."""
        self.is_starting = False
        """A trainer was started and is not running yet."""
        self.is_loading = False
        """The same, and there is a run to continue, of which nothing is known here yet."""
        self.pause_asked: bool | None = None
        """True: a requested pause is not confirmed yet; False: a requested resume is not."""
        self.checkpoint_in_use: str | None = None
        self._step_before_rate: int | None = None
        """The newest step when the learning rate was set."""
        self._model_status: TrainerStatus | None = None
        """The newest status, with all markets; `status` has the numbers of the one on the chart."""
        self._incidents = IncidentHistory()
        self._drifts: dict[tuple[int, str], DriftFound] = {}
        """By candle: after a crash, the same may be found again."""

    @property
    def shown_forecast(self) -> ForecastMade | None:
        """The one that reaches furthest: the simple rules' while the trainer has not come to its candle yet."""
        first, committed = self._first_forecast, self.forecast
        if first is None or committed is None:
            return committed or first
        return first if first.origin_open_time_ms > committed.origin_open_time_ms else committed

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The newest first, at most `INCIDENTS_KEPT`, of all markets of the model."""
        return self._incidents.newest_first

    @property
    def drifts(self) -> tuple[DriftFound, ...]:
        """The newest `DRIFTS_KEPT` of all markets of the model, in the order of their candles."""
        return tuple(self._drifts[candle] for candle in sorted(self._drifts))[-DRIFTS_KEPT:]

    @property
    def trainer_state(self) -> TrainerState | None:
        """What the trainer is doing; None before the first one was started."""
        if self.is_starting:
            return TrainerState.STARTING
        if self.failure is not None:
            return TrainerState.FAILED
        return None if self.status is None else self.status.state

    @property
    def step(self) -> int | None:
        """Training steps that were taken."""
        return newest_step(self.status, self.steps.last)

    @property
    def has_answering_trainer(self) -> bool:
        """Whether a trainer is running that obeys commands."""
        return self.trainer_state in _ANSWERING

    @property
    def learning_rate(self) -> float | None:
        """Of the newest step, or the one that was set after it: the next step may be hours away."""
        return rate_in_use(self.status, self.steps.last, self._step_before_rate)

    @property
    def has_diverged(self) -> bool:
        """Whether the doctor says so of the model."""
        return self.diagnosis is not None and self.diagnosis.disease is Disease.DIVERGED

    def add_steps(self, steps: Iterable[StepDone]) -> None:
        """Take steps in ascending order: from SQLite, or as they arrive."""
        for step in steps:
            self.steps.add(step)
            self.gradients.add(step)
        self.steps_changed.emit()

    def add_incidents(self, older: Iterable[Incident]) -> None:
        """Put history, in ascending order, before what came already; none of it counts as happening now."""
        self._incidents.add_older(with_market(each, self.members) for each in older)
        for incident in self._incidents:
            self._note_restore(incident)
        self.incidents_changed.emit()

    def add_drifts(self, drifts: Iterable[DriftFound]) -> None:
        """Take drifts, from SQLite or as they come."""
        self._drifts.update({(drift.candle_open_time_ms, drift.run_id): drift for drift in drifts})
        self.drifts_changed.emit()

    def begin(
        self,
        run_id: str | None,
        interval_ms: int | None = None,
        last_run_id: str | None = None,
        last_head_id: str | None = None,
        market: Market | None = None,
    ) -> None:
        """Forget the former run and its feed: another market was chosen, whose newest run is `last_run_id`."""
        self.feed, self.interval_ms, self.market = None, interval_ms, market
        self.last_run_id, self.last_head_id = last_run_id, last_head_id or last_run_id
        for job_id in (JOB_ID, _CATCH_UP_JOB):
            self.jobs.end(job_id)
        self._forget_run(run_id)
        self.feed_changed.emit()
        self.jobs_changed.emit()

    def show_market(self, market: Market) -> None:
        """Put another market of the same model on the chart; what is of the model stays."""
        self.feed, self.market, self._first_forecast = None, market, None
        self.interval_ms = market.interval.duration_ms
        self.jobs.drop(_CATCH_UP_JOB)
        self._show_run(next((run_id for run_id, of in self.members.items() if of == market), None))
        self.feed_changed.emit()
        self.jobs_changed.emit()

    def take_members(self, head_id: str, markets: Mapping[str, Market]) -> None:
        """The model that is watched, and the market of each of its runs."""
        if self.head_id not in (None, head_id):
            self._forget_run(head_id)
        self.head_id, self.members = head_id, dict(markets)
        run_id = next((each for each, of in markets.items() if of == self.market), None if markets else head_id)
        if run_id != self.run_id:
            self._show_run(run_id)

    def _show_run(self, run_id: str | None) -> None:
        self.run_id = run_id
        self.forecast = self.accuracy = self.accuracy_trouble = None
        self.status = charted_status(self._model_status, run_id)
        for signal in (self.record_changed, self.forecast_changed, self.status_changed):
            signal.emit()

    def trainer_starts(self, has_run: bool) -> None:
        """has_run: whether the market has a run to continue."""
        self.is_starting = self.has_trainer = True
        self.is_loading = has_run and self.trainer is None
        self._emit_start_change()

    def take_stored(self, status: TrainerStatus) -> None:
        """Show the stored status of the run that the starting trainer continues, without waiting for that trainer."""
        self.is_loading = False
        self.apply(status)
        self._emit_start_change()

    def trainer_is_over(self) -> None:
        """It ended, in whatever way: one that was stopped before it stood has said nothing of it."""
        self.is_starting = self.is_loading = self.has_trainer = False
        self.pause_asked = None
        if self._model_status is not None and self.failure is None:
            self._model_status = replace(self._model_status, state=TrainerState.STOPPED)
            self.status = charted_status(self._model_status, self.run_id)
        self._emit_start_change()

    @Slot(bool)
    def ask_pause(self, is_paused: bool) -> None:
        """The trainer was asked to pause or resume: it answers after the current step."""
        is_now = self.trainer_state is TrainerState.PAUSED
        self.pause_asked = is_paused if self.has_trainer and is_paused != is_now else None
        self.status_changed.emit()

    def take_break(self, *, is_on: bool) -> None:
        """The trainer was asked to end and release its device; or that is over."""
        if is_on != self.is_on_break:
            self.is_on_break = is_on
            self.is_loading = self.is_loading and not is_on
            self._emit_start_change()

    def apply(self, event: TrainerEvent | EventBatch | FeedStatus | CatchUpProgress) -> None:
        """Take what trainer or feed says; what is of neither the watched model nor the chart's market is dropped."""
        if not isinstance(event, EventBatch):  # its events come here one by one
            self.markets.apply(event)
        run_id = getattr(event, "run_id", None)
        if run_id is None or isinstance(event, TrainerReady) or self._is_watched(event, run_id):
            self._take(event)

    def _is_watched(self, event: object, run_id: str) -> bool:
        if self.head_id is None:
            self.head_id = run_id
            self._show_run(self.run_id or run_id)
        if isinstance(event, _OF_ANY_MARKET):
            return run_id == self.head_id or run_id in self.members
        return run_id == (self.run_id if isinstance(event, _OF_ONE_MARKET) else self.head_id)

    @singledispatchmethod
    def _take(self, event: object) -> None:
        raise TypeError(f"the window's state takes events of the trainer and the feed, was given {event!r}")

    @_take.register
    def _(self, event: EventBatch) -> None:
        for each in event.events:
            self.apply(each)

    @_take.register
    def _(self, event: StepDone) -> None:
        self.add_steps((event,))

    @_take.register
    def _(self, event: Diagnosis) -> None:
        self.diagnosis = event
        self.diagnosis_changed.emit()

    @_take.register
    def _(self, event: DriftFound) -> None:
        self.add_drifts((event,))

    @_take.register
    def _(self, event: TrainerStatus) -> None:
        if self.status is not None and self.status.learning_rate != event.learning_rate:
            self._step_before_rate = None if self.steps.last is None else self.steps.last.step
        self._model_status, self.status = event, charted_status(event, self.run_id)
        if self.pause_asked is (event.state is TrainerState.PAUSED):
            self.pause_asked = None
        if event.state not in (TrainerState.FAILED, TrainerState.STOPPED):
            self.failure = None
        self.status_changed.emit()

    @_take.register
    def _(self, event: ForecastMade) -> None:
        self.forecast = event  # its checkpoint is that of when it was first made: after a restart, an older one
        self.forecast_changed.emit()

    @_take.register
    def _(self, event: FirstForecast) -> None:
        if event.market in (None, self.market):
            self._first_forecast = event.forecast
            self.forecast_changed.emit()

    @_take.register
    def _(self, event: ForecastScored) -> None:
        self.scored.emit(event)

    @_take.register
    def _(self, event: CheckpointsChanged) -> None:
        if event.saved is not None:
            # The checkpoint just saved equals the running model, to the byte.
            self.checkpoint_in_use = event.saved.checkpoint_id
            self.checkpoint_saved.emit(event.saved)
        if event.deleted_ids:
            self.checkpoints_deleted.emit(event.deleted_ids)
        self.checkpoints_changed.emit()

    @_take.register
    def _(self, event: CheckpointForecast) -> None:
        self.checkpoint_forecast.emit(event)

    @_take.register
    def _(self, event: Incident) -> None:
        event = with_market(event, self.members)
        self._incidents.add(event)
        self._note_restore(event)
        self.incident_happened.emit(event)
        self.incidents_changed.emit()

    @_take.register
    def _(self, event: TrainerReady) -> None:
        self.take_members(event.run_id, {each.run_id: each.market for each in event.members})
        self.trainer, self.failure = event, None
        self.is_starting = self.is_loading = False
        if event.resumed_from is not None:
            self.checkpoint_in_use = event.resumed_from
        self.ready.emit(event)
        self.status_changed.emit()
        self.checkpoints_changed.emit()

    @_take.register
    def _(self, event: TrainerFailed) -> None:
        self.failure, self.pause_asked = event, None
        self.is_starting = self.is_loading = False
        self.failed.emit(event)
        self.status_changed.emit()

    @_take.register
    def _(self, event: JobProgress) -> None:
        self.jobs.apply(event)
        self.jobs_changed.emit()

    @_take.register
    def _(self, event: FeedStatus) -> None:
        self.feed = event
        self.feed_record.add_status(event)
        self.feed_changed.emit()
        if event.state.is_over:
            self.jobs.end(_CATCH_UP_JOB)
            self.jobs_changed.emit()

    @_take.register
    def _(self, event: CatchUpProgress) -> None:
        words = translate("Window", "Fetching candles")
        self.jobs.apply(JobProgress(_CATCH_UP_JOB, words, event.done, event.total))
        self.jobs_changed.emit()

    @Slot(object)
    def take_accuracy(self, found: RunAccuracy) -> None:
        """Results of another run than the watched one are dropped."""
        if found.run_id == self.run_id:
            self.accuracy, self.accuracy_trouble = found, None
            self.accuracy_changed.emit()

    @Slot(str)
    def accuracy_unknown(self, sentence: str) -> None:
        """The scores could not be read."""
        self.accuracy, self.accuracy_trouble = None, sentence
        self.accuracy_changed.emit()

    def _forget_run(self, run_id: str | None) -> None:
        self.run_id = self.head_id = run_id
        self.members = {}
        self.steps.clear()
        self.gradients.clear()
        self._incidents.clear()
        self._drifts.clear()
        self.trainer = self.status = self.forecast = self.failure = self.checkpoint_in_use = self._model_status = None
        self._first_forecast = self.restored_at_ms = None
        self.diagnosis = self.accuracy = self.accuracy_trouble = None
        self.run_changed.emit()
        self.record_changed.emit()

    def _note_restore(self, incident: Incident) -> None:
        if incident.kind == IncidentKind.RESTORED:
            self.restored_at_ms = incident.newest_at_ms
            self.gradients.leave_out_until(incident.newest_at_ms)

    def _emit_start_change(self) -> None:
        for signal in (self.status_changed, self.checkpoints_changed, self.incidents_changed):
            signal.emit()
