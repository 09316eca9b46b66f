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

import numpy as np

from core.domain.events import Estimate
from core.domain.quantities import FloatArray
from core.forecast.score import FEWEST_FOR_AN_ESTIMATE

BLOCK = 50
"""Candles in a block."""
FEWEST_BLOCKS = 15
"""With fewer blocks their deviation is too uncertain for the asymptotic result."""
FEWEST_FOR_A_PROOF = BLOCK * FEWEST_BLOCKS
_ALPHA = 0.05
_TIGHTEST_AT = 40
"""Blocks after which the interval is tightest for their number: 2,000 candles."""
_RHO_SQUARED = (-2.0 * math.log(_ALPHA) + math.log(-2.0 * math.log(_ALPHA)) + 1.0) / _TIGHTEST_AT


def ratio_sequence(parts: FloatArray, wholes: FloatArray, value: float | None, n: int) -> Estimate:
    """The ratio of two sums with its confidence sequence.

    parts, wholes: of each full block, in time order: [B] each. value: the ratio over all n candles, also those not yet
    in a full block; None, or too few candles, gives no estimate.
    """
    if value is None or n < FEWEST_FOR_AN_ESTIMATE:
        return Estimate(None, None, None, n)
    blocks = parts.shape[0]
    whole = float(wholes.mean()) if blocks else 0.0
    if blocks < FEWEST_BLOCKS or whole <= 0.0:
        return Estimate(value, None, None, n)
    centre = float(parts.sum() / wholes.sum())
    error = float((parts - centre * wholes).std(ddof=1)) / whole
    margin = error * _width(blocks)
    return Estimate(value, min(centre - margin, value), max(centre + margin, value), n)


def _width(blocks: int) -> float:
    """Half the interval's width in standard deviations of a block."""
    scaled = blocks * _RHO_SQUARED
    return math.sqrt(2.0 * (scaled + 1.0) / (blocks * scaled) * math.log(math.sqrt(scaled + 1.0) / _ALPHA))


def candle_ratio_sequence(parts: FloatArray, wholes: FloatArray, horizon: int = 1) -> Estimate:
    """The sum of parts / the sum of wholes: [n] each, in time order, of forecasts of `horizon` candles."""
    n, total = parts.shape[0], float(wholes.sum())
    length = max(BLOCK, 4 * horizon)  # forecasts of h candles overlap with h - 1 others
    full = n // length * length
    blocks, whole_blocks = (each[:full].reshape(-1, length).sum(axis=1) for each in (parts, wholes))
    return ratio_sequence(blocks, whole_blocks, float(parts.sum()) / total if total > 0.0 else None, n)


def skill_sequence(loss: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """1 - sum of losses / sum of the reference's: [n] each, in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(reference - loss, reference, horizon)


def gain_sequence(loss: FloatArray, without: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """The skill of `loss` minus that of `without`: [n] each, in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(without - loss, reference, horizon)


def mean_sequence(values: FloatArray, horizon: int = 1) -> Estimate:
    """The mean of values [n], in time order, of forecasts of `horizon` candles."""
    return candle_ratio_sequence(values, np.ones_like(values), horizon)


def proven_after(loss: FloatArray, against: FloatArray, reference: FloatArray) -> int | None:
    """After how many candles, evaluated at each full block, the gain of `loss` over `against` was first proven; None:
    never. [n] each, in time order, one candle ahead."""
    full = loss.shape[0] // BLOCK * BLOCK
    parts, wholes = (each[:full].reshape(-1, BLOCK).sum(axis=1) for each in (against - loss, reference))
    for blocks in range(FEWEST_BLOCKS, len(parts) + 1):
        whole = float(wholes[:blocks].sum())
        value = float(parts[:blocks].sum()) / whole if whole > 0.0 else None
        found = ratio_sequence(parts[:blocks], wholes[:blocks], value, blocks * BLOCK)
        if found.low is not None and found.low > 0.0:
            return blocks * BLOCK
    return None
