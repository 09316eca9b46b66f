"""Ghost candles from forecast quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.domain.candle import Interval
from core.domain.events import Ghost
from core.domain.quantities import MEDIAN, NO_VOLUME, FloatArray, Quantity


def ghosts(natural: FloatArray, origin_close: float, origin_open_time_ms: int, interval: Interval) -> tuple[Ghost, ...]:
    """One ghost per horizon from natural quantiles [horizon, quantity, level].

    A ghost opens where the one before it closed (no jump at the seam) and closes at the median close. Its high and
    low are spread over the median range: each side has its median wick, and the rest is split equally.
    If both together are longer than that, they are shortened in proportion.
    """
    made: list[Ghost] = []
    opening = origin_close
    for horizon, quantiles in enumerate(natural, start=1):
        open_time_ms = origin_open_time_ms + horizon * interval.duration_ms
        ghost = _ghost(quantiles, origin_close, opening, open_time_ms)
        made.append(ghost)
        opening = ghost.close
    return tuple(made)


def _ghost(quantiles: FloatArray, origin_close: float, opening: float, open_time_ms: int) -> Ghost:
    median = quantiles[:, MEDIAN]
    closing = origin_close * math.exp(float(median[Quantity.CLOSE]))
    body = abs(math.log(closing / opening))
    rest = max(math.exp(float(median[Quantity.RANGE])) - body, 0.0)
    upper = float(_upper_wick(rest, median[Quantity.UPPER_WICK], median[Quantity.LOWER_WICK]))
    return Ghost(
        open_time_ms=open_time_ms,
        open=opening,
        high=max(opening, closing) * math.exp(upper),
        low=min(opening, closing) * math.exp(upper - rest),
        close=closing,
        volume=_volume(float(median[Quantity.VOLUME])),
        close_quantiles=tuple(float(price) for price in origin_close * np.exp(quantiles[Quantity.CLOSE])),
    )


def _upper_wick(rest: FloatArray | float, upper: FloatArray | np.float64, lower: FloatArray | np.float64) -> FloatArray:
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
    upper = _upper_wick(rest, median[:, Quantity.UPPER_WICK], median[:, Quantity.LOWER_WICK])
    return GhostColumns(
        open=opening,
        high=np.maximum(opening, closing) * np.exp(upper),
        low=np.minimum(opening, closing) * np.exp(upper - rest),
        close=closing,
        close_quantiles=origin_close[:, None] * np.exp(natural[:, Quantity.CLOSE]),
    )
