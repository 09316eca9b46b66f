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
from core.forecast.arrays import ArrayState, Places

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
    """Owns the filters of each market. `observe` each closed candle once, in order."""

    _STATE = ("_usual", "_variance", "_offset", "_error")

    def __init__(self, markets: int) -> None:
        members = [
            (source, share, take, keep)
            for source, share, take, keep in itertools.product((_OF_RETURN, _OF_RANGE), _FALL_SHARES, _TAKES, _KEEPS)
            if take + keep <= _LONGEST
        ]
        source, share, take, keep = np.array(members).T
        self._source: NDArray[np.int64] = source.astype(np.int64)
        self._fall_share, self._take, self._keep = share, take, keep
        self._usual = np.zeros((markets, 2, 2))
        """Of each source, with forgetting: weight and sum of its news."""
        self._variance = np.ones((markets, len(members)))
        """Of the next candle, in units of the usual one."""
        self._offset = np.zeros((markets, 2, len(members)))
        """What to add to half a log variance for a log range, with forgetting: weight and sum."""
        self._error = np.zeros((markets, 2, len(members)))
        """Squared, with forgetting: weight and sum."""

    def observe(self, places: Places, log_range: FloatArray, log_return: FloatArray) -> None:
        """Learn from the next closed candles [n]; log_return: from the close before it, NaN without one or after a
        hole."""
        old = ~self._is_new(places)
        self._score(places[old], log_range[old])
        moved = ~np.isnan(log_return)
        self._filter(places[moved], log_range[moved], log_return[moved])

    def _filter(self, places: Places, log_range: FloatArray, log_return: FloatArray) -> None:
        news = np.maximum(np.stack([log_return**2, np.exp(2.0 * log_range)], axis=1), _SMALLEST)
        usual = self._usual[places]
        mean = usual[..., 1] / np.maximum(usual[..., 0], _SMALLEST)
        bounded = np.where(mean > 0.0, np.minimum(news, _LARGEST_NEWS * mean), news)
        usual = _KEEP_USUAL * usual + np.stack([np.ones_like(bounded), bounded], axis=-1)
        relative = bounded / (usual[..., 1] / usual[..., 0])
        share = np.where(log_return[:, None] < 0.0, self._fall_share, 1.0 - self._fall_share)
        fresh = 2.0 * share * relative[:, self._source]
        kept = self._keep * self._variance[places]
        self._variance[places] = 1.0 - self._keep - self._take + self._take * fresh + kept
        self._usual[places] = usual

    def _is_new(self, places: Places) -> NDArray[np.bool_]:
        is_new: NDArray[np.bool_] = self._usual[places, 0, 0] == 0.0
        return is_new

    def ahead(self, places: Places, horizons: int) -> tuple[FloatArray, FloatArray]:
        """The expected log range of each of the next candles, and the root mean square of each of the next returns:
        [n, H] each; NaN before the first observation."""
        is_new, weights = self._is_new(places)[:, None], self._weights(places)
        fades = (self._take + self._keep) ** np.arange(horizons)[:, None]
        variance = 1.0 + fades * (self._variance[places, None] - 1.0)  # [n, H, member], in usual ones
        offsets = self._half_log_usual(places) + self._offsets(places)
        log_ranges = ((0.5 * np.log(variance) + offsets[:, None]) * weights[:, None]).sum(axis=-1)
        mean = self._usual[places, _OF_RETURN, 1] / np.maximum(self._usual[places, _OF_RETURN, 0], _SMALLEST)
        moves = np.sqrt(mean[:, None] * (variance * weights[:, None]).sum(axis=-1))
        return np.where(is_new, np.nan, log_ranges), np.where(is_new, np.nan, moves)

    def _score(self, places: Places, log_range: FloatArray) -> None:
        off = log_range[:, None] - (0.5 * np.log(self._variance[places]) + self._half_log_usual(places))
        has_offset = (self._offset[places, 0, 0] > 0.0)[:, None, None]
        error = (off - self._offsets(places)).clip(-_LARGEST_ERROR, _LARGEST_ERROR)
        errors = self._error[places]
        grown = _KEEP_SCORE * errors + np.stack([np.ones_like(error), error**2], axis=1)
        self._error[places] = np.where(has_offset, grown, errors)
        self._offset[places] = _KEEP_USUAL * self._offset[places] + np.stack([np.ones_like(off), off], axis=1)

    def _weights(self, places: Places) -> FloatArray:
        """[n, member], summing to 1."""
        weight, total = self._error[places, 0], self._error[places, 1]
        least = total.min(axis=1, keepdims=True)
        best = (least + _WEIGHT_BEFORE * _ERROR_BEFORE**2) / (weight[:, :1] + _WEIGHT_BEFORE)
        likely = np.exp(-0.5 * (total - least) / best)
        weights: FloatArray = likely / likely.sum(axis=1, keepdims=True)
        return weights

    def _half_log_usual(self, places: Places) -> FloatArray:
        """[n, member]"""
        usual = self._usual[places, :, 1] / np.maximum(self._usual[places, :, 0], _SMALLEST)
        half: FloatArray = 0.5 * np.log(np.maximum(usual, _SMALLEST))[:, self._source]
        return half

    def _offsets(self, places: Places) -> FloatArray:
        weight, total = self._offset[places, 0], self._offset[places, 1]
        offsets: FloatArray = total / np.maximum(weight, _SMALLEST)
        return offsets
