"""The trend of a noisy series, robust to spikes and to noise that is not normal.

The series is cut into blocks, so that correlated neighbours count once. Mann-Kendall's statistic on the blocks' mean
ranks says whether there is a trend, the Theil-Sen slope of their medians how large it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.training.doctor.window import Numbers

FEWEST = 24
"""Fewest values for a trend."""
_BLOCKS = 20
_SMALLEST_BLOCK = 3


@dataclass(frozen=True, slots=True)
class SeriesTrend:
    """The change of a series from its first block to its last, in its units."""

    start: float
    """Median of its first quarter."""
    end: float
    """Median of its last quarter."""
    climb: float
    """The Theil-Sen slope times the length: below 0 for a fall."""
    z: float
    """Mann-Kendall's: below -2.6 a fall, above 2.6 a rise, each with less than one error in a hundred."""


def trend_of(values: Numbers) -> SeriesTrend | None:
    """values: [n], in time order, NaN for missing. None for fewer than `FEWEST` numbers."""
    known = values[~np.isnan(values)]
    if known.size < FEWEST:
        return None
    medians, ranks = np.median(_blocks(known), axis=1), _blocks(_ranks(known)).sum(axis=1)
    count = medians.size
    first, second = np.triu_indices(count, 1)
    slope = float(np.median((medians[second] - medians[first]) / (second - first)))
    variance = count * (count - 1) * (2 * count + 5) / 18
    z = float(np.sign(ranks[second] - ranks[first]).sum()) / math.sqrt(variance)
    quarter = known.size // 4
    start, end = float(np.median(known[:quarter])), float(np.median(known[-quarter:]))
    return SeriesTrend(start, end, slope * (count - 1), z)


def _blocks(values: Numbers) -> Numbers:
    """[blocks, length]. The oldest values that fill no block are dropped."""
    length = max(_SMALLEST_BLOCK, values.size // _BLOCKS)
    count = values.size // length
    return values[values.size - count * length :].reshape(count, length)


def _ranks(values: Numbers) -> Numbers:
    """Equal values share their mean rank."""
    ordered = np.sort(values)
    ranks: Numbers = (ordered.searchsorted(values, "left") + ordered.searchsorted(values, "right")) / 2
    return ranks
