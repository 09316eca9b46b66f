"""The visible slice of a series as columns, grouped if candles are narrower than a pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_series import CandleSeries

_NARROWEST_SLOT_PX = 2.0


@dataclass(frozen=True, slots=True)
class CandleColumns:
    """Candles to draw, ascending. `index` holds the centres on the x axis, `group` the number of candles in each
    column."""

    index: NDArray[np.float64]
    open: NDArray[np.float64]
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    close: NDArray[np.float64]
    volume: NDArray[np.float64]
    group: int


@dataclass(frozen=True, slots=True)
class Extent:
    """The lowest low, the highest high and the largest volume of a slice."""

    low: float
    high: float
    volume: float


def group_size(spacing_px: float) -> int:
    """Candles per drawn candle: the smallest power of two that keeps them about two device pixels apart."""
    if spacing_px >= _NARROWEST_SLOT_PX:
        return 1
    return 1 << math.ceil(math.log2(_NARROWEST_SLOT_PX / spacing_px))


def columns(series: CandleSeries, first: int, stop: int, group: int) -> CandleColumns:
    """The candles first..stop - 1. Groups begin at multiples of `group`, so panning does not regroup them (no shimmer);
    the slice is widened to whole groups. `group` is a power of two from `group_size`.

    Groups are read from the series' pyramid, so the cost depends on the number of groups, not candles.
    """
    if group & (group - 1):
        raise ValueError(f"candles are grouped by powers of two, not by {group}")
    if first >= stop:
        first, stop, group = 0, 0, 1
    cells = series.level(group.bit_length() - 1)[:, first // group : -(-stop // group)]
    opened, high, low, close, volume = cells
    index = np.arange(first // group, first // group + close.size, dtype=np.float64) * group + (group - 1) / 2.0
    return CandleColumns(index, opened, high, low, close, volume, group)


def extent(drawn: CandleColumns) -> Extent | None:
    """The extent of these columns; None if empty."""
    if drawn.index.size == 0:
        return None
    return Extent(float(drawn.low.min()), float(drawn.high.max()), float(drawn.volume.max()))


def visible_gaps(series: CandleSeries, first: int, stop: int) -> NDArray[np.int64]:
    """The candles in first..stop - 1 before which at least one is missing, by their indices."""
    start = max(first - 1, 0)
    steps = np.diff(series.open_time_ms[start:stop])
    found = np.flatnonzero(steps > series.interval.duration_ms) + start + 1
    return found[found >= first].astype(np.int64)
