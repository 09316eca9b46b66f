"""The closes of one series at the candles of another, by time."""

from __future__ import annotations

import numpy as np

from core.market.series import CandleSeries, FloatArray, TimeArray

_AT_ONCE = 4_096


def closes_within(series: CandleSeries, first_ms: TimeArray, last_ms: TimeArray) -> FloatArray:
    """The newest close of `series` from each first to each last opening time, both included; NaN where it has no candle
    between them. Times ascend; shape (n,)."""
    if len(series) == 0:
        return np.full(first_ms.shape, np.nan)
    places = np.searchsorted(series.open_time_ms, last_ms, side="right") - 1
    places, is_after_first = np.maximum(places, 0), places >= 0
    is_there = is_after_first & (series.open_time_ms[places] >= first_ms)
    return np.where(is_there, series.close[places], np.nan)


def first_shared(own: CandleSeries, other: CandleSeries, first: int, stop: int) -> float | None:
    """The close of `other` at the first of the candles first..stop - 1 of `own` that it has, above zero; None where it
    has none."""
    if first >= stop or len(other) == 0:
        return None
    first = max(first, own.insertion_index(int(other.open_time_ms[0])))
    for start in range(first, stop, _AT_ONCE):
        times = own.open_time_ms[start : min(start + _AT_ONCE, stop)]
        closes = closes_within(other, times, times)
        found = np.flatnonzero(closes > 0.0)  # NaN is not
        if found.size:
            return float(closes[found[0]])
    return None
