"""Adaptive conformal calibration: each quantile is moved until it is exceeded as often as it says.

Every level but the median has a log factor on its distance from the median. An outcome beyond the quantile widens
it, one within narrows it, by steps whose balance point is the nominal rate (Gibbs and Candes, 2021, in the
multiplicative form of quantile tracking, Angelopoulos et al., 2023). The factor acts on volatility-scaled units.

The rate trades noise for speed. On 9,000 candles of BTC 15m a rate of 0.05 cost 0.5 % of the close's pinball loss and
0.01 cost 0.1 %, with 86 % coverage in the worst 500 candles either way (90 % nominal).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.forecast.quantities import LEVELS, MEDIAN, QUANTITIES, FloatArray

_LARGEST_LOG_FACTOR = 2.0


class AdaptiveCalibration:
    """Log factors [horizon, quantity, level]; the median's stays 0."""

    def __init__(self, horizons: int, rate: float = 0.01) -> None:
        self._rate = rate
        self._log_factor = np.zeros((horizons, QUANTITIES, len(LEVELS)))

    def apply(self, quantiles: FloatArray) -> FloatArray:
        """Calibrated quantiles, ascending: [horizon, quantity, level] in and out."""
        median = quantiles[..., MEDIAN : MEDIAN + 1]
        return np.sort(median + np.exp(self._log_factor) * (quantiles - median), axis=-1)

    def update(self, horizon: int, shown: FloatArray, outcome: FloatArray) -> None:
        """Learn from one outcome. shown: the quantiles that were shown [quantity, level]; outcome: [quantity]."""
        is_lower, is_upper = LEVELS < 0.5, LEVELS > 0.5
        beyond = np.where(is_lower, outcome[:, None] < shown, outcome[:, None] > shown)
        nominal = np.where(is_lower, LEVELS, 1.0 - LEVELS)
        step = self._rate * (beyond - nominal) * (is_lower | is_upper)
        row = self._log_factor[horizon - 1] + step
        self._log_factor[horizon - 1] = np.clip(row, -_LARGEST_LOG_FACTOR, _LARGEST_LOG_FACTOR)

    def state(self) -> dict[str, NDArray[np.generic]]:
        return {"log_factor": self._log_factor.copy()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        self._log_factor[:] = state["log_factor"]
