"""Compares two markets by time: the closes of one at the candles of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.domain.candle_series import CandleSeries, FloatArray, TimeArray

_AT_ONCE = 4_096


def closes_within(series: CandleSeries, first_ms: TimeArray, last_ms: TimeArray) -> FloatArray:
    """The newest close of `series` from each first to each last opening time, both included; NaN if it has no candle in
    between. Times ascend; shape (n,)."""
    if len(series) == 0:
        return np.full(first_ms.shape, np.nan)
    places = np.searchsorted(series.open_time_ms, last_ms, side="right") - 1
    places, is_after_first = np.maximum(places, 0), places >= 0
    is_there = is_after_first & (series.open_time_ms[places] >= first_ms)
    return np.where(is_there, series.close[places], np.nan)


def first_shared(own: CandleSeries, other: CandleSeries, first: int, stop: int) -> float | None:
    """The first close above zero that `other` has at one of the candles first..stop - 1 of `own`; None without one."""
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


@dataclass(frozen=True)
class Pair:
    """Two series aligned by time, and their closes at the common start."""

    own: CandleSeries
    other: CandleSeries
    own_close: float
    other_close: float

    @classmethod
    def of(cls, own: CandleSeries, other: CandleSeries, first: int, stop: int) -> Pair | None:
        """A pair aligned at the first shared candle of first..stop - 1 of `own`; None if there is none."""
        close = first_shared(own, other, first, stop)
        return None if close is None else cls(own, other, float(own.close[first]), close)

    @property
    def factor(self) -> float:
        """Factor from the other's prices to prices that start at the own close."""
        return self.own_close / self.other_close

    def change(self, close: float) -> float:
        """The other's change since the start, as a share."""
        return close / self.other_close - 1.0

    def close_at(self, index: int | None) -> float | None:
        """The other's close at the own candle `index`; None: its last one that is not newer than the newest own
        candle."""
        if index is None:
            found: int | None = self.other.insertion_index(int(self.own.open_time_ms[-1]) + 1) - 1
        else:
            found = self.other.index_at(int(self.own.open_time_ms[index])) if 0 <= index < len(self.own) else None
        return None if found is None or found < 0 else float(self.other.close[found])

    def extremes(self, first: int, stop: int) -> tuple[float, float] | None:
        """The other's lowest low and highest high over the own candles first..stop - 1, in own prices."""
        times = self.own.open_time_ms
        begin, end = self.other.insertion_index(int(times[first])), self.other.insertion_index(int(times[stop - 1]) + 1)
        edges = self.other.extremes(begin, end)
        return None if edges is None else (edges[0] * self.factor, edges[1] * self.factor)
