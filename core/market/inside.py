"""What finer candles of the same market say of a candle: how much the price moved within it, and when.

The sum of squared log ranges of the finer candles estimates the candle's variance better than its own range does
(Parkinson, The extreme value method for estimating the variance of the rate of return, 1980; Christensen and Podolskij,
Realized range-based estimation of integrated variance, 2007).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Inside, Interval, Market
from core.domain.quantities import FloatArray

LEAST_PER_CANDLE = 3
"""Finer candles in one: with two, little more is known than the candle itself says."""
USUAL = Interval.parse("1m")
"""The finer candles that exchanges are asked for, and that are preferred among stored ones."""


def can_be_inside(finer: Interval, coarser: Interval) -> bool:
    """Whether candles of one interval divide those of the other, into enough parts."""
    parts, rest = divmod(coarser.duration_ms, finer.duration_ms)
    return rest == 0 and parts >= LEAST_PER_CANDLE


def finer_market(known: Iterable[Market], market: Market) -> Market | None:
    """Of these markets the same one with candles that can be inside: its minutes, else the finest."""
    same = [each for each in known if (each.venue, each.symbol) == (market.venue, market.symbol)]
    fitting = [each for each in same if can_be_inside(each.interval, market.interval)]
    return min(fitting, key=lambda each: (each.interval != USUAL, each.interval), default=None)


def insides(
    open_time_ms: NDArray[np.int64], values: FloatArray, finer: Interval, coarser: Interval
) -> dict[int, Inside]:
    """The inside of each coarser candle, by its opening time, on the UTC grid.

    open_time_ms: of the finer candles, ascending, [n]. values: their open, high, low, close, ..., [4 or more, n].
    A coarser candle with less than half of its finer ones has no inside: what is missing may be most of it. Finer
    candles that are off the grid are left out where they close after it.
    """
    opened = open_time_ms // coarser.duration_ms * coarser.duration_ms
    is_within = open_time_ms + finer.duration_ms <= opened + coarser.duration_ms
    if not is_within.any():
        return {}
    open_time_ms, values, opened = open_time_ms[is_within], values[:, is_within], opened[is_within]
    candles, first = np.unique(opened, return_index=True)
    opening, high, low, close = values[:4]
    squared = np.log(high / low) ** 2
    share = ((open_time_ms - opened) / coarser.duration_ms).astype(np.float32)
    parts = np.stack(
        [
            squared,
            np.where(close > opening, squared, 0.0),
            np.where(close < opening, squared, 0.0),
            np.where(share >= 0.8 - finer.duration_ms / coarser.duration_ms / 2, squared, 0.0),
        ]
    )
    sums = np.add.reduceat(parts, first, axis=1).astype(np.float32)  # as they are stored
    stops = np.append(first[1:], open_time_ms.size)
    found = {}
    for place, (begin, stop) in enumerate(zip(first.tolist(), stops.tolist(), strict=True)):
        if 2 * (stop - begin) * finer.duration_ms < coarser.duration_ms:
            continue
        variance, up, down, last_fifth = sums[:, place].tolist()
        high_at, low_at = (
            float(share[begin + int(each)]) for each in (high[begin:stop].argmax(), low[begin:stop].argmin())
        )
        found[int(candles[place])] = Inside(stop - begin, variance, up, down, last_fifth, high_at, low_at)
    return found
