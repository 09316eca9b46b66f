"""How a chance differed from how often it came true, learned from outcomes as they come.

A logistic regression of the outcome on the logit of the chance (Platt, Probabilistic outputs for support vector
machines, Advances in Large Margin Classifiers 1999). What is known of intercept and slope is a normal distribution, and
each group of outcomes makes the next one of it by a Laplace approximation (Spiegelhalter and Lauritzen, Sequential
updating of conditional probabilities on directed graphical structures, Networks 1990): nothing is forgotten, and no
outcome is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray

_DOUBT = 30.0
"""Precision of intercept and slope before the first outcome, when the chance counts as right; of the intercept that of
120 outcomes of even chances that count whole."""
_MOST_STEPS = 500
_SMALL_STEP = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ChanceCorrection:
    """mean: [2], intercept and slope. precision: [2, 2], the inverse of their covariance."""

    mean: FloatArray
    precision: FloatArray

    def learned(self, chance: FloatArray, came_true: NDArray[np.bool_], weight: float) -> ChanceCorrection:
        """After these outcomes, of chances between 0 and 1, exclusive. weight: what each counts for, as one case."""
        reads, outcome = np.stack([np.ones(chance.size), _logit(chance.ravel())]), came_true.ravel()
        # No outcome can tell more than an even one. With that bound each step is uphill (Boehning and Lindsay, 1988).
        bound = weight / 4.0 * reads @ reads.T + self.precision
        mean = self.mean
        for _ in range(_MOST_STEPS):
            uphill = weight * reads @ (outcome - _logistic(mean @ reads)) - self.precision @ (mean - self.mean)
            step = np.linalg.solve(bound, uphill)
            mean = mean + step
            if np.abs(step).max() < _SMALL_STEP:
                break
        expected = _logistic(mean @ reads)
        return ChanceCorrection(mean, (reads * (weight * expected * (1.0 - expected))) @ reads.T + self.precision)


NO_CORRECTION = ChanceCorrection(np.array([0.0, 1.0]), np.diag([_DOUBT, _DOUBT]))


def corrected(chance: FloatArray, intercept: FloatArray, slope: FloatArray) -> FloatArray:
    """A higher chance never becomes a lower one. All three broadcast."""
    return _logistic(intercept + np.maximum(slope, 0.0) * _logit(chance))


def _logit(chance: FloatArray) -> FloatArray:
    logit: FloatArray = np.log(chance) - np.log1p(-chance)
    return logit


def _logistic(value: FloatArray) -> FloatArray:
    logistic: FloatArray = 1.0 / (1.0 + np.exp(-value))
    return logistic
