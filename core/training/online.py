"""What learning was worth: the newest losses of the model beside those of its frozen twin. No torch."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from core.events import Estimate, OnlineGain
from core.forecast.quantities import FloatArray
from core.forecast.score import skill
from core.storage.records import StoredScore

ONLINE_WINDOW = 4_000


class OnlineLedger:
    """One-step losses of both over the newest candles that both forecast, of whatever mode: neither saw more than the
    other. Those after a gap are left out."""

    def __init__(self) -> None:
        self._losses: OrderedDict[int, tuple[float, float, float, float]] = OrderedDict()
        """By target: of the model and its twin, for the close; then for the range."""
        self._known: tuple[Estimate, Estimate, Estimate] | None = None

    def add(self, score: StoredScore) -> None:
        """Take the next one-step score, in time order; one without a twin changes nothing."""
        if score.twin_loss is None or score.range_twin_loss is None or score.after_gap:
            return
        self._known = None
        self._losses[score.target_open_time_ms] = (
            score.model_loss,
            score.twin_loss,
            score.range_model_loss,
            score.range_twin_loss,
        )
        if len(self._losses) > ONLINE_WINDOW:
            self._losses.popitem(last=False)

    def replace(self, score: StoredScore) -> None:
        """A target was corrected: what the twin said of it is gone, so it counts no more."""
        if self._losses.pop(score.target_open_time_ms, None) is not None:
            self._known = None

    def summary(self, age: int, needed: int) -> OnlineGain:
        """age, needed: see `OnlineGain`."""
        if self._known is None:
            self._known = gains(np.array(list(self._losses.values()), dtype=np.float64).reshape(-1, 4))
        return OnlineGain(*self._known, age=age, needed=needed)


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
