"""Which of many settings may be the best, by the library arch: it is imported only when called, as it takes seconds.

The model confidence set (Hansen, Lunde and Nason, The model confidence set, Econometrica 2011) holds the best setting
with a probability of 95 %. The test of superior predictive ability (Hansen, A test for superior predictive ability,
Journal of Business & Economic Statistics 2005; after White, A reality check for data snooping, Econometrica 2000) asks
whether any setting at all beats the default, however many were tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.score import block_length
from core.sweeps.dependence import widening

SIZE = 0.05
_RESAMPLES = 1000
_SEED = 20_110_301
"""As in `core.forecast.score`: the same losses give the same answer."""
_ROWS_A_BLOCK = 8
MOST_IN_A_SET = 200
"""Settings for which the set is computed. It compares every pair in every resample, 0.3 GB for so many. arch's other
method, which compares each with the mean of all, hardly ever finds a single better one among many."""


class ArchIsMissingError(ImportError):
    """The library that compares many settings is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "No winner is named: comparing many settings needs the library arch. Install it with: "
            "pip install 'ghostcandle[sweeps]'"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """set_p: of each configuration, the smallest size at which it is not in the confidence set: [configuration]; None
    for more than `MOST_IN_A_SET`. any_better_p: of the test that no configuration beats the default; None if none
    differs from it."""

    set_p: FloatArray | None
    any_better_p: float | None

    @property
    def in_set(self) -> NDArray[np.bool_] | None:
        return None if self.set_p is None else self.set_p > SIZE


def compare(losses: FloatArray, default: int) -> Comparison:
    """losses: [n, configuration], in time order. default: a column. Raises ArchIsMissingError."""
    rows, length = _shorter(_spread(losses, default))
    set_p = _confidence_set(rows, length) if rows.shape[1] <= MOST_IN_A_SET else None
    return Comparison(set_p, _any_better(rows, default, length))


def _spread(losses: FloatArray, default: int) -> FloatArray:
    """Farther from their means by what the bootstrap misses, which widens its distribution as much."""
    others = np.delete(losses, default, axis=1) - losses[:, [default]]
    means = losses.mean(axis=0)
    spread: FloatArray = means + widening(others, max(1, others.shape[1])) * (losses - means)
    return spread


def _shorter(losses: FloatArray) -> tuple[FloatArray, int]:
    """The same bootstrap with fewer rows: each is the mean of a part of a block, weighted so that the mean of all rows
    is the mean of all candles. Also the rows in a block. With 100,000 candles arch takes minutes without it."""
    n = losses.shape[0]
    length = block_length(n)
    rows = n // max(1, length // _ROWS_A_BLOCK)
    starts = np.arange(rows) * n // rows
    shorter: FloatArray = np.add.reduceat(losses, starts, axis=0) * (rows / n)
    return shorter, max(1, round(length * rows / n))


def _confidence_set(rows: FloatArray, length: int) -> FloatArray:
    """arch ends with an IndexError where two settings lose exactly the same, as settings without an effect do: these
    are compared as one."""
    different, place = np.unique(rows, axis=1, return_inverse=True)
    if different.shape[1] == 1:
        return np.ones(rows.shape[1])
    mcs = _bootstrap().MCS(different, SIZE, _RESAMPLES, length, bootstrap="circular", seed=_SEED)
    mcs.compute()
    p_values: FloatArray = mcs.pvalues["Pvalue"].sort_index().to_numpy(dtype=np.float64)[place.ravel()]
    return p_values


def _any_better(rows: FloatArray, default: int, length: int) -> float | None:
    """Each in units of its deviation, as in Hansen's statistic: arch divides by none of them, whatever `studentize`
    says, and one restless setting would hide all others (findings/arch-spa-is-not-studentized.sh)."""
    differences = rows - rows[:, [default]]
    deviations = _deviations(differences, length)
    differs = deviations > 0.0
    if not differs.any():
        return None
    scaled = differences[:, differs] / deviations[differs]
    none = np.zeros(rows.shape[0])
    spa = _bootstrap().SPA(none, scaled, length, _RESAMPLES, bootstrap="circular", seed=_SEED)
    spa.compute()
    return float(spa.pvalues["consistent"])


def _deviations(differences: FloatArray, length: int) -> FloatArray:
    """The deviation of a block's mean of each column: what the circular block bootstrap draws from."""
    n = differences.shape[0]
    running = np.cumsum(
        np.concatenate([np.zeros((1, differences.shape[1])), differences, differences[: length - 1]]), 0
    )
    deviations: FloatArray = (running[length:] - running[:n]).std(axis=0)
    return deviations


def _bootstrap() -> ModuleType:
    try:
        from arch import bootstrap  # noqa: PLC0415 - takes seconds, and is of an extra
    except ImportError as error:
        raise ArchIsMissingError from error
    return bootstrap
