"""Where a noisy series is going, told against its own noise: robust to spikes, and to noise that is not normal.

The series is cut into blocks, so that neighbours that go up and down together count once. Mann-Kendall's statistic on
the blocks' medians says whether they go anywhere, Theil and Sen's slope how far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.training.doctor.window import Numbers

FEWEST = 24
"""Below this many values there is no trend to speak of."""
_BLOCKS = 20
_SMALLEST_BLOCK = 3


@dataclass(frozen=True, slots=True)
class SeriesTrend:
    """What a series did from its first block to its last, in its own units."""

    start: float
    """Where the robust line begins."""
    end: float
    z: float
    """Mann-Kendall's: below -2.6 it falls, above 2.6 it rises, each with less than one error in a hundred."""

    @property
    def change(self) -> float:
        return self.end - self.start


def trend_of(values: Numbers) -> SeriesTrend | None:
    """values: [n], in time order, NaN where nothing was measured. None for fewer than `FEWEST` numbers."""
    known = values[~np.isnan(values)]
    if known.size < FEWEST:
        return None
    blocks = _block_medians(known)
    count = blocks.size
    first, second = np.triu_indices(count, 1)
    differences = blocks[second] - blocks[first]
    slope = float(np.median(differences / (second - first)))
    variance = count * (count - 1) * (2 * count + 5) / 18
    z = float(np.sign(differences).sum()) / math.sqrt(variance)
    middle = float(np.median(blocks))
    half = slope * (count - 1) / 2
    return SeriesTrend(middle - half, middle + half, z)


def _block_medians(values: Numbers) -> Numbers:
    """The oldest values that fill no block are left out."""
    length = max(_SMALLEST_BLOCK, values.size // _BLOCKS)
    count = values.size // length
    medians: Numbers = np.median(values[values.size - count * length :].reshape(count, length), axis=1)
    return medians
