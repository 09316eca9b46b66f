"""Rows of the training record, one frozen dataclass per table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ForecastMode
from core.domain.quantities import Quantity
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import Quantiles


@dataclass(frozen=True, slots=True, eq=False)
class StoredForecast:
    """A committed forecast, with everything needed for its scores.

    quantiles: as shown, and the inputs of the combination. scale: the volatility, their unit. The arrays are read-only
    when they come from the database.
    """

    origin_open_time_ms: int
    inputs_until_ms: int
    made_at_ms: int
    mode: ForecastMode
    step: int
    checkpoint_id: str | None
    origin_close: float
    scale: float
    quantiles: Quantiles

    @property
    def horizons(self) -> int:
        return len(self.quantiles.shown)


@dataclass(frozen=True, slots=True)
class ChallengerWork:
    """The work of a challenger. candles: the candles at which it was called. cost_ms: the total. asked, answered: due
    forecasts of one market, also while it was left out, and returned ones."""

    candles: int = 0
    cost_ms: float = 0.0
    asked: int = 0
    answered: int = 0

    def __add__(self, other: ChallengerWork) -> ChallengerWork:
        return ChallengerWork(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class ChallengerFigures:
    """Figures of one model of a run; None before the first candle."""

    cost_ms: float | None
    """Mean cost for one candle of one market, with its forecasts and its steps."""
    answered: float | None
    """The share of due forecasts, of all markets, that it returned."""


@dataclass(frozen=True, slots=True)
class StoredScore:
    """The score of one horizon of a forecast; fields as in `core.domain.events.ForecastScored`.
    overlap: see `core.forecast.ghosts.overlap`.

    version: 1, plus 1 for each correction of the target after it was scored.
    """

    origin_open_time_ms: int
    horizon: int
    target_open_time_ms: int
    mode: ForecastMode
    after_gap: bool
    loss: float
    model_loss: float
    reference_loss: float
    range_loss: float
    range_model_loss: float
    range_reference_loss: float
    inside_50: bool
    inside_90: bool
    direction_hit: bool | None
    overlap: float
    reference_overlap: float
    scored_at_ms: int
    version: int = 1
    expert_losses: bytes = b""
    """Losses of every expert, see `core.forecast.experts.pack_losses`; empty for a corrected candle."""
    regime: RegimeProbabilities | None = None
    """The market's regime at the origin; stored with the forecast's conditions, not with the score. None for old
    forecasts."""
    twin_loss: float | None = None
    """The reference model's loss, to compare with `model_loss`; None without that model, and for a corrected candle."""
    range_twin_loss: float | None = None
    body_loss: float | None = None
    """A loss of the shown forecast, like `loss` for the close and `range_loss` for the range; also the three below."""
    upper_wick_loss: float | None = None
    lower_wick_loss: float | None = None
    volume_loss: float | None = None
    """None for a corrected candle."""


SHOWN_LOSSES: dict[Quantity, str] = {
    Quantity.CLOSE: "loss",
    Quantity.BODY: "body_loss",
    Quantity.UPPER_WICK: "upper_wick_loss",
    Quantity.LOWER_WICK: "lower_wick_loss",
    Quantity.RANGE: "range_loss",
    Quantity.VOLUME: "volume_loss",
}
"""The fields of a score with the shown forecast's loss on each quantity."""
ONLINE_LOSSES = ("model_loss", "range_model_loss", "twin_loss", "range_twin_loss")
"""Losses of the model and of the reference model."""


@dataclass(frozen=True, slots=True, eq=False)
class PastRows:
    """Scored forecasts of one horizon, as columns of n rows, ascending by target; one row per target.

    quantiles: [n, quantity, level], as shown. before: [n], the median close return of the horizon before; 0 for
    the first horizon, NaN if it is not in the record. direction_hit: 1 hit, 0 missed, -1 not counted.
    """

    target_open_time_ms: NDArray[np.int64]
    origin_open_time_ms: NDArray[np.int64]
    made_at_ms: NDArray[np.int64]
    step: NDArray[np.int64]
    mode: tuple[ForecastMode, ...]
    checkpoint_id: tuple[str | None, ...]
    origin_close: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    before: NDArray[np.float64]
    after_gap: NDArray[np.bool_]
    inside_50: NDArray[np.bool_]
    inside_90: NDArray[np.bool_]
    direction_hit: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.target_open_time_ms)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionRows:
    """Market regimes at n candles, ascending. regimes: [n, 3], in the order of `core.domain.regimes.Regime`;
    next_regimes: [n, 3], what the model then forecast for the next candle, NaN where it gave none."""

    open_time_ms: NDArray[np.int64]
    regimes: NDArray[np.float64]
    next_regimes: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.open_time_ms)


@dataclass(frozen=True, slots=True)
class Counts:
    """The sizes of the record.

    candles: those from which a forecast was made. scored: targets with a score at horizon 1.
    forecasts: rows, so one for each horizon.
    """

    candles: int
    scored: int
    steps: int
    forecasts: int
    checkpoints_saved: int
    checkpoints_kept: int
