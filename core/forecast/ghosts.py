"""Ghost candles from forecast quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.domain.candle import Interval
from core.domain.events import Ghost
from core.domain.quantities import MEDIAN, NO_VOLUME, FloatArray, Quantity


def ghosts(
    natural: FloatArray,
    origin_close: float,
    origin_open_time_ms: int,
    interval: Interval,
    closes: FloatArray | None = None,
) -> tuple[Ghost, ...]:
    """One ghost per horizon from natural quantiles [horizon, quantity, level].

    A ghost opens where the one before it closed (no jump at the seam) and closes at the median close. Its high and
    low are spread over the median range: each side has its median wick, and the rest is split equally.
    If both together are longer than that, they are shortened in proportion.

    closes: [horizon], log returns from the origin's close at which the bodies end; None: the medians.
    """
    median = natural[:, :, MEDIAN]
    moves = median[:, Quantity.CLOSE] if closes is None else closes
    closing = [origin_close * math.exp(move) for move in moves.tolist()]
    opening = [origin_close, *closing[:-1]]
    body = [abs(math.log(end / start)) for start, end in zip(opening, closing, strict=True)]
    length = [math.exp(log_range) for log_range in median[:, Quantity.RANGE].tolist()]
    rest = np.maximum(np.subtract(length, body), 0.0)
    upper = upper_wick(rest, median[:, Quantity.UPPER_WICK], median[:, Quantity.LOWER_WICK])
    prices = (origin_close * np.exp(natural[:, Quantity.CLOSE])).tolist()
    return tuple(
        Ghost(
            open_time_ms=origin_open_time_ms + (row + 1) * interval.duration_ms,
            open=opening[row],
            high=max(opening[row], closing[row]) * math.exp(above),
            low=min(opening[row], closing[row]) * math.exp(above - whole),
            close=closing[row],
            volume=_volume(float(median[row, Quantity.VOLUME])),
            close_quantiles=tuple(prices[row]),
        )
        for row, (above, whole) in enumerate(zip(upper.tolist(), rest.tolist(), strict=True))
    )


def upper_wick(rest: FloatArray, upper: FloatArray, lower: FloatArray) -> FloatArray:
    """How much of `rest`, the range without the body, lies above it; between 0 and `rest`.

    Medians alone would put all of it on one side wherever a market has no wick more often than not.
    """
    both = upper + lower
    shortened = rest * np.divide(upper, both, out=np.full_like(both, 0.5), where=both > 0.0)
    above: FloatArray = np.where(both <= rest, upper + (rest - both) / 2.0, shortened)
    return np.clip(above, 0.0, rest)


def _volume(log_volume: float) -> float:
    volume = math.exp(log_volume)
    return 0.0 if volume <= NO_VOLUME else volume


def overlap(ghost_low: float, ghost_high: float, low: float, high: float) -> float:
    """Intersection over union of two price ranges, 0 to 1. Two equal points overlap fully."""
    union = max(ghost_high, high) - min(ghost_low, low)
    shared = min(ghost_high, high) - max(ghost_low, low)
    if union <= 0.0:
        return 1.0
    return max(shared, 0.0) / union


@dataclass(frozen=True, slots=True)
class GhostColumns:
    """Ghosts of one horizon and many origins: prices [n], close quantiles [n, level]."""

    open: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray
    close_quantiles: FloatArray


def ghost_columns(natural: FloatArray, before: FloatArray, origin_close: FloatArray) -> GhostColumns:
    """`ghosts` for many origins at once.

    natural: [n, quantity, level] of the horizon. before: [n], the median close return of the horizon before it, 0 for
    the first. origin_close: [n].
    """
    median = natural[:, :, MEDIAN]
    opening, closing = origin_close * np.exp(before), origin_close * np.exp(median[:, Quantity.CLOSE])
    body = np.abs(np.log(closing / opening))
    rest = np.maximum(np.exp(median[:, Quantity.RANGE]) - body, 0.0)
    upper = upper_wick(rest, median[:, Quantity.UPPER_WICK], median[:, Quantity.LOWER_WICK])
    return GhostColumns(
        open=opening,
        high=np.maximum(opening, closing) * np.exp(upper),
        low=np.minimum(opening, closing) * np.exp(upper - rest),
        close=closing,
        close_quantiles=origin_close[:, None] * np.exp(natural[:, Quantity.CLOSE]),
    )
