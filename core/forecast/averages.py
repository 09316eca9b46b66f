"""Exponentially weighted mean and standard deviation, one value at a time; and usual values by the time of day.

The first two equal pandas' ``ewm(span=..., adjust=True)``, as tests check.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.quantities import FloatArray

_SHORTEST_BUCKET_MS = 300_000
_KEEP = 0.98
_KEEP_OVERALL = 0.999
_DOUBT = 3.0
"""Weight of the overall mean in each bucket of the day, in candles."""


class RunningSums:
    """What is known by one array of sums."""

    _sums: NDArray[np.float64]

    def state(self) -> NDArray[np.float64]:
        """The complete state."""
        return self._sums.copy()

    def restore(self, state: NDArray[np.generic]) -> None:
        """Continue from what `state` returned."""
        self._sums[:] = state


class WeightedMoments(RunningSums):
    """Mean and unbiased standard deviation of the past, weighted by (1 - 2/(span+1)) ** age."""

    def __init__(self, span: float) -> None:
        self._keep = 1.0 - 2.0 / (span + 1.0)
        self._sums = np.zeros(4, dtype=np.float64)

    def add(self, value: float) -> None:
        """Take one finite value."""
        weight, weight_squared, first, second = (float(number) for number in self._sums)
        self._sums[0] = 1.0 + self._keep * weight
        self._sums[1] = 1.0 + self._keep * self._keep * weight_squared
        self._sums[2] = value + self._keep * first
        self._sums[3] = value * value + self._keep * second

    @property
    def mean(self) -> float | None:
        """The weighted mean, or None before the first value."""
        weight = float(self._sums[0])
        return None if weight == 0.0 else float(self._sums[2]) / weight

    @property
    def deviation(self) -> float | None:
        """The unbiased weighted standard deviation, or None before the second value."""
        weight, weight_squared, first, second = (float(number) for number in self._sums)
        spread = weight * weight - weight_squared
        if spread <= 0.0:
            return None
        variance = second / weight - (first / weight) ** 2
        return math.sqrt(max(variance, 0.0) * weight * weight / spread)


class WeightedMeans(RunningSums):
    """Exponentially weighted means of several values at once, each with its own span."""

    def __init__(self, spans: tuple[float, ...]) -> None:
        self._keep = 1.0 - 2.0 / (np.array(spans, dtype=np.float64) + 1.0)
        self._sums = np.zeros((2, len(spans)))

    def add(self, values: NDArray[np.float64]) -> None:
        """One finite value for each mean."""
        self._sums *= self._keep
        self._sums[0] += 1.0
        self._sums[1] += values

    @property
    def means(self) -> NDArray[np.float64]:
        """In the order of the spans. Requires at least one value."""
        means: NDArray[np.float64] = self._sums[1] / self._sums[0]
        return means


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
