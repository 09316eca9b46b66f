"""Ghost candles from forecast quantiles."""

from __future__ import annotations

from collections.abc import Sequence
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
    """One ghost per horizon from natural quantiles [horizon, quantity, level]; see `ghosts_of`."""
    given = None if closes is None else closes[None]
    return ghosts_of(natural[None], np.array([origin_close]), [origin_open_time_ms], interval, given)[0]


def ghosts_of(
    natural: FloatArray,
    origin_close: FloatArray,
    origin_open_time_ms: Sequence[int],
    interval: Interval,
    closes: FloatArray | None = None,
) -> list[tuple[Ghost, ...]]:
    """The ghosts of several forecasts, one per horizon, from natural quantiles [n, horizon, quantity, level].

    A ghost opens where the one before it closed (no jump at the seam) and closes at the median close. Its high and
    low are spread over the median range: each side has its median wick, and the rest is split equally.
    If both together are longer than that, they are shortened in proportion.

    closes: [n, horizon], log returns from the origin's close at which the bodies end; None: the medians.
    """
    columns = ghost_columns(natural, returns_before(natural, closes), origin_close[:, None], closes)
    volume = np.exp(natural[..., Quantity.VOLUME, MEDIAN])
    numbers = [
        array.tolist()
        for array in (columns.open, columns.high, columns.low, columns.close, volume, columns.close_quantiles)
    ]
    return [
        tuple(
            Ghost(
                open_time_ms=origin_ms + ahead * interval.duration_ms,
                open=opened,
                high=high,
                low=low,
                close=close,
                volume=0.0 if volume <= NO_VOLUME else volume,
                close_quantiles=tuple(quantiles),
            )
            for ahead, (opened, high, low, close, volume, quantiles) in enumerate(zip(*own, strict=True), start=1)
        )
        for origin_ms, own in zip(origin_open_time_ms, zip(*numbers, strict=True), strict=True)
    ]


def upper_wick(rest: FloatArray, upper: FloatArray, lower: FloatArray) -> FloatArray:
    """How much of `rest`, the range without the body, lies above it; between 0 and `rest`.

    Medians alone would put all of it on one side wherever a market has no wick more often than not.
    """
    both = upper + lower
    shortened = rest * np.divide(upper, both, out=np.full_like(both, 0.5), where=both > 0.0)
    above: FloatArray = np.where(both <= rest, upper + (rest - both) / 2.0, shortened)
    return np.clip(above, 0.0, rest)


def overlap(ghost_low: FloatArray, ghost_high: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Intersection over union of two price ranges [n], 0 to 1. Two equal points overlap fully."""
    union = np.maximum(ghost_high, high) - np.minimum(ghost_low, low)
    shared = np.maximum(np.minimum(ghost_high, high) - np.maximum(ghost_low, low), 0.0)
    is_point = union <= 0.0
    return np.where(is_point, 1.0, shared / np.where(is_point, 1.0, union))


@dataclass(frozen=True, slots=True)
class GhostColumns:
    """Ghosts of many forecasts: prices [...], close quantiles [..., level]."""

    open: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray
    close_quantiles: FloatArray


def returns_before(natural: FloatArray, closes: FloatArray | None = None) -> FloatArray:
    """The close return at which the ghost of each horizon opens: [..., horizon], 0 of the first. closes: as in
    `ghosts_of`."""
    moves = natural[..., Quantity.CLOSE, MEDIAN] if closes is None else closes
    return np.concatenate([np.zeros_like(moves[..., :1]), moves[..., :-1]], axis=-1)


def ghost_columns(
    natural: FloatArray, before: FloatArray, origin_close: FloatArray, closes: FloatArray | None = None
) -> GhostColumns:
    """Ghosts as `ghosts_of` describes them. natural: [..., quantity, level]. before: [...], the close return at which
    each opens. closes: [...], the one at which it closes; None: the median. origin_close: [...]."""
    median = natural[..., MEDIAN]
    moves = median[..., Quantity.CLOSE] if closes is None else closes
    opening, closing = origin_close * np.exp(before), origin_close * np.exp(moves)
    body = np.abs(np.log(closing / opening))
    rest = np.maximum(np.exp(median[..., Quantity.RANGE]) - body, 0.0)
    upper = upper_wick(rest, median[..., Quantity.UPPER_WICK], median[..., Quantity.LOWER_WICK])
    return GhostColumns(
        open=opening,
        high=np.maximum(opening, closing) * np.exp(upper),
        low=np.minimum(opening, closing) * np.exp(upper - rest),
        close=closing,
        close_quantiles=origin_close[..., None] * np.exp(natural[..., Quantity.CLOSE, :]),
    )
