"""Adaptive conformal calibration: moves each quantile until it is exceeded at its nominal rate.

First the bias: the median moves, in units of the forecast's own width, until as many outcomes lie above it as below;
a band around a biased centre would have to be too wide (bias-corrected conformal inference). Then every other level
has a log factor on its distance from the median: an outcome beyond the quantile widens it, one within narrows it, by
steps whose balance point is the nominal rate (Gibbs and Candes, 2021, in the multiplicative form of quantile tracking,
Angelopoulos et al., 2023). Both act on values already scaled by volatility.

In a market with many unchanged closes, such a close lies exactly on a quantile: it is neither beyond it nor within, and
any level between the share below and the share at or below is right (the subgradient of the pinball loss). So a tie
counts as the value that balances the other outcomes, as far as possible; for the median too, which would otherwise
drift away where many candles have no wick.

The rates trade noise for speed; `docs/research/forecasts.md` has the measurements. Forecasts of h candles overlap, so
h of their outcomes carry little more information than one: the rates are divided by h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import BAND_50, LEVELS, MEDIAN, QUANTITIES, FloatArray
from core.forecast.arrays import ArrayState, Places

_LARGEST_LOG_FACTOR = 2.0
_LARGEST_BIAS = 0.5
_TIE = 1e-3
"""An outcome this close to a quantile, in units of volatility, is a tie."""
_KEEP_TIES = 0.995
_SHARED = 4.0
"""Weight of the error shared by all levels, as a single level has few outcomes."""


class AdaptiveCalibration(ArrayState):
    """Log factors [market, horizon, quantity, level], 0 for the median; and biases [market, horizon, quantity]."""

    _STATE = ("_log_factor", "_bias", "_tied", "_untied")

    def __init__(self, horizons: int, markets: int, rate: float = 0.001, bias_rate: float = 0.00025) -> None:
        self._rate = rate
        self._bias_rate = bias_rate
        self._log_factor = np.zeros((markets, horizons, QUANTITIES, len(LEVELS)))
        self._bias = np.zeros((markets, horizons, QUANTITIES))
        self._tied = np.zeros_like(self._log_factor)
        """How often outcomes lie on the quantile: a running mean."""
        self._untied = np.zeros_like(self._log_factor)
        """The excess of other outcomes beyond it, as a share of all outcomes: a running mean."""

    def apply(self, places: Places, quantiles: FloatArray) -> FloatArray:
        """Calibrated quantiles, ascending: [n, horizon, quantity, level] in and out."""
        median = quantiles[..., MEDIAN : MEDIAN + 1]
        width = quantiles[..., BAND_50[1]] - quantiles[..., BAND_50[0]]
        centre = median + (self._bias[places] * width)[..., None]
        return np.sort(centre + np.exp(self._log_factor[places]) * (quantiles - median), axis=-1)

    def update(self, places: Places, shown: FloatArray, outcomes: FloatArray, is_known: NDArray[np.bool_]) -> None:
        """Learn from an outcome of each horizon that `is_known` [n, H]. shown: the displayed quantiles [n, H, quantity,
        level]; outcomes: [n, H, quantity]."""
        market, horizon = is_known.nonzero()
        at, shown = (places[market], horizon), shown[is_known]
        # A factor on a zero distance has no effect, so there is nothing to learn from such an outcome.
        can_move = np.abs(shown - shown[..., MEDIAN, None]) > _TIE
        distance = outcomes[is_known][..., None] - shown
        is_tie = np.abs(distance) <= _TIE
        beyond = self._too_often(at, distance, is_tie)
        too_often = beyond * can_move
        shared = too_often.mean(axis=-1, keepdims=True) * can_move
        rates = (self._rate / (horizon + 1))[:, None, None]
        moved = self._log_factor[at] + rates * (too_often + _SHARED * shared)
        self._log_factor[at] = np.clip(moved, -_LARGEST_LOG_FACTOR, _LARGEST_LOG_FACTOR)
        bias = self._bias[at] + (self._bias_rate / (horizon + 1))[:, None] * 2.0 * beyond[..., MEDIAN]
        self._bias[at] = np.clip(bias, -_LARGEST_BIAS, _LARGEST_BIAS)

    def _too_often(
        self, at: tuple[NDArray[np.int64], NDArray[np.int64]], distance: FloatArray, is_tie: NDArray[np.bool_]
    ) -> FloatArray:
        """The exceedance minus its nominal rate, between -1 and 1: [k, quantity, level]. at: markets and horizons."""
        nominal = np.minimum(LEVELS, 1.0 - LEVELS)
        beyond = np.where(LEVELS < 0.5, distance < 0.0, distance > 0.0) - nominal
        for mean, now in ((self._tied, is_tie), (self._untied, beyond * ~is_tie)):
            mean[at] = _KEEP_TIES * mean[at] + (1.0 - _KEEP_TIES) * now
        balanced = -self._untied[at] / np.maximum(self._tied[at], np.finfo(np.float64).tiny)
        return np.where(is_tie, np.clip(balanced, -nominal, 1.0 - nominal), beyond)
