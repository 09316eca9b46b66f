"""Volatility of the next candles by GARCH with leverage: a grid of fixed parameters, weighted online.

Each member of the grid is a filter of the variance, after Glosten, Jagannathan and Runkle (1993):

    v[t+1] = (1 - keep - take) * usual + take * news[t] + keep * v[t]

Its news is the square of the newest return or range, in which falls may count more than rises. Each member forecasts
the log range of the next candle; the weights are those of Bayesian averaging with forgetting, so more accurate members
count more. Nothing is optimised, so nothing can diverge.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import ArrayState

_TAKES = (0.03, 0.06, 0.12, 0.25, 0.5)
_KEEPS = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.96)
_LONGEST = 0.995
"""Upper bound of keep + take; the rest pulls the variance back to the usual one."""
_FALL_SHARES = (0.5, 0.75, 1.0)
"""The share of falls in the news if rises and falls are equal."""
_OF_RETURN, _OF_RANGE = range(2)
_KEEP_USUAL = 1.0 - 1.0 / 2000.0
_KEEP_SCORE = 0.9995
_LARGEST_NEWS = 50.0
"""In units of the usual news: one crash must not saturate a filter for a week."""
_SMALLEST = 1e-16
_LARGEST_ERROR = 3.0
_ERROR_BEFORE, _WEIGHT_BEFORE = 0.5, 20.0
"""A member's prior error, and for how many candles it counts."""


class GarchGrid(ArrayState):
    """Owns the filters. `observe` each closed candle once, in order."""

    _STATE = ("_usual", "_variance", "_offset", "_error")

    def __init__(self) -> None:
        members = [
            (source, share, take, keep)
            for source, share, take, keep in itertools.product((_OF_RETURN, _OF_RANGE), _FALL_SHARES, _TAKES, _KEEPS)
            if take + keep <= _LONGEST
        ]
        source, share, take, keep = np.array(members).T
        self._source: NDArray[np.int64] = source.astype(np.int64)
        self._fall_share, self._take, self._keep = share, take, keep
        self._usual = np.zeros((2, 2))
        """Of each source, with forgetting: weight and sum of its news."""
        self._variance = np.ones(len(members))
        """Of the next candle, in units of the usual one."""
        self._offset = np.zeros((2, len(members)))
        """What to add to half a log variance for a log range, with forgetting: weight and sum."""
        self._error = np.zeros((2, len(members)))
        """Squared, with forgetting: weight and sum."""

    def observe(self, log_range: float, log_return: float | None) -> None:
        """Take the next closed candle; log_return: from the close before it, None where there is none or a hole."""
        self._score(log_range)
        if log_return is None:
            return
        news = np.maximum(np.array([log_return**2, np.exp(2.0 * log_range)]), _SMALLEST)
        mean = self._usual[:, 1] / np.maximum(self._usual[:, 0], _SMALLEST)
        bounded = np.where(mean > 0.0, np.minimum(news, _LARGEST_NEWS * mean), news)
        self._usual = _KEEP_USUAL * self._usual + np.stack([np.ones(2), bounded], axis=1)
        relative = bounded / (self._usual[:, 1] / self._usual[:, 0])
        share = self._fall_share if log_return < 0.0 else 1.0 - self._fall_share
        fresh = 2.0 * share * relative[self._source]
        self._variance = 1.0 - self._keep - self._take + self._take * fresh + self._keep * self._variance

    @property
    def _is_new(self) -> bool:
        return bool(self._usual[0, 0] == 0.0)

    def log_ranges(self, horizons: int) -> FloatArray:
        """The expected log range of each of the next candles: [H]; NaN before the first observation."""
        if self._is_new:
            return np.full(horizons, np.nan)
        variance = self._ahead(horizons)
        predictions = 0.5 * np.log(variance) + self._half_log_usual() + self._offsets()
        expected: FloatArray = predictions @ self._weights()
        return expected

    def moves(self, horizons: int) -> FloatArray:
        """The root mean square of each of the next returns: [H]; NaN before the first observation."""
        if self._is_new:
            return np.full(horizons, np.nan)
        mean = self._usual[_OF_RETURN, 1] / self._usual[_OF_RETURN, 0]
        moves: FloatArray = np.sqrt(mean * (self._ahead(horizons) @ self._weights()))
        return moves

    def _score(self, log_range: float) -> None:
        """Update each member's error, then its offset."""
        if self._is_new:
            return
        half_log = 0.5 * np.log(self._variance) + self._half_log_usual()
        off = log_range - half_log
        if self._offset[0, 0] > 0.0:
            error = (off - self._offsets()).clip(-_LARGEST_ERROR, _LARGEST_ERROR)
            self._error = _KEEP_SCORE * self._error + np.stack([np.ones_like(error), error**2])
        self._offset = _KEEP_USUAL * self._offset + np.stack([np.ones_like(off), off])

    def _weights(self) -> FloatArray:
        """[member], summing to 1."""
        weight, total = self._error
        best = (total.min() + _WEIGHT_BEFORE * _ERROR_BEFORE**2) / (weight[0] + _WEIGHT_BEFORE)
        likely = np.exp(-0.5 * (total - total.min()) / best)
        weights: FloatArray = likely / likely.sum()
        return weights

    def _ahead(self, horizons: int) -> FloatArray:
        """Variance of each candle to come, in usual ones: [H, member]."""
        fades = (self._take + self._keep) ** np.arange(horizons)[:, None]
        ahead: FloatArray = 1.0 + fades * (self._variance - 1.0)
        return ahead

    def _half_log_usual(self) -> FloatArray:
        """[member]"""
        usual = self._usual[:, 1] / self._usual[:, 0]
        half: FloatArray = 0.5 * np.log(np.maximum(usual, _SMALLEST))[self._source]
        return half

    def _offsets(self) -> FloatArray:
        weight, total = self._offset
        offsets: FloatArray = total / np.maximum(weight, _SMALLEST)
        return offsets
