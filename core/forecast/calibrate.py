"""Adaptive conformal calibration: each quantile is moved until it is exceeded as often as it says.

First the bias: the median moves, in units of the forecast's own width, until as many outcomes lie above it as below;
a band about a centre that is off would have to be too wide (bias-corrected conformal inference). Then every other level
has a log factor on its distance from the median: an outcome beyond the quantile widens it, one within narrows it, by
steps whose balance point is the nominal rate (Gibbs and Candes, 2021, in the multiplicative form of quantile tracking,
Angelopoulos et al., 2023). Both act on what is scaled by volatility already.

The rates trade noise for speed; `docs/forecasts.md` has what was measured. Forecasts of h candles overlap, so h of
their outcomes say little more than one: the rates are divided by h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.forecast.quantities import BAND_50, LEVELS, MEDIAN, QUANTITIES, FloatArray

_LARGEST_LOG_FACTOR = 2.0
_LARGEST_BIAS = 0.5
_SHARED = 4.0
"""What is wrong with all levels alike is learned from all of them: one level's own outcomes are few."""


class AdaptiveCalibration:
    """Log factors [horizon, quantity, level], the median's staying 0; and biases [horizon, quantity]."""

    def __init__(self, horizons: int, rate: float = 0.004, bias_rate: float = 0.001) -> None:
        self._rate = rate
        self._bias_rate = bias_rate
        self._log_factor = np.zeros((horizons, QUANTITIES, len(LEVELS)))
        self._bias = np.zeros((horizons, QUANTITIES))

    def apply(self, quantiles: FloatArray) -> FloatArray:
        """Calibrated quantiles, ascending: [horizon, quantity, level] in and out."""
        median = quantiles[..., MEDIAN : MEDIAN + 1]
        width = quantiles[..., BAND_50[1]] - quantiles[..., BAND_50[0]]
        centre = median + (self._bias * width)[..., None]
        return np.sort(centre + np.exp(self._log_factor) * (quantiles - median), axis=-1)

    def update(self, horizon: int, shown: FloatArray, outcome: FloatArray) -> None:
        """Learn from one outcome. shown: the quantiles that were shown [quantity, level]; outcome: [quantity]."""
        is_lower, is_upper = LEVELS < 0.5, LEVELS > 0.5
        beyond = np.where(is_lower, outcome[:, None] < shown, outcome[:, None] > shown)
        nominal = np.where(is_lower, LEVELS, 1.0 - LEVELS)
        too_often = (beyond - nominal) * (is_lower | is_upper)
        shared = too_often.mean(axis=-1, keepdims=True) * (is_lower | is_upper)
        row = self._log_factor[horizon - 1] + self._rate / horizon * (too_often + _SHARED * shared)
        self._log_factor[horizon - 1] = np.clip(row, -_LARGEST_LOG_FACTOR, _LARGEST_LOG_FACTOR)
        moved = self._bias[horizon - 1] + self._bias_rate / horizon * np.sign(outcome - shown[:, MEDIAN])
        self._bias[horizon - 1] = np.clip(moved, -_LARGEST_BIAS, _LARGEST_BIAS)

    def state(self) -> dict[str, NDArray[np.generic]]:
        return {"log_factor": self._log_factor.copy(), "bias": self._bias.copy()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        self._log_factor[:], self._bias[:] = state["log_factor"], state["bias"]
