"""By how much a block bootstrap is too sure of small differences between settings.

Losses of two settings differ by little, for long: one is too wide throughout a calm week. Blocks of the usual length
hold too little of that. In simulated sweeps of 12 equal settings (docs/research/sweeps.md) intervals that should miss 0
in 5 of 100 cases did in 9, and the tests of many settings were wrong in 12.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from core.domain.quantities import FloatArray
from core.forecast.score import block_length

_ALPHA = 0.05
_SHORTER = 3


def widening(differences: FloatArray, tests: int = 1) -> float:
    """By what factor intervals of the mean are to be wider, at least 1: one for all columns. differences: of each
    setting to the default, [n, setting], in time order. tests: how many share the 5 %.

    The variance is the over-lugsail one (Vats and Flegal, Lugsail lag windows for estimating time-average covariance
    matrices, Biometrika 2022): that of blocks, and what a third of their length misses of it once more. It comes from
    few blocks, so that Student's quantiles replace the normal ones.
    """
    n = differences.shape[0]
    length = block_length(n)
    long, short = (_long_run_variance(differences, each) for each in (length, max(1, length // _SHORTER)))
    differs = long > 0.0
    if not differs.any():
        return 1.0
    missed = 1.0 - float((short[differs] / long[differs]).mean())
    return float(np.sqrt(1.0 + max(missed, 0.0))) * _student(n / length / 2.0, tests)


def _long_run_variance(differences: FloatArray, length: int) -> FloatArray:
    """Of each column: from all blocks of this length, around the end too."""
    n = differences.shape[0]
    around = np.concatenate([np.zeros((1, differences.shape[1])), differences, differences[: length - 1]])
    running = around.cumsum(axis=0)
    variances: FloatArray = (running[length:] - running[:n]).var(axis=0) / length
    return variances


def _student(freedom: float, tests: int) -> float:
    """Student's quantile over the normal one, by its expansion (Abramowitz and Stegun, 26.7.5)."""
    z = NormalDist().inv_cdf(1.0 - _ALPHA / 2.0 / tests)
    return 1.0 + (z**2 + 1.0) / (4.0 * freedom) + (5.0 * z**4 + 16.0 * z**2 + 3.0) / (96.0 * freedom**2)
