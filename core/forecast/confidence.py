"""Anytime-valid intervals: watching until one excludes zero is wrong in at most 5 % of the cases.

An ordinary 95 % interval is valid for one look. Evaluated again at every candle, it excludes the truth sooner or later:
for losses of equal expectation an edge was claimed at some time in half of the runs. These are asymptotic confidence
sequences (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence
sequences, 2024, theorem 2.2: Robbins' normal mixture), as Choe and Ramdas (Comparing sequential forecasters, 2021) use
confidence sequences to compare forecasts: of the mean so far, however it changes from candle to candle. Losses of
neighbouring candles are correlated, so blocks of 50 candles are averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import FloatArray
from core.forecast.sample_sizes import BLOCK, FEWEST_BLOCKS, FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import quotient

_ALPHA = 0.05
_TIGHTEST_AT = 40
"""Blocks after which the interval is tightest for their number: 2,000 candles."""
_WIDEST = 0.8
"""Half an interval's width in standard deviations of a block beyond which `running_bounds` gives none: there are too
few blocks for so small an alpha."""
_LEAST_OF_WHOLE = 1e-3
"""Share of the mean block's whole below which a block has nothing to forecast."""


def ratio_sequence(parts: FloatArray, wholes: FloatArray, value: float | None, n: int) -> Estimate:
    """The ratio of two sums with its confidence sequence.

    parts, wholes: of each full block, in time order: [B] each. value: the ratio over all n candles, shown while there
    are too few blocks for an interval. With one, it is the ratio over the blocks, so that both are of one moment, and n
    is to count the candles of the blocks alone (`is_bounded`). No value, or too few candles, gives no estimate; nor do
    blocks that mostly have nothing to forecast.
    """
    if value is None or n < FEWEST_FOR_AN_ESTIMATE:
        return Estimate(None, None, None, n)
    blocks = parts.shape[0]
    whole = float(wholes.mean()) if blocks else 0.0
    if (wholes > _LEAST_OF_WHOLE * whole).sum() < min(FEWEST_BLOCKS, blocks // 2):
        return Estimate(None, None, None, n)
    if not is_bounded(blocks):
        return Estimate(value, None, None, n)
    centre = float(parts.sum() / wholes.sum())
    error = float((parts - centre * wholes).std(ddof=1)) / whole
    margin = error * float(_widths(np.array([float(blocks)]), _ALPHA)[0])
    return Estimate(centre, centre - margin, centre + margin, n)


def is_bounded(blocks: int) -> bool:
    """Whether a figure of so many full blocks has an interval, and so changes only with the next full block."""
    return blocks >= FEWEST_BLOCKS


def _widths(blocks: FloatArray, alpha: float) -> FloatArray:
    """Half the interval's width in standard deviations of a block, for each number of blocks."""
    rho_squared = (-2.0 * math.log(alpha) + math.log(-2.0 * math.log(alpha)) + 1.0) / _TIGHTEST_AT
    scaled = blocks * rho_squared
    widths: FloatArray = np.sqrt(2.0 * (scaled + 1.0) / (blocks * scaled) * np.log(np.sqrt(scaled + 1.0) / alpha))
    return widths


@dataclass(frozen=True, slots=True, eq=False)
class RunningBounds:
    """A ratio and its interval after each block: [B] each; the interval is NaN where there is none."""

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def last(self, n: int) -> Estimate:
        """After all blocks, which hold n candles."""
        if not self.value.size:
            return Estimate(None, None, None, n)
        value, low, high = (float(each[-1]) for each in (self.value, self.low, self.high))
        return Estimate(value, None, None, n) if math.isnan(low) else Estimate(value, low, high, n)


def running_bounds(parts: FloatArray, wholes: FloatArray, alpha: float) -> RunningBounds:
    """The ratio of two sums after each block, with its confidence sequence at 1 - alpha: for one of many comparisons,
    which share 5 %.

    parts, wholes: of each full block, in time order: [B] each; wholes are positive. The normal approximation of
    `ratio_sequence` fails far out in the tails, where such a small alpha lies. So the normal mixture is self-normalised
    (de la Peña, Klass and Lai, Self-normalized processes, Annals of Probability 2004): divided by the squares of the
    deviations from the value in question, not from the mean. It then needs no moments where differences are symmetric.
    The covariance of neighbouring blocks counts where it is positive.
    """
    blocks = np.arange(1.0, parts.shape[0] + 1.0)
    whole = wholes.cumsum()
    value = parts.cumsum() / whole
    widths = _widths(blocks, alpha)
    widths[widths >= _WIDEST] = np.nan
    deviation = np.sqrt(_long_run_variance(parts, wholes, value) / blocks)
    margin = deviation / (whole / blocks) * widths / np.sqrt(1.0 - widths**2)
    return RunningBounds(value, value - margin, value + margin)


def _long_run_variance(parts: FloatArray, wholes: FloatArray, ratio: FloatArray) -> FloatArray:
    """The sum so far of the squares of parts - ratio * wholes, and twice that of products of neighbours if positive:
    [B]. ratio: so far, [B]."""

    def sums(one: FloatArray, other: FloatArray) -> FloatArray:
        found: FloatArray = np.concatenate([np.zeros(parts.shape[0] - one.shape[0]), one * other]).cumsum()
        return found

    squares = sums(parts, parts) - 2.0 * ratio * sums(parts, wholes) + ratio**2 * sums(wholes, wholes)
    crossed = sums(parts[1:], wholes[:-1]) + sums(parts[:-1], wholes[1:])
    neighbours = sums(parts[1:], parts[:-1]) - ratio * crossed + ratio**2 * sums(wholes[1:], wholes[:-1])
    return np.maximum(squares, 0.0) + 2.0 * np.maximum(neighbours, 0.0)


def candle_ratio_sequence(parts: FloatArray, wholes: FloatArray, horizon: int = 1) -> Estimate:
    """The sum of parts / the sum of wholes: [n] each, in time order, of forecasts of `horizon` candles."""
    length, count = _block_length(horizon), judged_count(parts.shape[0], horizon)
    full = parts.shape[0] // length * length
    blocks, whole_blocks = (each[:full].reshape(-1, length).sum(axis=1) for each in (parts, wholes))
    value = quotient(float(parts[:count].sum()), float(wholes[:count].sum()), count)
    return ratio_sequence(blocks, whole_blocks, value, count)


def judged_count(n: int, horizon: int = 1) -> int:
    """How many of n candles count in a figure: all, or once it has an interval those in full blocks."""
    length = _block_length(horizon)
    return n // length * length if is_bounded(n // length) else n


def _block_length(horizon: int) -> int:
    return max(BLOCK, 4 * horizon)  # forecasts of h candles overlap with h - 1 others


def skill_sequence(loss: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """1 - sum of losses / sum of the reference's: [n] each, in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(reference - loss, reference, horizon)


def gain_sequence(loss: FloatArray, without: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """The skill of `loss` minus that of `without`: [n] each, in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(without - loss, reference, horizon)


def share_sequence(hits: NDArray[np.bool_], counts: NDArray[np.bool_], horizon: int = 1) -> Estimate:
    """How often it was right among the candles that count: [n] each, in time order; n is of those that count."""
    found = candle_ratio_sequence(hits.astype(np.float64), counts.astype(np.float64), horizon)
    return replace(found, n=int(counts[: found.n].sum()))


def mean_sequence(values: FloatArray, horizon: int = 1) -> Estimate:
    """The mean of values [n], in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(values, np.ones_like(values), horizon)


def proven_after(parts: FloatArray, wholes: FloatArray) -> int | None:
    """After how many candles, evaluated at each full block, the ratio was first proven to be above 0; None: never.
    parts, wholes: as in `ratio_sequence`."""
    for blocks in range(FEWEST_BLOCKS, len(parts) + 1):
        n = blocks * BLOCK
        value = quotient(float(parts[:blocks].sum()), float(wholes[:blocks].sum()), n)
        found = ratio_sequence(parts[:blocks], wholes[:blocks], value, n)
        if found.low is not None and found.low > 0.0:
            return n
    return None
