"""The gain from online learning: the model's losses against those of the reference model. No torch."""

from __future__ import annotations

from core.domain.events import Estimate
from core.domain.quantities import FloatArray
from core.forecast.score import skill


def gains(losses: FloatArray, horizon: int = 1) -> tuple[Estimate, Estimate, Estimate]:
    """Both in equal parts, close, range. losses: [n, 4] in time order: model and reference model, for close and
    range."""
    close, close_reference, spread, spread_reference = losses.T
    parts = skill(close, close_reference, horizon), skill(spread, spread_reference, horizon)
    n = losses.shape[0]
    if any(part.value is None for part in parts):
        return Estimate(None, None, None, n), *parts
    close_unit, spread_unit = close_reference.mean(), spread_reference.mean()
    both_references = close_reference / close_unit + spread_reference / spread_unit
    return skill(close / close_unit + spread / spread_unit, both_references, horizon), *parts
