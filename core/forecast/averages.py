"""Exponentially weighted means and standard deviations, and usual values by the time of day, of many markets at once.

The first two equal pandas' ``ewm(span=..., adjust=True)``, as tests check.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.quantities import FloatArray
from core.forecast.arrays import ArrayState, Places

_SHORTEST_BUCKET_MS = 300_000
_KEEP = 0.98
_KEEP_OVERALL = 0.999
_DOUBT = 3.0
"""Weight of the overall mean in each bucket of the day, in candles."""


class WeightedMoments(ArrayState):
    """Mean and unbiased standard deviation of the past of several series, each weighted by (1 - 2/(span+1)) ** age."""

    _STATE = ("_sums",)

    def __init__(self, spans: Sequence[float], markets: int) -> None:
        keep = 1.0 - 2.0 / (np.array(spans, dtype=np.float64) + 1.0)
        self._keep = np.stack([keep, keep * keep, keep, keep])
        self._sums = np.zeros((markets, 4, len(spans)))
        """Of the weights, the squared weights, the values and the squared values."""

    def add(self, places: Places, values: FloatArray) -> None:
        """The next value of each series [n, S]; NaN adds nothing."""
        sums = self._sums[places]
        grown = sums * self._keep
        grown[:, :2] += 1.0
        grown[:, 2] += values
        grown[:, 3] += values * values
        self._sums[places] = np.where(np.isnan(values)[:, None], sums, grown)

    def means(self, places: Places) -> FloatArray:
        """[n, S]; NaN before the first value."""
        sums = self._sums[places]
        weight, first = sums[:, 0], sums[:, 2]
        means: FloatArray = np.where(weight > 0.0, first / np.maximum(weight, 1.0), np.nan)
        return means

    def deviations(self, places: Places) -> FloatArray:
        """[n, S]; NaN before the second value."""
        weight, weight_squared, first, second = self._sums[places].swapaxes(0, 1)
        spread, known = weight * weight - weight_squared, np.maximum(weight, 1.0)
        variance = np.maximum(second / known - (first / known) ** 2, 0.0)
        is_known = spread > 0.0
        squared = variance * weight * weight / np.where(is_known, spread, 1.0)
        deviations: FloatArray = np.where(is_known, np.sqrt(squared), np.nan)
        return deviations


class TimeOfDayMeans(ArrayState):
    """Weighted means by the time of day (by the weekday where candles are days), shrunk to the mean of all."""

    _STATE = ("_sums",)

    def __init__(self, interval: Interval, markets: int) -> None:
        self._width_ms = max(interval.duration_ms, _SHORTEST_BUCKET_MS)
        buckets = -(-DAY_MS // self._width_ms) if self._width_ms < DAY_MS else 7
        self._sums = np.zeros((markets, 2, buckets + 1))
        """Weights and weighted values; the last column is over all times."""

    def learn(self, places: Places, open_time_ms: NDArray[np.int64], values: FloatArray) -> None:
        """One value of each market, of a candle that opened at this time: [n] each."""
        added = np.stack([np.ones_like(values), values], axis=1)
        for bucket, keep in ((self._bucket(open_time_ms), _KEEP), (self._sums.shape[2] - 1, _KEEP_OVERALL)):
            self._sums[places, :, bucket] = keep * self._sums[places, :, bucket] + added

    def expected(self, places: Places, open_time_ms: NDArray[np.int64]) -> FloatArray:
        """The usual value of candles that open at these times: [n, k] each; 0 before the first value."""
        weight, total = (self._sums[places[:, None], of, self._bucket(open_time_ms)] for of in (0, 1))
        overall = self._sums[places, 1, -1] / np.maximum(self._sums[places, 0, -1], 1.0)
        means: FloatArray = (total + _DOUBT * overall[:, None]) / (weight + _DOUBT)
        return means

    def _bucket(self, open_time_ms: NDArray[np.int64]) -> NDArray[np.int64]:
        buckets = self._sums.shape[2] - 1
        bucket: NDArray[np.int64] = open_time_ms // self._width_ms % buckets
        return bucket
