"""What the trainer tells the window: frozen dataclasses only, because they cross a thread and a process."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.diagnosis import Diagnosis, GradientStatistics
from core.domain.regimes import MarketConditions

GPU_IS_BACK = "GPU is back"
"""The kind of the incident that offers to go back to a GPU that was lost."""
RESTORED = "restored"
"""The kind of the incident that says that the model was taken back to a checkpoint, as was asked."""
ROLLED_BACK = "rolled back"
"""The kind of the incident that says that training went back to its known good state."""
TRAINER_ENDED = "trainer ended"
"""The kind of the incident that says how a trainer ended."""
CANDLE_SET_ASIDE = "candle set aside"
"""The kind of the incident that names a stored candle that no trainer can take, a hole now."""
BREAKER = "breaker"
"""The kind of the incident that says that trainers ended too often: training is paused until it is started again."""
DRIFT = "drift"
"""The kind of the incident that tells of a `DriftFound`."""
PAUSES = frozenset({"rollbacks used up", "step failed again"})
"""The kinds of the incidents with which the trainer paused by itself: `Resume` goes on."""

QUANTILE_LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""The levels of every forecast. 0.05..0.95 is the 90 % band, 0.25..0.75 the 50 % band."""


class ForecastMode(StrEnum):
    """How a forecast came to be. Only LIVE was committed before its target could be known to anyone."""

    LIVE = "live"
    CATCH_UP = "catch-up"
    RECOVERY = "recovery"
    REPLAY = "replay"
    SIMULATED = "simulated"
    SEEN = "seen-before"
    """The model may have learned from the target: it proves nothing."""


class TrainerState(StrEnum):
    """What the trainer is doing."""

    STARTING = "starting"
    CATCHING_UP = "catching up"
    TRAINING = "training"
    PAUSED = "paused"
    RESTARTING = "restarting"
    STOPPED = "stopped"
    FAILED = "failed"


class Trend(StrEnum):
    """Where the windowed loss is going. UNKNOWN until there are enough steps to tell."""

    IMPROVING = "improving"
    FLAT = "flat"
    WORSENING = "worsening"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """How bad an incident was."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured share or score with its 95 % interval. All None while `n` is too small to say anything."""

    value: float | None
    low: float | None
    high: float | None
    n: int


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
class ForecastMade:
    """A committed forecast: it is in SQLite, and no data of its targets had been seen."""

    run_id: str
    origin_open_time_ms: int
    inputs_until_ms: int
    made_at_ms: int
    mode: ForecastMode
    step: int
    checkpoint_id: str | None
    origin_close: float
    ghosts: tuple[Ghost, ...]
    conditions: MarketConditions | None = None
    """None for a forecast that was made before there were any."""
    is_by_simple_rules: bool = False
    """Of a `FirstForecast`: no model had a part in it, and it is not in SQLite."""


@dataclass(frozen=True, slots=True)
class FirstForecast:
    """What the simple rules forecast of the newest stored candle while the trainer is far from it. It is only shown:
    neither committed, stored nor scored."""

    forecast: ForecastMade


@dataclass(frozen=True, slots=True)
class ForecastScored:
    """How one stored forecast came out, once its target had closed. Losses are pinball losses of the log return
    from the origin's close to the target's close."""

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
    """None where the candle closed flat or the forecast named no direction."""
    version: int = 1
    """Above 1: the candle was corrected, and this stands in place of the version before it."""
    made_at_ms: int | None = None
    step: int | None = None
    """Of the model that made the forecast; None where that is not told."""
    checkpoint_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepDone:
    """One training step. A skipped step has no loss: `loss` is None, `skipped_because` says why."""

    run_id: str
    step: int
    candle_open_time_ms: int
    loss: float | None
    prequential_loss: float | None
    """Loss of the newest one-step forecast, made before its candle was seen, in the units of `loss`."""
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
    """None only for a step that was stored before these were measured."""


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

    group: str
    """Which forecasts these are, for people: ``live``, ``replayed``, ``simulated`` or ``caught up``."""
    window: int
    scored: int
    """Candles whose one-step forecast has been scored, in the whole run."""
    live_scored: int
    """Those of them whose forecast was `live`."""
    direction: Estimate
    candle_accuracy: Estimate
    """Mean overlap of ghost and candle, see `core.forecast.ghosts.overlap`."""
    reference_candle_accuracy: float | None
    coverage_50: Estimate
    coverage_90: Estimate
    skill_close: Estimate
    skill_range: Estimate
    model_weight: float | None
    """Share of the model in the shown combination (close, horizon 1)."""
    has_proven_edge: bool
    """The close skill's whole interval, which holds however often it is looked at, lies above 0."""
    verdict: str
    """The same in words a user reads."""
    model_gain: tuple[Estimate, Estimate, Estimate] | None = None
    """What the model adds to the skill that the baselines have without it: close and range in equal parts, close,
    range. None: of forecasts that are not the run's own."""


@dataclass(frozen=True, slots=True)
class ExpertShares:
    """How much each expert has in what is shown: the combination's weights, their mean over the levels."""

    experts: tuple[str, ...]
    quantities: tuple[str, ...]
    shares: tuple[tuple[tuple[float, ...], ...], ...]
    """[horizon][quantity][expert]: they add up to 1 over the experts; 0 where one does not speak."""


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One row of the checkpoint browser."""

    checkpoint_id: str
    run_id: str
    step: int
    candle_open_time_ms: int
    created_at_ms: int
    reason: str
    """periodic, best, pause, restore, change (what was before a setting was changed), manual or exit"""
    skill: float | None
    """Of the model alone, close and range in equal parts, against the reference; see `online.checkpoint_score`."""
    skill_low: float | None
    skill_high: float | None
    scored: int
    loss: float | None
    file: str
    """Relative to the data folder."""
    size_bytes: int
    sha256: str
    parent_id: str | None
    is_known_good: bool = True
    """All of its numbers were finite, and no step before it was being skipped."""
    coverage: float | None = None
    """Share of closes inside the 90 % band, over the candles of `skill`; None: not stored, or too few."""
    direction: float | None = None
    """Share of directions that were hit, over the same candles."""
    health: str | None = None
    """What the gradient doctor had said last, a `Disease`; None: not stored."""
    device: str | None = None
    """Where it was trained, for people; None: not stored."""
    settings_id: str | None = None
    """Which settings were in force, see `core.storage.setting_sets`; None: not stored."""
    shown_skill: float | None = None
    """Skill of the forecast that was shown, which is mixed of the model's and the baselines'; None: not stored."""
    model_gain: float | None = None
    """What the model added to that; None: not stored."""
    is_best: bool = False
    is_pinned: bool = False
    is_in_use: bool = False
    note: str = ""
    name: str = ""
    tags: tuple[str, ...] = ()
    verified_at_ms: int | None = None
    """When its file was last read and held to its sha256; None: not since it was written."""
    fault: str = ""
    """What was wrong with the file then: a sentence, or nothing."""


@dataclass(frozen=True, slots=True)
class CheckpointsChanged:
    """Checkpoints were saved or deleted; the tables in SQLite say what there is now."""

    run_id: str
    saved: CheckpointInfo | None
    deleted_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckpointForecast:
    """What a kept checkpoint would forecast now. It is not committed, not stored and not scored."""

    run_id: str
    checkpoint_id: str
    forecast: ForecastMade | None
    why_not: str = ""
    """A sentence, where there is no forecast."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Something went wrong: what happened, what was done, what it cost. All three are sentences for a user. One that
    was repeated is its whole episode, which began at `at_ms`, in the words of the newest time."""

    run_id: str | None
    at_ms: int
    severity: Severity
    kind: str
    what_happened: str
    what_was_done: str
    what_it_cost: str
    details: str = ""
    last_at_ms: int | None = None
    """Of the newest time; None where there was one only."""
    count: int = 1
    """How often it happened in this episode."""

    @property
    def newest_at_ms(self) -> int:
        return self.at_ms if self.last_at_ms is None else self.last_at_ms

    @property
    def episode(self) -> tuple[str, int, Severity]:
        """The same for each time of one episode of a run."""
        return self.kind, self.at_ms, self.severity


@dataclass(frozen=True, slots=True)
class TrainerReady:
    """The model is loaded; candles after `position_ms` are wanted. `layers` are named from input to output."""

    run_id: str
    device: str
    """For people: ``CPU, 1 thread`` or ``CUDA: <card>``."""
    step: int
    position_ms: int | None
    recorded_until_ms: int | None
    """Candles up to this one have their forecast in the record already: they are gone through again after a crash."""
    resumed_from: str | None
    """The checkpoint's id, or None for a new model."""
    parameters: int
    layers: tuple[str, ...] = ()
    uses_gpu: bool = False


@dataclass(frozen=True, slots=True)
class OnlineGain:
    """What learning was worth: the share of the loss that the model spares against its frozen twin (itself, as it was
    at least `needed` candles ago), both without the other experts, one candle ahead."""

    gain: Estimate
    """Close and range in equal parts."""
    close: Estimate
    range: Estimate
    age: int
    """Candles since the twin was the model; while it is less than `needed` there is no twin yet."""
    needed: int


@dataclass(frozen=True, slots=True)
class TrainerStatus:
    """The pulse: sent after each candle, and at least every 500 ms while training."""

    run_id: str
    state: TrainerState
    step: int
    candles: int
    position_ms: int | None
    steps_per_s: float | None
    """Of the newest steps; None where the last of them was ten seconds ago or more when this was told."""
    last_step_at_ms: int | None
    loss: LossSummary
    accuracy: AccuracySummary
    device: str
    learning_rate: float
    """The one in force: as it was set, times what rollbacks made of it; before the schedule."""
    clip_norm: float
    accuracy_apart: AccuracySummary | None = None
    """The scores of forecasts that do not count as the run's own: of catch-up and recovery in a live run."""
    online: OnlineGain | None = None
    """None where no twin is kept."""
    shares: ExpertShares | None = None
    """How the shown forecast was mixed."""


@dataclass(frozen=True, slots=True)
class TrainerFailed:
    """Training cannot go on by itself. `sentence` is for the banner, `details` for the log."""

    sentence: str
    details: str = ""
    by_breaker: bool = False
    """Nothing has to be mended first: trainers ended too often, so training is paused."""
    needs_room: bool = False
    """The disk is full: it can go on once there is room."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of one long work. `job_id` stays the same from the first report to the last, which has `done` at
    `total`, or `is_over` where the work was given up."""

    job_id: str
    title: str
    done: int
    total: int
    seconds_left: float | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class DriftFound:
    """The loss before learning has risen for longer than chance explains. No error: markets do that.

    Losses are geometric means, in the units of `StepDone.prequential_loss`.
    """

    run_id: str
    candle_open_time_ms: int
    """The candle at which it was certain."""
    step: int
    """The newest step then."""
    candles: int
    """The newest so many candles had higher losses."""
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
    """All that came of one candle, in order; one message on the pipe."""

    events: tuple[TrainerEvent, ...] = field(default=())
