"""The window's state of the model and its markets: the one owner of every event; panels only read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

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
    MarketStatus,
    StepDone,
    TrainerEvent,
    TrainerFailed,
    TrainerReady,
    TrainerState,
    TrainerStatus,
)
from core.domain.incident_kinds import IncidentKind
from core.evaluation.findings import RunAccuracy
from core.market.feeds.base import FeedStatus
from core.settings.tree import MarketSettings
from core.storage.runs import Run
from core.training.hosting.catch_up import JOB_ID
from desktop.state.incident_history import IncidentHistory, with_market
from desktop.state.job_list import JobList
from desktop.state.leaderboard import LeaderboardState
from desktop.state.markets import MarketRow, MarketsState
from desktop.state.quotes import QuoteBook
from desktop.state.shown_feed import ShownFeed
from desktop.state.status_numbers import newest_step, rate_in_use
from desktop.state.step_history import RecentGradients, StepHistory

DRIFTS_KEPT = 100
_ANSWERING = frozenset({TrainerState.CATCHING_UP, TrainerState.TRAINING, TrainerState.PAUSED})


class RunState(QObject):
    """Applies events, and emits one coarse signal for each kind of change. Lives in the window's thread.

    A model has a run for each of its markets, a row of `markets`. `market` is the key of the row on the chart: its
    forecasts, scores and feed come from its row. Steps, checkpoints and the diagnosis are the model's, whose run is
    `head_id`. Incidents and drifts are of all its markets.
    """

    steps_changed = Signal()
    diagnosis_changed = Signal()
    """The gradient doctor's verdict differs."""
    status_changed = Signal()
    drifts_changed = Signal()
    """The loss was found to have risen for longer than chance explains."""
    forecast_changed = Signal()
    scored = Signal(object)
    """ForecastScored, of the market on the chart."""
    checkpoints_changed = Signal()
    checkpoint_saved = Signal(object)
    """CheckpointInfo: each saved one."""
    checkpoints_deleted = Signal(object)
    """Tuple of the deleted ids."""
    checkpoint_forecast = Signal(object)
    """CheckpointForecast: the requested forecast of a stored checkpoint."""
    incidents_changed = Signal()
    incident_happened = Signal(object)
    """Incident: each new one, not those from history."""
    feed_changed = Signal()
    jobs_changed = Signal()
    job_progressed = Signal(object)
    """JobProgress: each one."""
    accuracy_changed = Signal()
    """The details of the scores, or why they cannot be read."""
    ready = Signal(object)
    """TrainerReady: the trainer is running."""
    failed = Signal(object)
    """TrainerFailed: training cannot continue by itself."""
    run_changed = Signal()
    """Another model is watched now, or none: the former one's state is dropped."""
    record_changed = Signal()
    """The run of another market is on the chart now, or none, whether of the same model or of another one."""

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.clock = clock
        self.steps = StepHistory()
        self.gradients = RecentGradients()
        self.diagnosis: Diagnosis | None = None
        self.restored_at_ms: int | None = None
        """Time when a checkpoint was last restored: steps up to then belong to other weights."""
        self.jobs = JobList(clock)
        self.head_id: str | None = None
        self.members: dict[str, Market] = {}
        """The model's markets by the ids of their runs; empty until a trainer or the database has named them."""
        self.market: Market | None = None
        self.last_run: Run | None = None
        """The last trained run of this market, or of any: its checkpoints are shown before a trainer starts."""
        self.trainer: TrainerReady | None = None
        self.status: TrainerStatus | None = None
        self.quotes = QuoteBook(self)
        self.markets = MarketsState(self)
        self.shown_feed = ShownFeed(clock, self.jobs, self.markets, lambda: self.market, self)
        self.feed_record = self.shown_feed.record
        self.leaderboard = LeaderboardState(lambda: self.run_id, self.record_changed, self)
        self.failure: TrainerFailed | None = None
        self.accuracy: RunAccuracy | None = None
        self.accuracy_trouble: str | None = None
        """The newest details of the shown market's scores, None before; and why they cannot be read."""
        self.has_trainer = False
        """A trainer was started and has not ended: it may hold a device."""
        self.is_on_break = False
        """Training was stopped to release its device, and will continue."""
        self.is_starting = False
        """A trainer was started and is not running yet."""
        self.is_loading = False
        """A starting trainer is to continue a run that is still unknown here."""
        self.is_paused = False
        """Whether training is paused, or was requested to be. Outlives the trainer, whose successor stays paused."""
        self.pause_requested: bool | None = None
        """True: a requested pause is not confirmed yet; False: a requested resume is not."""
        self.checkpoint_in_use: str | None = None
        self._step_before_rate: int | None = None
        """The newest step when the learning rate was set."""
        self._incidents = IncidentHistory()
        self._drifts: dict[tuple[int, str], DriftFound] = {}
        """Drifts by candle: after a crash, one may be found again."""
        self.shown_feed.changed.connect(self.feed_changed)
        self.shown_feed.jobs_changed.connect(self.jobs_changed)

    @property
    def shown(self) -> MarketRow | None:
        """The market on the chart."""
        return None if self.market is None else self.markets.row(self.market)

    @property
    def run_id(self) -> str | None:
        """The run of the market on the chart."""
        return next((run_id for run_id, market in self.members.items() if market == self.market), None)

    @property
    def interval_ms(self) -> int | None:
        """The length of the chart market's candles."""
        return None if self.market is None else self.market.interval.duration_ms

    @property
    def feed(self) -> FeedStatus | None:
        """The status of the market that is being opened, else of the one on the chart."""
        return self.shown_feed.status

    @property
    def forecast(self) -> ForecastMade | None:
        """The newest committed forecast for the market on the chart."""
        return None if self.shown is None else self.shown.committed

    @property
    def shown_forecast(self) -> ForecastMade | None:
        """The forecast with the latest origin: the simple rules' until the trainer has reached its candle."""
        return None if self.shown is None else self.shown.forecast

    @property
    def market_status(self) -> MarketStatus | None:
        """The trainer's status of the market on the chart."""
        return None if self.status is None or self.shown is None else self.shown.status

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
        """None before the first trainer was started."""
        if self.is_starting:
            return TrainerState.STARTING
        if self.failure is not None:
            return TrainerState.FAILED
        return None if self.status is None else self.status.state

    @property
    def step(self) -> int | None:
        """The number of the newest training step."""
        return newest_step(self.status, self.steps.last)

    @property
    def has_answering_trainer(self) -> bool:
        """Whether a trainer is running that obeys commands."""
        return self.trainer_state in _ANSWERING

    @property
    def learning_rate(self) -> float | None:
        """The rate of the newest step, or a rate set after it: the next step may be hours away."""
        return rate_in_use(self.status, self.steps.last, self._step_before_rate)

    @property
    def has_diverged(self) -> bool:
        """The gradient doctor's verdict."""
        return self.diagnosis is not None and self.diagnosis.disease is Disease.DIVERGED

    def add_steps(self, steps: Iterable[StepDone]) -> None:
        """Add steps in ascending order, from SQLite or as they are reported."""
        for step in steps:
            self.steps.add(step)
            self.gradients.add(step)
        self.steps_changed.emit()

    def add_incidents(self, older: Iterable[Incident]) -> None:
        """Insert history, in ascending order, before newer events; it does not count as happening now."""
        self._incidents.add_older(with_market(each, self.members) for each in older)
        for incident in self._incidents:
            self._note_restore(incident)
        self.incidents_changed.emit()

    def add_drifts(self, drifts: Iterable[DriftFound]) -> None:
        """Add drifts, from SQLite or as they are reported."""
        self._drifts.update({(drift.candle_open_time_ms, drift.run_id): drift for drift in drifts})
        self.drifts_changed.emit()

    def begin(self, market: Market | None, last_run: Run | None = None) -> None:
        """Forget the former model, as this market is being opened. last_run: the newest run of this market."""
        self.market, self.last_run = market, last_run
        self.jobs.end(JOB_ID)
        if market is not None:
            self.markets.forget_forecasts(market)
        self._forget_model(None)
        self.shown_feed.open(market)

    def show_market(self, market: Market, asked: MarketSettings) -> None:
        """Put another market of the same model on the chart; the model's state stays."""
        self.market = market
        self._show_record()
        self.shown_feed.show(market, asked)

    def set_members(self, head_id: str, markets: Mapping[str, Market]) -> None:
        """Set the watched model, and the market of each of its runs."""
        if self.head_id not in (None, head_id):
            self._forget_model(head_id)
        before = self.run_id
        self.head_id, self.members = head_id, dict(markets)
        for run_id, market in markets.items():
            self.markets.set_run(market, run_id)
        if self.run_id != before:
            self._show_record()

    def trainer_starts(self, has_run: bool) -> None:
        """has_run: whether the market has a run to continue."""
        self.is_starting = self.has_trainer = True
        self.is_loading = has_run and self.trainer is None
        self._emit_start_change()

    def apply_stored(self, status: TrainerStatus) -> None:
        """Show the stored status of the run that the starting trainer continues, without waiting for that trainer."""
        self.is_loading = False
        self.apply(status)
        self._emit_start_change()

    def trainer_is_over(self) -> None:
        """The trainer ended, in whatever way: one that was stopped while starting has reported nothing."""
        self.is_starting = self.is_loading = self.has_trainer = False
        self.pause_requested = None
        if self.status is not None and self.failure is None:
            self.status = replace(self.status, state=TrainerState.STOPPED)
        self._emit_start_change()

    @Slot(bool)
    def request_pause(self, is_paused: bool) -> None:
        """Note that the trainer was asked to pause or resume: it answers after the current step."""
        self.is_paused = is_paused
        is_now = self.trainer_state is TrainerState.PAUSED
        self.pause_requested = is_paused if self.has_trainer and is_paused != is_now else None
        self.status_changed.emit()

    def set_break(self, *, is_on: bool) -> None:
        """Note the beginning or the end of a break, in which the trainer has released its device."""
        if is_on != self.is_on_break:
            self.is_on_break = is_on
            self.is_loading = self.is_loading and not is_on
            self._emit_start_change()

    @Slot(object)
    def apply(self, event: TrainerEvent | EventBatch) -> None:
        """Apply an event to the state. An event of another model is dropped."""
        if isinstance(event, EventBatch):
            for each in event.events:
                self.apply(each)
            return
        run_id = getattr(event, "run_id", None)
        if self.head_id is None and run_id is not None:
            self.head_id = run_id  # a starting trainer reports incidents before it is ready
        is_of_model = run_id in (None, self.head_id) or run_id in self.members
        if is_of_model or isinstance(event, TrainerReady):
            _HANDLERS[type(event)](self, event)

    def _on_step_done(self, event: StepDone) -> None:
        self.add_steps((event,))

    def _on_diagnosis(self, event: Diagnosis) -> None:
        self.diagnosis = event
        self.diagnosis_changed.emit()

    def _on_drift_found(self, event: DriftFound) -> None:
        self.add_drifts((event,))
        if (market := self.members.get(event.run_id)) is not None:
            self.markets.add_drift(market, event)

    def _on_trainer_status(self, event: TrainerStatus) -> None:
        if self.status is not None and self.status.learning_rate != event.learning_rate:
            self._step_before_rate = None if self.steps.last is None else self.steps.last.step
        self.status = event
        for each in event.markets:
            self.markets.set_status(each)
        if self.pause_requested is (event.state is TrainerState.PAUSED):
            self.pause_requested = None
        if event.state in _ANSWERING and self.pause_requested is None:  # else it may be older than the request
            self.is_paused = event.state is TrainerState.PAUSED
        if event.state not in (TrainerState.FAILED, TrainerState.STOPPED):
            self.failure = None
        self.status_changed.emit()

    def _on_forecast_made(self, event: ForecastMade) -> None:
        if (market := self.members.get(event.run_id)) is not None:
            self.markets.add_forecast(market, event)
            if market == self.market:
                self.forecast_changed.emit()

    def _on_first_forecast(self, event: FirstForecast) -> None:
        self.markets.add_first_forecast(event.market, event.forecast)
        if event.market == self.market:
            self.forecast_changed.emit()

    def _on_forecast_scored(self, event: ForecastScored) -> None:
        if event.run_id == self.run_id:
            self.scored.emit(event)

    def _on_checkpoints_changed(self, event: CheckpointsChanged) -> None:
        if event.saved is not None:
            # The checkpoint just saved equals the running model, to the byte.
            self.checkpoint_in_use = event.saved.checkpoint_id
            self.checkpoint_saved.emit(event.saved)
        if event.deleted_ids:
            self.checkpoints_deleted.emit(event.deleted_ids)
        self.checkpoints_changed.emit()

    def _on_checkpoint_forecast(self, event: CheckpointForecast) -> None:
        self.checkpoint_forecast.emit(event)

    def _on_incident(self, event: Incident) -> None:
        event = with_market(event, self.members)
        self._incidents.add(event)
        self._note_restore(event)
        self.incident_happened.emit(event)
        self.incidents_changed.emit()

    def _on_trainer_ready(self, event: TrainerReady) -> None:
        members = [each.member for each in event.markets]
        self.set_members(event.run_id, {each.run_id: each.market for each in members})
        for member in members:
            self.markets.set_learned(member.market, is_learned=member.is_learned)
        self.trainer, self.failure = event, None
        self.is_starting = self.is_loading = False
        if event.resumed_from is not None:
            self.checkpoint_in_use = event.resumed_from
        self.ready.emit(event)
        self.status_changed.emit()
        self.checkpoints_changed.emit()

    def _on_trainer_failed(self, event: TrainerFailed) -> None:
        self.failure, self.pause_requested = event, None
        self.is_starting = self.is_loading = False
        self.failed.emit(event)
        self.status_changed.emit()

    def _on_job_progress(self, event: JobProgress) -> None:
        self.jobs.apply(event)
        self.job_progressed.emit(event)
        self.jobs_changed.emit()

    @Slot(object)
    def set_accuracy(self, read: RunAccuracy) -> None:
        """Results of another run than the shown one are dropped."""
        if read.run_id == self.run_id:
            self.accuracy, self.accuracy_trouble = read, None
            self.accuracy_changed.emit()

    @Slot(str)
    def set_accuracy_trouble(self, sentence: str) -> None:
        """The scores could not be read."""
        self.accuracy, self.accuracy_trouble = None, sentence
        self.accuracy_changed.emit()

    def _show_record(self) -> None:
        self.accuracy = self.accuracy_trouble = None
        for signal in (self.record_changed, self.forecast_changed, self.status_changed):
            signal.emit()

    def _forget_model(self, head_id: str | None) -> None:
        self.head_id, self.members = head_id, {}
        self.steps.clear()
        self.gradients.clear()
        self._incidents.clear()
        self._drifts.clear()
        self.trainer = self.status = self.failure = self.checkpoint_in_use = None
        self.restored_at_ms = self.diagnosis = self.accuracy = self.accuracy_trouble = None
        self.run_changed.emit()
        self.record_changed.emit()

    def _note_restore(self, incident: Incident) -> None:
        if incident.kind == IncidentKind.RESTORED:
            self.restored_at_ms = incident.newest_at_ms
            self.gradients.leave_out_until(incident.newest_at_ms)

    def _emit_start_change(self) -> None:
        for signal in (self.status_changed, self.checkpoints_changed, self.incidents_changed):
            signal.emit()


_HANDLERS: dict[type, Callable[[RunState, Any], None]] = {
    StepDone: RunState._on_step_done,
    Diagnosis: RunState._on_diagnosis,
    DriftFound: RunState._on_drift_found,
    TrainerStatus: RunState._on_trainer_status,
    ForecastMade: RunState._on_forecast_made,
    FirstForecast: RunState._on_first_forecast,
    ForecastScored: RunState._on_forecast_scored,
    CheckpointsChanged: RunState._on_checkpoints_changed,
    CheckpointForecast: RunState._on_checkpoint_forecast,
    Incident: RunState._on_incident,
    TrainerReady: RunState._on_trainer_ready,
    TrainerFailed: RunState._on_trainer_failed,
    JobProgress: RunState._on_job_progress,
}
