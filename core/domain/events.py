"""Events from the trainer to the window: frozen dataclasses only, as they cross threads and processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Diagnosis, GradientStatistics
from core.domain.incident_kinds import IncidentKind
from core.domain.passing_faults import PassingFault
from core.domain.regimes import RegimeProbabilities

QUANTILE_LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""The levels of every forecast. 0.05..0.95 is the 90 % band, 0.25..0.75 the 50 % band."""


class ForecastMode(StrEnum):
    """The circumstances of a forecast. Only LIVE ones were committed before the target existed anywhere."""

    LIVE = "live"
    CATCH_UP = "catch-up"
    RECOVERY = "recovery"
    REPLAY = "replay"
    SIMULATED = "simulated"
    SEEN = "seen-before"
    """The model may have learned from the target, so the forecast proves nothing."""


class ForecastGroup(StrEnum):
    """The forecasts of one accuracy summary."""

    LIVE = "live"
    REPLAYED = "replayed"
    SIMULATED = "simulated"
    CAUGHT_UP = "caught up"
    SEEN = "seen before"


class TrainerState(StrEnum):
    STARTING = "starting"
    CATCHING_UP = "catching up"
    TRAINING = "training"
    PAUSED = "paused"
    RESTARTING = "restarting"
    STOPPED = "stopped"
    FAILED = "failed"


class Trend(StrEnum):
    """The trend of the windowed loss. UNKNOWN while there are too few steps."""

    IMPROVING = "improving"
    FLAT = "flat"
    WORSENING = "worsening"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured share or score with its 95 % interval. All None while `n` is too small."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def ci95(self) -> list[float] | None:
        """The interval as a list, for JSON."""
        return None if self.low is None or self.high is None else [self.low, self.high]


@dataclass(frozen=True, slots=True)
class Ghost:
    """One forecast candle. Prices in quote currency; valid by construction (high >= max(open, close), volume >= 0).

    close_quantiles: prices at `QUANTILE_LEVELS`, ascending, calibrated.
    """

    open_time_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    close_quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ExpertForecasts:
    """Forecasts of single experts at the same candle, to be drawn beside the ghosts; most are never stored."""

    names: tuple[str, ...]
    drawn: bytes
    """The forecasts of each in turn; see `core.training.online.forecast_events`."""


@dataclass(frozen=True, slots=True)
class ForecastMade:
    """A committed forecast: stored in SQLite before any data of its targets was received."""

    run_id: str
    origin_open_time_ms: int
    inputs_until_ms: int
    made_at_ms: int
    mode: ForecastMode
    step: int
    checkpoint_id: str | None
    origin_close: float
    ghosts: tuple[Ghost, ...]
    conditions: RegimeProbabilities | None = None
    """The market's regime at the origin; None: not stored."""
    next_regime: RegimeProbabilities | None = None
    """The model's forecast of the next candle's regime; None: it gives none."""
    is_by_simple_rules: bool = False
    """Part of a `FirstForecast`: made without a model, and not in SQLite."""
    experts: ExpertForecasts | None = None
    """All experts that forecast the close while the trainer runs; for a stored forecast, those that are stored."""
    quantiles: bytes | None = None
    """[H, Q, L], exactly; see `core.training.online.forecast_events`. None for a forecast that is not stored, and for
    an old one, of which only the drawn part is still stored."""


@dataclass(frozen=True, slots=True)
class FirstForecast:
    """The simple rules' forecast at the newest stored candle, until the trainer has caught up; never stored."""

    forecast: ForecastMade
    market: Market


@dataclass(frozen=True, slots=True)
class ForecastScored:
    """The score of one stored forecast, after its target has closed. Losses are pinball losses of the log return from
    the origin's close to the target's close."""

    run_id: str
    origin_open_time_ms: int
    target_open_time_ms: int
    horizon: int
    mode: ForecastMode
    after_gap: bool
    ghost: Ghost
    actual_close: float
    loss: float
    model_loss: float
    reference_loss: float
    inside_50: bool
    inside_90: bool
    direction_hit: bool | None
    """None if the candle closed flat or the forecast has no direction."""
    version: int = 1
    """Above 1: the candle was corrected, and this replaces the previous version."""
    made_at_ms: int | None = None
    step: int | None = None
    """Step of the model that made the forecast; None if unknown."""
    checkpoint_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepDone:
    """One training step. A skipped step has no loss: `loss` is None, `skipped_because` is the reason."""

    run_id: str
    step: int
    candle_open_time_ms: int
    loss: float | None
    prequential_loss: float | None
    """Loss of the newest one-step forecast, made before its candle, in the units of `loss`."""
    gradient_norm: float | None
    """Total 2-norm before clipping."""
    clipped: bool
    learning_rate: float
    clip_norm: float
    samples: int
    duration_ms: float
    at_ms: int
    skipped_because: str | None = None
    gradients: GradientStatistics | None = None


@dataclass(frozen=True, slots=True)
class LossSummary:
    """The loss in three numbers: the mean over the newest 50 steps, the lowest such mean of the run, and the trend."""

    current: float | None
    best: float | None
    trend: Trend


@dataclass(frozen=True, slots=True)
class AccuracySummary:
    """One-step scores of one group: skills and gain over all of the run's own candles, with intervals that hold at
    every moment (`core.forecast.confidence`), the rest over the newest `window`. Skill is 1 - loss / reference loss."""

    group: ForecastGroup
    window: int
    scored: int
    """Candles of the whole run with a scored one-step forecast."""
    live_scored: int
    """How many of them were forecast `live`."""
    direction: Estimate
    candle_accuracy: Estimate
    """Mean overlap of ghost and candle, see `core.forecast.ghosts.overlap`."""
    reference_candle_accuracy: float | None
    coverage_50: Estimate
    coverage_90: Estimate
    skill_close: Estimate
    skill_range: Estimate
    model_weight: float | None
    """Weight of the model in the shown combination (close, horizon 1)."""
    has_proven_edge: bool
    """The whole anytime-valid interval of the close skill is above 0."""
    verdict: str
    """The verdict as a sentence for the user."""
    model_gain: tuple[Estimate, Estimate, Estimate] | None = None
    """The model's gain over the skill of the baselines alone: close and range in equal parts, close, range. None: for
    forecasts that are not the run's own."""
    after_gap: int = 0
    """The run's own candles that count nowhere here: a gap or a session break lies before them."""
    newest_coverage_90: Estimate = Estimate(None, None, None, 0)
    """Coverage over the newest 500 candles, with an interval for a look at each candle (`core.forecast.score`)."""


@dataclass(frozen=True, slots=True)
class ExpertShares:
    """The experts' weights in the shown combination, averaged over the levels."""

    experts: tuple[str, ...]
    quantities: tuple[str, ...]
    shares: tuple[tuple[tuple[float, ...], ...], ...]
    """`[horizon][quantity][expert]`: they add up to 1 over the experts; 0 for quantities that one does not forecast."""


@dataclass(frozen=True, slots=True)
class CheckpointsChanged:
    """Checkpoints were saved or deleted; the tables in SQLite have the current state."""

    run_id: str
    saved: CheckpointInfo | None
    deleted_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckpointForecast:
    """The current forecast of a stored checkpoint. Neither committed, stored nor scored."""

    run_id: str
    checkpoint_id: str
    forecast: ForecastMade | None
    why_not: str = ""
    """A sentence with the reason if there is no forecast."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident, with sentences for the user: the event, the reaction and the cost. A repeated incident is
    its whole episode, which began at `at_ms`, with the newest sentences."""

    run_id: str | None
    at_ms: int
    severity: Severity
    kind: IncidentKind
    what_happened: str
    what_was_done: str
    what_it_cost: str
    details: str = ""
    last_at_ms: int | None = None
    """The newest occurrence; None if there was only one."""
    count: int = 1
    """Occurrences in this episode."""

    @property
    def newest_at_ms(self) -> int:
        return self.at_ms if self.last_at_ms is None else self.last_at_ms

    @property
    def episode(self) -> tuple[IncidentKind, int, Severity]:
        """Equal for all occurrences of one episode of a run."""
        return self.kind, self.at_ms, self.severity


@dataclass(frozen=True, slots=True)
class MemberRun:
    """The run of one market of a model: with this market's forecasts, scores and drifts."""

    run_id: str
    market: Market
    is_learned: bool
    """False: the market is forecast and scored, and the model learns from its other markets only."""


@dataclass(frozen=True, slots=True)
class ResumePoint:
    member: MemberRun
    position_ms: int | None
    """Opening time of the newest candle that the model has learned from; later ones are requested."""
    recorded_until_ms: int | None
    """Forecasts for candles up to this one are stored already; after a crash these candles are processed again."""


@dataclass(frozen=True, slots=True)
class TrainerReady:
    """The model is loaded and awaits candles."""

    run_id: str
    device: str
    """Display name: ``CPU, 1 thread`` or ``CUDA: <card>``."""
    step: int
    resumed_from: str | None
    """The checkpoint's id, or None for a new model."""
    parameters: int
    markets: tuple[ResumePoint, ...]
    """The resume point of each market, in the order of a close; `run_id` is the first one's, the head."""
    layers: tuple[str, ...] = ()
    uses_gpu: bool = False


@dataclass(frozen=True, slots=True)
class OnlineGain:
    """The gain from online learning: the model's relative reduction of the loss against the reference model (its frozen
    copy from at least `needed` candles ago), both without the other experts, one candle ahead."""

    gain: Estimate
    """Close and range in equal parts."""
    close: Estimate
    range: Estimate
    age: int
    """Candles since the reference model was copied; there is none while this is less than `needed`."""
    needed: int


@dataclass(frozen=True, slots=True)
class MarketStatus:
    """One market of a model, as the trainer knows it."""

    member: MemberRun
    position_ms: int | None
    """Opening time of the newest candle that the trainer has received."""
    accuracy: AccuracySummary
    accuracy_apart: AccuracySummary | None
    """Scores of forecasts that do not count as the run's own: made during catch-up and recovery in a live run."""
    online: OnlineGain | None
    """None without a reference model."""
    shares: ExpertShares | None


@dataclass(frozen=True, slots=True)
class TrainerStatus:
    """The trainer's status: sent after each candle, and at least every 500 ms while training."""

    run_id: str
    state: TrainerState
    step: int
    candles: int
    steps_per_s: float | None
    """Rate of the newest steps; None if the last one was ten seconds ago or more."""
    last_step_at_ms: int | None
    loss: LossSummary
    device: str
    learning_rate: float
    """The setting times the reduction by rollbacks, before the schedule."""
    clip_norm: float
    markets: tuple[MarketStatus, ...]
    """One for each market, in the order of `TrainerReady.markets`; before a trainer runs, for one that was read."""

    @property
    def position_ms(self) -> int | None:
        """The newest position of any market."""
        return max((each.position_ms for each in self.markets if each.position_ms is not None), default=None)


@dataclass(frozen=True, slots=True)
class TrainerFailed:
    """Training has stopped and needs the user. `sentence` is for the banner, `details` for the log."""

    sentence: str
    details: str = ""
    by_breaker: bool = False
    """Nothing needs to be fixed: trainers ended too often, so training is paused."""
    passing: PassingFault | None = None
    """A cause that passes: training can continue then."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Reports of one job share the `job_id`; the last has `done` equal to `total`, or `is_over` if it was cancelled."""

    job_id: str
    title: str
    done: int
    total: int
    seconds_left: float | None = None
    is_over: bool = False
    has_own_estimate: bool = False
    """If True, the time left without `seconds_left` is unknown: it does not follow from the progress."""


@dataclass(frozen=True, slots=True)
class DriftFound:
    """The prequential loss has risen for longer than chance explains. Not an error: markets change.

    Losses are geometric means, in the units of `StepDone.prequential_loss`.
    """

    run_id: str
    candle_open_time_ms: int
    """The candle at which it was detected."""
    step: int
    """The newest step then."""
    candles: int
    """How many of the newest candles had higher losses."""
    loss_before: float
    loss_after: float
    what_was_done: str
    """A sentence."""
    at_ms: int


TrainerEvent = (
    ForecastMade
    | FirstForecast
    | ForecastScored
    | StepDone
    | Diagnosis
    | CheckpointsChanged
    | CheckpointForecast
    | Incident
    | DriftFound
    | TrainerReady
    | TrainerStatus
    | TrainerFailed
    | JobProgress
)


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events of one command, in order; one message on the pipe. is_whole: no more events of this command follow."""

    events: tuple[TrainerEvent, ...] = ()
    is_whole: bool = True
