"""Results of an evaluation: frozen, to be passed between threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity

OVERALL = "overall"
"""The group of all candles that count."""
AFTER_GAP = "after a gap"
"""The group of candles that count nowhere else: a gap or a session break lies between forecast and target."""


@dataclass(frozen=True, slots=True)
class Request:
    """The selection to show in detail: a horizon, and a group of candles."""

    horizon: int = 1
    group: str = OVERALL
    wants_touches: bool = False
    """Whether to assess the chances of prices too, which takes some seconds."""


@dataclass(frozen=True, slots=True)
class ExpertLoss:
    """Mean pinball losses of one expert alone, over the candles that count; None for quantities that it does not
    forecast.

    skill: 1 - loss / loss of the reference.
    """

    name: str
    close: float | None
    close_skill: float | None
    range: float | None
    range_skill: float | None


@dataclass(frozen=True, slots=True)
class QuantityAccuracy:
    """The close or the range, at one horizon, under `pinball` in `evaluate`."""

    n: int
    loss: float | None
    """Mean pinball loss of the shown forecast."""
    skill: Estimate
    best_baseline: str | None
    """The single baseline with the lowest loss; known in hindsight only."""
    skill_vs_best: Estimate
    skill_without_model: float | None
    model_gain: Estimate


@dataclass(frozen=True, slots=True)
class DrawnAccuracy:
    """Another quantity of ghosts: the skill of the shown forecast, over the candles whose score has its loss.

    is_stored: False if candles count, but no score of theirs has a loss on this quantity.
    """

    quantity: Quantity
    skill: Estimate
    is_stored: bool


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """[k] points over time, thinned; empty if too few candles count."""

    target_open_time_ms: NDArray[np.int64]
    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class HorizonAccuracy:
    """All statistics of one horizon and one group of candles."""

    request: Request
    n: int
    close: QuantityAccuracy
    range: QuantityAccuracy
    also_drawn: tuple[DrawnAccuracy, ...]
    """Body, upper wick, lower wick and volume."""
    experts: tuple[ExpertLoss, ...]
    """The shown forecast, the same without the model, then each expert."""
    direction: Estimate
    reverse_last: Estimate
    majority: Estimate
    coverage_50: Estimate
    coverage_90: Estimate
    worst_500: float | None
    best_500: float | None
    reliability: tuple[Estimate, ...]
    """How often the close was at or below each shown quantile, level by level."""
    coverage_curve: Curve
    """Coverage of the 90 % band over the last `COVERAGE_WINDOW` candles."""
    error_curve: Curve
    """Distance of the close from its forecast, as a share of the price: the mean over `ERROR_WINDOW` candles."""
    no_change_curve: Curve
    """The error curve of the forecast "no change"."""
    loss_reduction_close: Curve
    """Cumulative reduction of the reference's loss, as a share of its total: it ends at the skill."""
    loss_reduction_range: Curve


@dataclass(frozen=True, slots=True)
class HorizonSkill:
    """One row of the table of horizons."""

    horizon: int
    n: int
    close: Estimate
    range: Estimate
    model_gain_close: Estimate
    model_gain_range: Estimate


FEWEST_CASES = 200
"""Cases needed in a tenth to show its share: cases of one forecast, or of overlapping ones, are not independent."""


@dataclass(frozen=True, slots=True)
class Tenth:
    """The cases whose chance lay in one tenth. chance: their mean; None without a case. observed: how often it came."""

    cases: int
    chance: float | None
    observed: Estimate


@dataclass(frozen=True, slots=True)
class TouchAccuracy:
    """The accuracy of the chances that prices are touched within `within` candles. Brier scores are means over n
    forecasts, each with a case for each multiple of `core.evaluation.touches`; None with too few.

    brownian, climatology: the scores of a driftless Brownian path as wide as the reference, and of the observed
    frequencies, which are known in hindsight only. skill, skill_vs_climatology: 1 - brier / their score.
    reliability: by tenths of the chance.
    """

    within: int
    n: int
    brier: float | None
    brownian: float | None
    climatology: float | None
    skill: Estimate
    skill_vs_climatology: Estimate
    reliability: tuple[Tenth, ...]


@dataclass(frozen=True, slots=True)
class InsideAccuracy:
    """known: of so many candles, those with an inside. worth: what it added to HAR's skill of the range, one ahead."""

    candles: int
    known: int
    worth: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class RunAccuracy:
    """How accurate all of a run's own forecasts have been. Skills and gains of all candles one ahead are the figures of
    the run, which no deleted detail changes."""

    run_id: str
    left_out: int
    """The run's own candles that count in no other figure here: older than the newest `most`, corrected, or the detail
    of their scores was deleted."""
    most: int
    """The largest number of newest scores that are read."""
    is_whole: bool
    """Whether each horizon was read to its end; the others have no candles here."""
    groups: tuple[str, ...]
    """The existing groups, `OVERALL` first."""
    horizons: tuple[HorizonSkill, ...]
    """The horizons of the requested group."""
    chosen: HorizonAccuracy
    touched: TouchAccuracy | None = None
    """Chances of the newest forecasts that count, whatever the group; None if not requested, or not yet computed."""
    inside: InsideAccuracy | None = None
    """None of a run that has read no inside, and until computed."""


def estimate_data(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "ci95": found.ci95, "n": found.n}
