"""Exponential averages over millions of values without a Python loop over them, and the same bits in any piece.

y[i] = c[i] + k y[i-1] is worked out in blocks of 32: each block's own part by doubling steps (after the step of 2^s
a value holds its newest 2^(s+1) contributions), then the block before it, weighed by powers of k. All steps are
additions and multiplications by 0 <= k < 1, element by element: errors do not grow but die out with k, and a value
depends only on its block's contributions and the value before the block, not on what else was worked out with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.indicators.windows import window_means

FloatArray = NDArray[np.float64]
Inputs = Callable[[int, int], FloatArray]
"""From a range of candle indices [first, stop) to the values that are averaged there."""

BLOCK = 32
_PIECE = 1024 * BLOCK
"""So many values at once stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class ExponentialAverage:
    """y[i] = w x[i] + (1 - w) y[i-1], seeded at index `start` by the mean of x from `seed_first` to `start`."""

    weight: float
    seed_first: int
    start: int

    def fill(self, inputs: Inputs, output: FloatArray, first: int, stop: int) -> None:
        """Write output[first:stop], given output[:first]; NaN before `start`."""
        output[first : min(self.start, stop)] = np.nan
        if first <= self.start < stop:
            seed = inputs(self.seed_first, self.start + 1)
            output[self.start] = window_means(seed, seed.size)[0]
        begin = max(first, self.start + 1)
        if begin < stop:
            block = begin - (begin - self.start - 1) % BLOCK
            found = _decayed_sums(self.weight * inputs(block, stop), 1.0 - self.weight, float(output[block - 1]))
            output[begin:stop] = found[begin - block :]


def _decayed_sums(contributions: FloatArray, keep: float, before: float) -> FloatArray:
    powers = np.array([keep**age for age in range(1, BLOCK + 1)])
    results = np.empty(-(-contributions.size // BLOCK) * BLOCK)
    results[: contributions.size] = contributions
    results[contributions.size :] = 0.0
    for piece in np.split(results, range(_PIECE, results.size, _PIECE)):
        before = _fill_blocks(piece.reshape(-1, BLOCK), powers, before)
    return results[: contributions.size]


def _fill_blocks(blocks: FloatArray, powers: FloatArray, before: float) -> float:
    """Turn contributions [block, BLOCK] into sums, in place. Returns the last of them."""
    step = 1
    while step < BLOCK:
        blocks[:, step:] += powers[step - 1] * blocks[:, :-step]
        step *= 2
    befores = np.empty(blocks.shape[0])
    across = float(powers[-1])
    for index, own in enumerate(blocks[:, -1].tolist()):
        befores[index] = before
        before = own + across * before
    blocks += powers * befores[:, np.newaxis]
    return before
