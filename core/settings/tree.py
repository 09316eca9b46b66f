"""The settings tree: typed, described, with ranges and units; one JSON file that a person can read.

A settings file never stops a start: a key that is unknown, of the wrong type or out of range is dropped, the
default is used, and `load` reports it.
"""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, field_validator, model_validator
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from core.domain.challenger_sources import names_of
from core.domain.fallback_exchange import next_venue
from core.files.durable import write_durably
from core.settings.group import CONFIG, OWN_DIALOG, SECRET, VenueId
from core.settings.paper import PaperSettings
from core.settings.repair import read_json, validated
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

    feed: Literal["auto", "live", "replay", "simulate", "stored"] = Field(
        default="auto",
        description="Source of candles. auto: live if the exchange answers, else the sample. stored: only what is "
        "stored already.",
    )
    venue: str = Field(default="binance", description="The exchange's ccxt id.")
    symbol: str = Field(default="BTC/USDT", description="The market's symbol, as ccxt writes it.")
    interval: str = Field(default="1m", description="Candle length: 1m, 5m, 15m, 1h, 4h, 1d.")
    file: str | None = Field(default=None, description="The candle file to replay.")
    speed: float | None = Field(
        default=None,
        ge=0.0,
        description="Candles per second; 0: as fast as possible. Not set: a replay runs at 2 in the window and as fast "
        "as it goes without one, a simulation in real time.",
    )
    catch_up_candles: int = Field(
        default=1000, ge=0, le=20_000, description="Closed candles to learn from at the start."
    )
    fallback_venues: Annotated[tuple[VenueId, ...], Field(max_length=20)] = Field(
        default=("binance", "kraken", "coinbase"),
        description="Exchanges offered, in this order, when one fails. Never switched to automatically.",
        json_schema_extra=OWN_DIALOG,
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


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class ModelSettings:
    """The transformer's size. A change starts a new run."""

    name: Literal["transformer"] = Field(default="transformer", description="Architecture of the model.")
    width: int = Field(default=64, ge=8, le=1024, description="Width of the residual stream.")
    layers: int = Field(default=2, ge=1, le=24, description="Number of residual blocks.")
    heads: int = Field(default=4, ge=1, le=32, description="Attention heads; they divide the width.")
    context: int = Field(default=64, ge=8, le=512, description="Candles that the model sees.")
    horizons: int = Field(default=8, ge=1, le=64, description="Candles to forecast.")
    activation: Literal["gelu", "relu", "silu", "tanh"] = Field(
        default="gelu", description="Activation function of the feed-forward networks."
    )
    initialisation: Literal["torch", "by-activation"] = Field(
        default="torch",
        description="Initial weights: torch's default, or He's for gelu, relu and silu and Xavier's for tanh.",
    )
    challengers: Annotated[tuple[str, ...], Field(max_length=8)] = Field(
        default=(),
        description="Further models, tried on the same candles: gru, tcn, nlinear, an installed one, "
        "path/file.py:Class, or process:COMMAND.",
    )

    @field_validator("challengers")
    @classmethod
    def _each_has_its_own_name(cls, challengers: tuple[str, ...]) -> tuple[str, ...]:
        names = names_of(challengers)
        if challengers:
            from core.forecast.experts import EXPERTS  # noqa: PLC0415 - it needs NumPy

            if (taken := next((name for name in names if name in EXPERTS), None)) is not None:
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

    host: Literal["process", "thread"] = Field(
        default="process", description="Where training runs: in a child process, or in the worker thread."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto uses CUDA if available.")
    seed: int | None = Field(
        default=None,
        ge=0,
        le=2**63 - 1,
        description="Makes a run reproducible: one thread, and no wall-clock time in any decision.",
    )
    learning_rate: float = Field(default=3e-5, gt=0.0, le=1.0, description="AdamW's learning rate.")
    weight_decay: float = Field(default=0.01, ge=0.0, le=1.0, description="AdamW's decoupled weight decay.")
    schedule: Literal["constant", "cosine", "plateau", "adaptive"] = Field(
        default="adaptive",
        description=(
            "Learning rate after the warm-up. adaptive: halved where learning did harm; cosine: falls to a "
            "tenth; plateau: halved when the loss stops falling."
        ),
    )
    warmup_steps: int = Field(default=0, ge=0, le=100_000, description="Steps over which the rate rises from 0.")
    schedule_steps: int = Field(
        default=10_000,
        ge=10,
        le=10_000_000,
        description=(
            "Length of the cosine. For plateau: steps over which the loss is averaged; three means in a row "
            "without progress halve the rate."
        ),
    )
    ema_decay: float = Field(
        default=0.0,
        ge=0.0,
        lt=1.0,
        description="Decay of the averaged weights used for forecasts; 0: use the newest weights.",
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        default="float32", description="Precision of the forward pass; the weights stay float32."
    )
    recompute_activations: bool = Field(
        default=False,
        description="Gradient checkpointing: saves memory in deep models by computing the forward pass twice.",
    )
    threads: int = Field(
        default=0, ge=0, le=64, description="CPU threads of the trainer; 0: chosen by a short measurement."
    )
    cuda_graphs: bool = Field(
        default=True, description="On a GPU, run each step as one CUDA graph if the result is the same."
    )
    start_from: Literal["newest", "none"] = Field(
        default="newest",
        description="Starting point of a new run. newest: the newest pretrained model that fits; none: a new model.",
    )
    duty_percent: int = Field(
        default=100, ge=5, le=100, description="Share of time for training; less keeps the desktop responsive."
    )
    replay_samples: int = Field(default=31, ge=0, le=1023, description="Older samples trained on with the newest one.")
    replay_window: int = Field(default=2048, ge=64, le=65_536, description="Newest candles that replay draws from.")
    shrinkage: float = Field(
        default=0.1,
        ge=0.0,
        le=10.0,
        description="Penalty on a correction in the loss: its square times the horizon, times this; 0: none.",
    )
    poor_forecast_weight: float = Field(
        default=1.0,
        ge=1.0,
        le=10.0,
        description=(
            "Loss weight of a sample whose forecast was worse than usual; 1: off. Values above 1 lowered the skill."
        ),
    )
    wrong_direction_weight: float = Field(
        default=1.0,
        ge=1.0,
        le=10.0,
        description=(
            "Loss weight of the close where the forecast's direction was wrong; 1: off. Values above 1 "
            "lowered the skill."
        ),
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class OnlineSettings:
    """Monitoring of continuous learning."""

    drift: Literal["off", "mark", "learn"] = Field(
        default="learn",
        description="Reaction to a lasting rise of the loss. off: not detected; mark: a mark on the loss "
        "curve; learn: a mark, and a learning rate three times as high, which falls back over 300 steps.",
    )
    twin_age: int = Field(
        default=2000,
        ge=0,
        le=100_000,
        description="Age in candles of the frozen reference model, against which online learning is measured; 0: off.",
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class GradientSettings:
    """Processing of gradients between the backward pass and the optimizer."""

    clip_mode: Literal["norm", "value", "layer", "adaptive", "off", "observe"] = Field(
        default="norm",
        description=(
            "norm: the total 2-norm; value: each number; layer: each layer's norm; adaptive: a percentile of "
            "recent norms; off: no clipping; observe: only report when norm would have clipped."
        ),
    )
    clip_norm: float = Field(
        default=1.0,
        gt=0.0,
        le=1e6,
        description="The threshold for the 2-norm of all gradients (clip modes norm and observe), of each layer's "
        "(layer), or of all until enough norms are known (adaptive).",
    )
    clip_value: float = Field(
        default=0.5,
        gt=0.0,
        le=1e6,
        description=("Largest absolute value of each gradient number, for clip mode value."),
    )
    clip_percentile: float = Field(
        default=90.0, ge=1.0, le=100.0, description="The percentile of recent norms, for clip mode adaptive."
    )
    accumulation: int = Field(default=1, ge=1, le=64, description="Micro-batches per step: less memory, same result.")
    noise: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Standard deviation of noise added before clipping; 0: none."
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class RecoverySettings:
    """Recovery from failed steps."""

    spike_action: Literal["mark", "clip", "skip"] = Field(
        default="mark",
        description="Response to a loss spike: only a mark, a tenth of the clip threshold, or no step.",
    )
    spike_factor: float = Field(
        default=4.0, ge=1.5, le=1000.0, description="A loss of this many times the running median is a spike."
    )
    skips_before_rollback: int = Field(
        default=3, ge=1, le=100, description="Consecutive skipped steps before a rollback."
    )
    rollbacks: int = Field(default=3, ge=0, le=100, description="Rollbacks within the window before training pauses.")
    rollback_window_steps: int = Field(
        default=1000, ge=10, le=1_000_000, description="Steps over which rollbacks are counted."
    )
    hang_seconds: float = Field(
        default=30.0,
        ge=1.0,
        le=3600.0,
        description="Silence after which the trainer process is restarted.",
    )
    challenger_deadline_ms: int = Field(
        default=1000,
        ge=50,
        le=10_000,
        description="How long the forecast of a challenger in a process is waited for in a live run.",
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class CheckpointSettings:
    """When checkpoints are written, and which are kept: a checkpoint is kept if any rule keeps it. The best, pinned,
    newest and used ones are always kept."""

    every_steps: int = Field(default=10, ge=1, le=100_000, description="Steps between checkpoints.")
    catch_up_seconds: float = Field(
        default=2.0, ge=0.0, le=600.0, description="Least time between checkpoints while catching up."
    )
    keep_newest: int = Field(default=5, ge=2, le=1000, description="Newest checkpoints to keep.")
    keep_best: int = Field(default=3, ge=1, le=1000, description="Best checkpoints to keep.")
    keep_every_steps: int = Field(
        default=1000, ge=0, le=10_000_000, description="Keep one checkpoint per this many steps; 0: off."
    )
    keep_hours: int = Field(default=0, ge=0, le=87_600, description="Keep all checkpoints younger than this; 0: off.")
    undo_minutes: int = Field(
        default=10,
        ge=0,
        le=10_080,
        description="How long a manually deleted checkpoint can be restored.",
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class BackupSettings:
    """Verified copies of the database, with the checkpoints needed to continue from it."""

    every_hours: int = Field(
        default=6, ge=0, le=8760, description="Hours between backups, if there are changes; 0: off."
    )
    keep: int = Field(default=3, ge=1, le=100, description="Newest backups to keep, besides the most complete one.")


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class RecordSettings:
    """How much of a run's record is kept. Displayed forecasts and all scores are kept permanently."""

    keep_detail_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days of candles whose exact forecasts, experts' losses and gradients are kept; 0: all.",
    )
    keep_detail_candles: int = Field(
        default=20_000,
        ge=1_000,
        le=100_000_000,
        description="Newest candles whose details are kept, regardless of their age.",
    )


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class Settings:
    """All settings."""

    market: MarketSettings = field(default_factory=MarketSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    online: OnlineSettings = field(default_factory=OnlineSettings)
    gradients: GradientSettings = field(default_factory=GradientSettings)
    recovery: RecoverySettings = field(default_factory=RecoverySettings)
    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    backups: BackupSettings = field(default_factory=BackupSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    paper: PaperSettings = field(default_factory=PaperSettings)
    chart: ChartSettings = field(default_factory=ChartSettings)
    appearance: AppearanceSettings = field(default_factory=AppearanceSettings)
    watchlist: WatchlistSettings = field(default_factory=WatchlistSettings)
    browser: BrowserSettings = field(default_factory=BrowserSettings)
    notifications: NotificationSettings = field(default_factory=NotificationSettings)


_ADAPTER = TypeAdapter(Settings)


def to_dict(settings: Settings) -> dict[str, Any]:
    """The tree as plain data for JSON."""
    plain: dict[str, Any] = _ADAPTER.dump_python(settings, mode="json")
    return plain


def to_record(settings: Settings) -> dict[str, Any]:
    """The same without secrets: what is stored with a run is in every backup."""
    plain = to_dict(settings)
    for group, values in plain.items():
        described: dict[str, FieldInfo] = vars(type(getattr(settings, group)))["__pydantic_fields__"]
        for name in [name for name, info in described.items() if info.json_schema_extra == SECRET]:
            del values[name]
    return plain


def model_to_dict(model: ModelSettings) -> dict[str, Any]:
    """One group as plain data. Challengers only where there are any: what identifies older settings stays as it was."""
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
    """Read the file at `path`. A missing file gives defaults without a warning, a broken one with a warning."""
    try:
        return from_dict(read_json(path))
    except FileNotFoundError:
        return Settings(), ()
    except ValueError as error:
        return Settings(), (f"{path.name} cannot be read ({error}); defaults are used.",)


def save(settings: Settings, path: Path) -> None:
    """Write the file atomically: a reader sees the old settings or the new ones. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, f"{json.dumps(to_dict(settings), indent=2)}\n".encode())
