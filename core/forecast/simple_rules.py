"""A forecast from the simple rules alone: the reference and the baselines, mixed by their prior trust, without a model.

It needs no training, so it is available as soon as there are candles.
"""

from __future__ import annotations

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.quantities import FloatArray, within_bounds
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.combination import Combination, prior
from core.forecast.history import History
from core.forecast.reference_forecast import REFERENCE_WINDOW


class SimpleRules:
    """Takes candles in order. Not calibrated: nothing has been scored yet."""

    def __init__(self, interval: Interval, horizons: int) -> None:
        self._history = History(interval, REFERENCE_WINDOW + horizons, horizons)
        self._baselines = BaselineExperts(self._history)
        self._mixture = Combination(prior(with_model=False), horizons)

    @property
    def position_ms(self) -> int | None:
        """The opening time of the newest candle taken."""
        return self._history.last_open_time_ms

    def observe(self, candle: Candle) -> None:
        """Take the next closed candle. Raises ValueError for one that is not later than the last."""
        self._history.append(candle)
        self._baselines.observe()

    def forecast(self) -> FloatArray:
        """Quantiles of the candles after the newest one, natural units: [H, Q, L]. Requires at least one candle."""
        mixed = self._mixture.predict(self._baselines.quantiles())
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        factor, offset = (units[0][..., None] for units in self._history.units(newest))
        return within_bounds(offset + factor * mixed)
