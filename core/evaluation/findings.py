"""What was found: frozen, so that a thread may hand it to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity

OVERALL = "overall"
"""The group of all candles that count."""
AFTER_GAP = "after a gap"
"""The group of those that count nowhere else: a hole or a session break lies between forecast and target."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be looked at closely: a horizon, and which candles."""

    horizon: int = 1
    group: str = OVERALL


@dataclass(frozen=True, slots=True)
class ExpertLoss:
    """Mean pinball losses of one expert alone, over the candles that count; NaN-free: None where it does not speak.

    skill: 1 - loss / loss of the reference.
    """

    name: str
    close: float | None
    close_skill: float | None
    range: float | None
    range_skill: float | None


@dataclass(frozen=True, slots=True)
class QuantityAccuracy:
    """The close or the range, at one horizon; what `evaluate` calls `pinball`."""

    n: int
    loss: float | None
    """Mean pinball loss of what was shown."""
    skill: Estimate
    best_baseline: str | None
    """Of the single baselines the one that lost least; known in hindsight only."""
    skill_vs_best: Estimate
    skill_without_model: float | None
    model_gain: Estimate


@dataclass(frozen=True, slots=True)
class DrawnAccuracy:
    """Something else that ghosts show: the skill of what was shown, over the candles whose score holds its loss.

    is_stored: False where candles count, but their scores are from before it was stored.
    """

    quantity: Quantity
    skill: Estimate
    is_stored: bool


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """[k] points over time, thinned; empty where too few candles count."""

    target_open_time_ms: NDArray[np.int64]
    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class HorizonAccuracy:
    """One horizon, one group of candles: all that there is to say."""

    request: Request
    n: int
    close: QuantityAccuracy
    range: QuantityAccuracy
    also_drawn: tuple[DrawnAccuracy, ...]
    """Body, upper wick, lower wick and volume."""
    experts: tuple[ExpertLoss, ...]
    """What was shown, the same without the model, then each expert."""
    direction: Estimate
    reverse_last: Estimate
    majority: Estimate
    coverage_50: Estimate
    coverage_90: Estimate
    worst_500: float | None
    best_500: float | None
    reliability: tuple[Estimate, ...]
    """How often the close came at or below each quantile that was shown, level by level."""
    coverage_curve: Curve
    """Of the 90 % band, over `COVERAGE_WINDOW` candles up to each."""
    error_curve: Curve
    """How far the close lay from its forecast, as a share of the price: the mean over `ERROR_WINDOW` candles."""
    no_change_curve: Curve
    """The same of "no change"."""
    spared_close: Curve
    """What each forecast spared of the reference's loss, added up, as a share of all of it: it ends at the skill."""
    spared_range: Curve


@dataclass(frozen=True, slots=True)
class HorizonSkill:
    """One row of the table of horizons."""

    horizon: int
    n: int
    close: Estimate
    range: Estimate
    model_gain_close: Estimate
    model_gain_range: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class RunAccuracy:
    """A run as `evaluate` would judge it now."""

    run_id: str
    left_out: int
    """Candles at the beginning that are not judged."""
    most: int
    """At most so many of the newest scores are looked at."""
    is_whole: bool
    """Whether each horizon was read to its end; else those that were not have no candles here."""
    groups: tuple[str, ...]
    """Which groups there are, `OVERALL` first."""
    horizons: tuple[HorizonSkill, ...]
    """Of the group that was asked for."""
    chosen: HorizonAccuracy
