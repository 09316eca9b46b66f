"""Commands from the window to the trainer. Frozen dataclasses: they cross a thread and a process."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.candle import Candle, Market
from core.domain.diagnosis import SettingChange
from core.domain.events import ForecastMode, Incident
from core.settings.tree import CheckpointSettings

EXIT = "exit"
"""The reason of a checkpoint that is written when training ends, if anything changed since the newest one."""


@dataclass(frozen=True, slots=True)
class MarketCandle:
    """A closed candle. `mode` is the resulting forecast's mode, before lateness is judged."""

    candle: Candle
    mode: ForecastMode
    market: Market


@dataclass(frozen=True, slots=True)
class ObserveClose:
    """The candles of one opening time, in the order of their markets; at least one."""

    candles: tuple[MarketCandle, ...]

    def mode_of_close(self, own_mode: ForecastMode) -> ForecastMode:
        """The mode of its candles: the run's own if any has it."""
        modes = [each.mode for each in self.candles]
        return own_mode if own_mode in modes else modes[0]


@dataclass(frozen=True, slots=True)
class SetLearningRate:
    """Use another learning rate from the next step on."""

    learning_rate: float


@dataclass(frozen=True, slots=True)
class SetClipNorm:
    """Use another clip threshold (total 2-norm) from the next step on."""

    clip_norm: float


@dataclass(frozen=True, slots=True)
class SetDuty:
    """Use another share of the time for training from the next step on, so that the desktop stays responsive."""

    percent: int


SETTING_COMMANDS: dict[tuple[str, str], type[SetLearningRate | SetClipNorm | SetDuty]] = {
    ("training", "learning_rate"): SetLearningRate,
    ("gradients", "clip_norm"): SetClipNorm,
    ("training", "duty_percent"): SetDuty,
}
"""The command that changes a setting of a running trainer, by the setting's group and name."""


@dataclass(frozen=True, slots=True)
class SetDevice:
    """Write a checkpoint and continue on another device, named as in the settings.

    The driver carries it out with a new host; it is never sent to a host.
    """

    device: str


@dataclass(frozen=True, slots=True)
class ShowMarket:
    """Another market of the run is on the chart: the ghosts of the simple rules are for it from now on.

    The driver carries it out; it is never sent to a host.
    """

    market: Market


@dataclass(frozen=True, slots=True)
class SetPaused:
    """A paused session scores and forecasts, but does not train; pausing writes a checkpoint."""

    paused: bool


@dataclass(frozen=True, slots=True)
class SetLearned:
    """Whether the model learns from this market of the run; it is forecast and scored either way. Kept with the
    run."""

    is_learned: bool
    market: Market


@dataclass(frozen=True, slots=True)
class StepOnce:
    """One extra training step on replayed samples, also while paused."""


@dataclass(frozen=True, slots=True)
class SaveCheckpoint:
    """Write a checkpoint now."""

    reason: str = "manual"


@dataclass(frozen=True, slots=True)
class RestoreCheckpoint:
    """Restore a checkpoint's model. The record of forecasts and scores is unchanged.

    set_back: the settings that earlier commands have set back with it.
    """

    checkpoint_id: str
    set_back: tuple[SettingChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplyDeletions:
    """Carry out the window's requests in the table `checkpoint_deletions`."""


@dataclass(frozen=True, slots=True)
class ForecastWith:
    """Forecast a market with these checkpoints. Nothing is learned, stored or changed.

    Clean-up and requested deletions spare them until the next such command, which may name none, or a restore.
    """

    checkpoint_ids: tuple[str, ...]
    market: Market


@dataclass(frozen=True, slots=True)
class ApplyRetention:
    """Apply these retention rules from now on; `at_once`: also clean up now."""

    rules: CheckpointSettings
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class RecordIncident:
    """Store an incident that only the driver could see, such as the end of the previous trainer."""

    incident: Incident


@dataclass(frozen=True, slots=True)
class RescoreCandle:
    """The stored candle with this open time was corrected: score its forecasts again. Nothing is learned."""

    open_time_ms: int
    market: Market


@dataclass(frozen=True, slots=True)
class StopSession:
    """Write a last checkpoint and end."""


BrowserCommand = ApplyDeletions | ForecastWith | ApplyRetention
"""Commands of the checkpoint browser."""
TrainerCommand = (
    ObserveClose
    | SetLearningRate
    | SetClipNorm
    | SetDuty
    | SetDevice
    | ShowMarket
    | SetPaused
    | SetLearned
    | StepOnce
    | SaveCheckpoint
    | RestoreCheckpoint
    | BrowserCommand
    | RecordIncident
    | RescoreCandle
    | StopSession
)
