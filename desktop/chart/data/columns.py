"""The visible slice of a series as columns: grouped if candles are narrower than a pixel, and in the shape of a candle
style: unchanged, or averaged (Heikin-Ashi)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from desktop.chart.style import CandleStyle

_NARROWEST_SLOT_PX = 2.0
_NAMES = ("index", "open", "high", "low", "close", "volume")
_WARM_UP = 64
"""The weight of an opening halves with each candle: after this many, the first candle no longer matters."""


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
    """The candles first..stop - 1, at least one. Groups begin at multiples of `group`, so panning does not regroup them
    (no shimmer); the slice is widened to whole groups. `group` is a power of two from `group_size`.

    Groups are read from the series' pyramid, so the cost depends on the number of groups, not candles.
    """
    cells = series.level(group.bit_length() - 1)[:, first // group : -(-stop // group)]
    opened, high, low, close, volume = cells
    index = np.arange(first // group, first // group + close.size, dtype=np.float64) * group + (group - 1) / 2.0
    return CandleColumns(index, opened, high, low, close, volume, group)


def extent(drawn: CandleColumns) -> Extent:
    return Extent(float(drawn.low.min()), float(drawn.high.max()), float(drawn.volume.max()))


def visible_gaps(series: CandleSeries, first: int, stop: int) -> NDArray[np.int64]:
    """The candles in first..stop - 1 before which at least one is missing, by their indices."""
    start = max(first - 1, 0)
    steps = np.diff(series.open_time_ms[start:stop])
    found = np.flatnonzero(steps > series.interval.duration_ms) + start + 1
    return found[found >= first].astype(np.int64)


def shaped(series: CandleSeries, first: int, stop: int, group: int, style: CandleStyle) -> CandleColumns:
    """The closed candles first..stop - 1 (widened to whole groups) in this style; first < stop."""
    if style is not CandleStyle.HEIKIN_ASHI:
        return columns(series, first, stop, group)
    begin = max(0, first - _WARM_UP * group)
    averaged = heikin_ashi(columns(series, begin, stop, group))
    wanted = -(-stop // group) - first // group
    last: dict[str, Any] = {name: getattr(averaged, name)[-wanted:] for name in _NAMES}
    return replace(averaged, **last)


def shaped_forming(series: CandleSeries, forming: Candle, style: CandleStyle) -> CandleColumns:
    """The forming candle as one column; its averages continue the averages of the closed candles."""
    count, opened, high, low, close = len(series), forming.open, forming.high, forming.low, forming.close
    if style is CandleStyle.HEIKIN_ASHI:
        opened, close = (opened + close) / 2.0, (opened + high + low + close) / 4.0
        if count:
            before = heikin_ashi(columns(series, max(0, count - _WARM_UP), count, 1))
            opened = float(before.open[-1] + before.close[-1]) / 2.0
        high, low = max(high, opened, close), min(low, opened, close)
    numbers = (count, opened, high, low, close, forming.volume)
    alone: dict[str, Any] = {name: np.array([number], np.float64) for name, number in zip(_NAMES, numbers, strict=True)}
    return CandleColumns(group=1, **alone)


def heikin_ashi(drawn: CandleColumns) -> CandleColumns:
    """Averaged candles: close = (o + h + l + c) / 4; open = the middle of the averaged candle before.

    Source: D. Valcu, "Using the Heikin-Ashi technique", Stocks & Commodities, February 2004.
    """
    close = (drawn.open + drawn.high + drawn.low + drawn.close) / 4.0
    first = float(drawn.open[0] + drawn.close[0]) / 2.0
    middles = accumulate(close[:-1].tolist(), lambda opened, closed: (opened + closed) / 2.0, initial=first)
    opened = np.fromiter(middles, dtype=np.float64, count=close.size)
    return replace(
        drawn,
        open=opened,
        high=np.maximum(drawn.high, np.maximum(opened, close)),
        low=np.minimum(drawn.low, np.minimum(opened, close)),
        close=close,
    )
