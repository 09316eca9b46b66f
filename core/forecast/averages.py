"""Exponentially weighted mean and standard deviation, one value at a time.

Both equal pandas' ``ewm(span=..., adjust=True)``, as tests check.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


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
