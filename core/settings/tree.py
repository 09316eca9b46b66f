"""The settings tree: typed, described, with ranges and units; one JSON file that a person can read.

A settings file never stops a start: a key that is unknown, of the wrong type or out of range is dropped, the
default is used, and `load` reports it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, field_validator, model_validator
from pydantic.dataclasses import dataclass

from core.domain.challenger_sources import column_of, names_of
from core.domain.venue_names import next_venue
from core.files.durable import write_durably
from core.settings.devices import DEVICES, DeviceName
from core.settings.group import CONFIG, OWN_DIALOG, SECRET, VenueId, all_field_infos, setting
from core.settings.paper import PaperSettings
from core.settings.record import BackupSettings, RecordSettings
from core.settings.repair import validated
from core.settings.window import (
    AppearanceSettings,
    BrowserSettings,
    ChartSettings,
    NotificationSettings,
    WatchlistSettings,
)


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class MarketSettings:
    """The watched market, and the source of its candles."""

    feed: Literal["auto", "live", "replay", "sample", "simulate", "stored"] = setting(
        "auto",
        "Feed",
        "Source of candles. auto: live if the exchange answers, else the sample. stored: only what is stored already.",
    )
    venue: str = setting("binance", "Exchange", "The exchange's ccxt id.")
    symbol: str = setting("BTC/USDT", "Symbol", "The market's symbol, as ccxt writes it.")
    interval: str = setting("1m", "Interval", "Candle length: 1m, 5m, 15m, 1h, 4h, 1d.")
    file: str | None = setting(None, "File", "The candle file to replay.")
    replayed_as: str | None = setting(None, "Replayed as", "Symbol of the replay; none: the newest.", **OWN_DIALOG)
    joined_to: str | None = setting(None, "Joined to", "The length to which its candles are joined.", **OWN_DIALOG)
    asks_finer: bool = setting(True, "Finer candles", "Also ask for the minutes inside candles of 5m to 1h.")
    inside: str | None = setting(None, "Inside", "A file of finer candles of the same market.", **OWN_DIALOG)
    speed: float | None = setting(
        None,
        "Speed",
        "Candles per second. 0 or not set: as fast as possible; but a simulation without --candles runs in real time, "
        "and a replay in the window, if not set, at 2.",
        ge=0.0,
        unit="candles/s",
    )
    catch_up_candles: int = setting(1000, "Warm-up candles", "Closed candles to learn from first.", ge=0, le=20_000)
    fallback_venues: Annotated[tuple[VenueId, ...], Field(max_length=20)] = setting(
        ("binance", "kraken", "coinbase"),
        "Fallback exchanges",
        "Exchanges offered, in this order, when one fails. Never switched to automatically.",
        **OWN_DIALOG,
    )

    @field_validator("fallback_venues")
    @classmethod
    def _each_venue_once(cls, venues: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(venues)) < len(venues):
            raise ValueError("an exchange is in the fallback order more than once")
        return venues

    def next_venue(self) -> str | None:
        """The exchange to offer if this one fails; None if there is no other in the fallback order."""
        return next_venue(self.fallback_venues, self.venue)


ARCHITECTURE = ("name", "width", "layers", "heads", "context", "horizons", "activation")
"""The settings of a model with which its weights have to agree, as a checkpoint stores them."""


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class ModelSettings:
    """The transformer's size. A change starts a new run."""

    name: Literal["transformer"] = setting("transformer", "Name", "Architecture of the model.")
    width: int = setting(64, "Width", "Width of the residual stream.", ge=8, le=1024)
    layers: int = setting(2, "Number of layers", "Number of residual blocks.", ge=1, le=24)
    heads: int = setting(4, "Attention heads", "Attention heads; they divide the width.", ge=1, le=32)
    context: int = setting(64, "Context", "Candles that the model sees.", ge=8, le=512, unit="candles")
    horizons: int = setting(8, "Horizons", "Candles to forecast.", ge=1, le=64, unit="candles")
    activation: Literal["gelu", "relu", "silu", "tanh"] = setting(
        "gelu", "Activation", "Activation function of the feed-forward networks."
    )
    initialisation: Literal["torch", "by-activation"] = setting(
        "torch",
        "Initialisation",
        "Initial weights: torch's default, or He's for gelu, relu and silu and Xavier's for tanh.",
    )
    challengers: Annotated[tuple[str, ...], Field(max_length=8)] = setting(
        (),
        "Challengers",
        "Further models, tried on the same candles: gru, tcn, nlinear, an installed one, "
        "path/file.py:Class, or process:COMMAND.",
    )

    @field_validator("challengers")
    @classmethod
    def _each_has_its_own_name(cls, challengers: tuple[str, ...]) -> tuple[str, ...]:
        names = names_of(challengers)
        if challengers:
            from core.forecast.experts import EXPERTS, LOSS_ROWS, WITHOUT_CHALLENGERS  # noqa: PLC0415 - needs NumPy

            others = {column_of(each) for each in (*EXPERTS, *LOSS_ROWS, WITHOUT_CHALLENGERS, "combination")}
            if (taken := next((name for name in names if column_of(name) in others), None)) is not None:
                raise ValueError(f"{taken} is the name of a forecast that every run has; give the class another")
        return challengers

    @model_validator(mode="after")
    def _heads_divide_width(self) -> ModelSettings:
        if self.width % self.heads:
            raise ValueError(
                f"{self.heads} heads do not divide a width of {self.width}; "
                "choose a width that is a multiple of the heads"
            )
        return self


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class TrainingSettings:
    """How the model learns."""

    host: Literal["process", "thread"] = setting(
        "process", "Trainer runs in", "Where training runs: in a child process, or in the worker thread."
    )
    device: DeviceName = setting(
        "auto", "Device", "auto: CUDA if available. cuda:1: the second GPU, as torch counts.", examples=DEVICES
    )
    seed: int | None = setting(
        None,
        "Seed",
        "Makes a run reproducible: one thread, and no wall-clock time in any decision.",
        ge=0,
        le=2**63 - 1,
    )
    learning_rate: float = setting(
        3e-5,
        "Learning rate",
        "AdamW's learning rate; for several markets times the root of their number, at most four.",
        gt=0.0,
        le=1.0,
    )
    weight_decay: float = setting(0.01, "Weight decay", "AdamW's decoupled weight decay.", ge=0.0, le=1.0)
    schedule: Literal["constant", "cosine", "plateau", "adaptive"] = setting(
        "adaptive",
        "Schedule",
        "Learning rate after the warm-up. adaptive: halved where learning did harm; cosine: falls to a "
        "tenth; plateau: halved when the loss stops falling.",
    )
    warmup_steps: int = setting(0, "Warm-up steps", "Steps over which the rate rises from 0.", ge=0, le=100_000)
    schedule_steps: int = setting(
        10_000,
        "Schedule steps",
        "Length of the cosine. For plateau: steps over which the loss is averaged; three means in a row "
        "without progress halve the rate.",
        ge=10,
        le=10_000_000,
    )
    ema_decay: float = setting(
        0.0,
        "Weight average decay",
        "Decay of the averaged weights used for forecasts; 0: use the newest weights.",
        ge=0.0,
        lt=1.0,
    )
    precision: Literal["float32", "bfloat16", "float16"] = setting(
        "float32", "Precision", "Precision of the forward pass; the weights stay float32."
    )
    recompute_activations: bool = setting(
        False,
        "Recompute activations",
        "Gradient checkpointing: saves memory in deep models by computing the forward pass twice.",
    )
    threads: int = setting(
        0, "Threads", "CPU threads of the trainer; 0: chosen by a short measurement.", ge=0, le=64, unit="threads"
    )
    cuda_graphs: bool = setting(
        True, "CUDA graphs", "On a GPU, run each step as one CUDA graph if the result is the same."
    )
    start_from: Literal["newest", "none"] = setting(
        "newest",
        "Start from",
        "Starting point of a new run. newest: the newest pretrained model that fits; none: a new model.",
    )
    duty_percent: int = setting(
        100, "Time for training (%)", "Share of time for training; less keeps the desktop responsive.", ge=5, le=100
    )
    replay_samples: int = setting(
        31,
        "Replay samples",
        "Older samples trained on with the newest one; several markets share them.",
        ge=0,
        le=1023,
    )
    replay_window: int = setting(
        2048, "Replay window", "Newest candles that replay draws from.", ge=64, le=65_536, unit="candles"
    )
    shrinkage: float = setting(
        0.1,
        "Shrinkage",
        "Penalty on a correction in the loss: its square times the horizon, times this; for several markets a fifth, "
        "and the horizon squared. 0: none.",
        ge=0.0,
        le=10.0,
    )
    poor_forecast_weight: float = setting(
        1.0,
        "Weight of poor forecasts",
        "Loss weight of a sample whose forecast was worse than usual; 1: off. Values above 1 lowered the skill.",
        ge=1.0,
        le=10.0,
    )
    wrong_direction_weight: float = setting(
        1.0,
        "Weight of wrong directions",
        "Loss weight of the close where the forecast's direction was wrong; 1: off. Values above 1 lowered the skill.",
        ge=1.0,
        le=10.0,
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class OnlineSettings:
    """Monitoring of continuous learning."""

    drift: Literal["off", "mark", "learn"] = setting(
        "learn",
        "Response to drift",
        "Reaction to a lasting rise of the loss. off: not detected; mark: a mark on the loss "
        "curve; learn: a mark, and a learning rate three times as high, which falls back over 300 steps.",
    )
    twin_age: int = setting(
        2000,
        "Reference model age (candles)",
        "Age in candles of the frozen reference model, against which online learning is measured; 0: off.",
        ge=0,
        le=100_000,
        unit="candles",
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class GradientSettings:
    """Processing of gradients between the backward pass and the optimizer."""

    clip_mode: Literal["norm", "value", "layer", "adaptive", "off", "observe"] = setting(
        "norm",
        "Clip mode",
        "norm: the total 2-norm; value: each number; layer: each layer's norm; adaptive: a percentile of "
        "recent norms; off: no clipping; observe: only report when norm would have clipped.",
    )
    clip_norm: float = setting(
        1.0,
        "Clip threshold",
        "The threshold for the 2-norm of all gradients (clip modes norm and observe), of each layer's "
        "(layer), or of all until enough norms are known (adaptive).",
        gt=0.0,
        le=1e6,
    )
    clip_value: float = setting(
        0.5, "Clip value", "Largest absolute value of each gradient number, for clip mode value.", gt=0.0, le=1e6
    )
    clip_percentile: float = setting(
        90.0,
        "Adaptive percentile",
        "The percentile of recent norms, for clip mode adaptive.",
        ge=1.0,
        le=100.0,
        unit="%",
    )
    accumulation: int = setting(
        1,
        "Micro-batches per step",
        "Micro-batches per step: less memory, same result.",
        ge=1,
        le=64,
        unit="micro-batches",
    )
    noise: float = setting(
        0.0, "Gradient noise", "Standard deviation of noise added before clipping; 0: none.", ge=0.0, le=1.0
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class RecoverySettings:
    """Recovery from failed steps."""

    spike_action: Literal["mark", "clip", "skip"] = setting(
        "mark",
        "Response to a loss spike",
        "Response to a loss spike: only a mark, a tenth of the clip threshold, or no step.",
    )
    spike_factor: float = setting(
        4.0,
        "Loss spike threshold (× median)",
        "A loss of this many times the running median is a spike.",
        ge=1.5,
        le=1000.0,
    )
    skips_before_rollback: int = setting(
        3, "Skips before a rollback", "Consecutive skipped steps before a rollback.", ge=1, le=100, unit="steps"
    )
    rollbacks: int = setting(
        3, "Rollbacks before a pause", "Rollbacks within the window before training pauses.", ge=0, le=100
    )
    rollback_window_steps: int = setting(
        1000, "Rollback window (steps)", "Steps over which rollbacks are counted.", ge=10, le=1_000_000
    )
    hang_seconds: float = setting(
        30.0, "Trainer timeout (s)", "Silence after which the trainer process is restarted.", ge=1.0, le=3600.0
    )
    challenger_deadline_ms: int = setting(
        1000,
        "Deadline of challengers (ms)",
        "How long a live run waits for the forecast of a challenger process.",
        ge=50,
        le=10_000,
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class CheckpointSettings:
    """The schedule and retention of checkpoints: a checkpoint is kept if any rule keeps it. The best, pinned, newest
    and used ones are always kept."""

    every_steps: int = setting(
        10, "Steps between checkpoints", "Steps between checkpoints; more for five markets or more.", ge=1, le=100_000
    )
    catch_up_seconds: float = setting(
        2.0, "Catch-up interval (s)", "Least time between checkpoints while catching up.", ge=0.0, le=600.0
    )
    keep_newest: int = setting(5, "Keep newest", "Newest checkpoints to keep.", ge=2, le=1000, unit="checkpoints")
    keep_best: int = setting(3, "Keep best", "Best checkpoints to keep.", ge=1, le=1000, unit="checkpoints")
    keep_every_steps: int = setting(
        1000, "Keep one every (steps)", "Keep one checkpoint per this many steps; 0: off.", ge=0, le=10_000_000
    )
    keep_hours: int = setting(
        0, "Keep all younger than (hours)", "Keep all checkpoints younger than this; 0: off.", ge=0, le=87_600
    )
    undo_minutes: int = setting(
        10, "Undo deletions for (min)", "How long a manually deleted checkpoint can be restored.", ge=0, le=10_080
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class Settings:
    """All settings."""

    market: MarketSettings = Field(default_factory=MarketSettings)
    model: ModelSettings = Field(default_factory=ModelSettings)
    training: TrainingSettings = Field(default_factory=TrainingSettings)
    online: OnlineSettings = Field(default_factory=OnlineSettings)
    gradients: GradientSettings = Field(default_factory=GradientSettings)
    recovery: RecoverySettings = Field(default_factory=RecoverySettings)
    checkpoints: CheckpointSettings = Field(default_factory=CheckpointSettings)
    backups: BackupSettings = Field(default_factory=BackupSettings)
    record: RecordSettings = Field(default_factory=RecordSettings)
    paper: PaperSettings = Field(default_factory=PaperSettings, title="Paper score")
    chart: ChartSettings = Field(default_factory=ChartSettings)
    appearance: AppearanceSettings = Field(default_factory=AppearanceSettings)
    watchlist: WatchlistSettings = Field(default_factory=WatchlistSettings, title="Markets")
    browser: BrowserSettings = Field(default_factory=BrowserSettings)
    notifications: NotificationSettings = Field(default_factory=NotificationSettings)


_ADAPTER = TypeAdapter(Settings)


def to_dict(settings: Settings) -> dict[str, Any]:
    plain: dict[str, Any] = _ADAPTER.dump_python(settings, mode="json")
    return plain


def to_record(settings: Settings) -> dict[str, Any]:
    """Plain data without secrets: everything stored with a run is in every backup."""
    plain = to_dict(settings)
    for group, values in plain.items():
        for name, info in all_field_infos(type(getattr(settings, group))).items():
            if info.json_schema_extra == SECRET:
                del values[name]
    return plain


def model_to_dict(model: ModelSettings) -> dict[str, Any]:
    """One group as plain data. Challengers are included only if there are any: the data that identifies older settings
    stays as it was."""
    plain: dict[str, Any] = TypeAdapter(ModelSettings).dump_python(model, mode="json")
    if not model.challengers:
        del plain["challengers"]
    return plain


def from_dict(data: object) -> tuple[Settings, tuple[str, ...]]:
    """Build settings from plain data. Returns them with one warning for each dropped key."""
    if not isinstance(data, dict):
        return Settings(), ("The settings are not a table of names and values; defaults are used.",)
    return validated(_ADAPTER, data, Settings())


def load(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """Read the file at `path`. A missing file means defaults without a warning, a broken one with a warning."""
    try:
        return from_dict(json.loads(path.read_text(encoding="utf-8-sig")))  # some editors write a byte order mark
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, ValueError, RecursionError) as error:
        return Settings(), (f"{path.name} cannot be read ({error}); defaults are used.",)


def save(settings: Settings, path: Path) -> None:
    """Write the file atomically: a reader sees the old settings or the new ones. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, f"{json.dumps(to_dict(settings), indent=2)}\n".encode())
