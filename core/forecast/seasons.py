"""Usual values by the time of day."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.quantities import FloatArray
from core.forecast.averages import RunningSums

_SHORTEST_BUCKET_MS = 300_000
_KEEP = 0.98
_KEEP_OVERALL = 0.999
_DOUBT = 3.0
"""Weight of the overall mean in each bucket, in candles."""


class TimeOfDayMeans(RunningSums):
    """Weighted means by the time of day (by the weekday where candles are days), shrunk to the mean of all."""

    def __init__(self, interval: Interval) -> None:
        self._width_ms = max(interval.duration_ms, _SHORTEST_BUCKET_MS)
        buckets = -(-DAY_MS // self._width_ms) if self._width_ms < DAY_MS else 7
        self._sums = np.zeros((2, buckets + 1))
        """Weights and weighted values; the last column is over all times."""

    def learn(self, open_time_ms: int, value: float) -> None:
        """Take the value of the candle that opened then."""
        bucket = int(self._bucket(np.array(open_time_ms)))
        self._sums[:, bucket] = _KEEP * self._sums[:, bucket] + (1.0, value)
        self._sums[:, -1] = _KEEP_OVERALL * self._sums[:, -1] + (1.0, value)

    def expected(self, open_time_ms: NDArray[np.int64]) -> FloatArray:
        """The usual value of candles that open at these times; 0 before the first value."""
        weight, total = self._sums[:, self._bucket(open_time_ms)]
        overall = self._sums[1, -1] / max(self._sums[0, -1], 1.0)
        means: FloatArray = (total + _DOUBT * overall) / (weight + _DOUBT)
        return means

    def _bucket(self, open_time_ms: NDArray[np.int64]) -> NDArray[np.int64]:
        buckets = self._sums.shape[1] - 1
        bucket: NDArray[np.int64] = open_time_ms // self._width_ms % buckets
        return bucket
