"""What learning was worth: the losses of the model beside those of its frozen twin. No torch."""

from __future__ import annotations

from core.domain.events import Estimate
from core.domain.quantities import FloatArray
from core.forecast.score import skill


def gains(losses: FloatArray, horizon: int = 1) -> tuple[Estimate, Estimate, Estimate]:
    """Both in equal parts, close, range. losses: [n, 4] in time order: model and twin for the close, for the range."""
    close, close_twin, spread, spread_twin = losses.T
    parts = skill(close, close_twin, horizon), skill(spread, spread_twin, horizon)
    n = losses.shape[0]
    if any(part.value is None for part in parts):
        return Estimate(None, None, None, n), *parts
    close_unit, spread_unit = close_twin.mean(), spread_twin.mean()
    twins = close_twin / close_unit + spread_twin / spread_unit
    return skill(close / close_unit + spread / spread_unit, twins, horizon), *parts
