"""An indicator's inputs by name: prices, their means, and volume."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries, FloatArray

Number = TypeVar("Number", float, FloatArray)


@dataclass(frozen=True, slots=True)
class Columns:
    """Candles in ascending time: their opening times [n]; open, high, low, close and volume [5, n]."""

    open_time_ms: NDArray[np.int64]
    values: FloatArray

    @classmethod
    def of_series(cls, candles: CandleSeries) -> Columns:
        """Make views of all candles of a series."""
        return cls(candles.open_time_ms, candles.values)

    @classmethod
    def of_candle(cls, candle: Candle) -> Columns:
        return cls(np.array([candle.open_time_ms], np.int64), np.array(_numbers(candle), np.float64)[:, np.newaxis])

    def __len__(self) -> int:
        return self.open_time_ms.size

    def part(self, first: int, stop: int) -> Columns:
        """The candles from index `first` up to `stop`, as views."""
        return Columns(self.open_time_ms[first:stop], self.values[:, first:stop])

    def followed_by(self, candle: Candle) -> Columns:
        """Copy the candles, and append one."""
        one = Columns.of_candle(candle)
        times = np.append(self.open_time_ms, one.open_time_ms)
        return Columns(times, np.concatenate((self.values, one.values), axis=1))

    def column(self, name: str) -> FloatArray:
        """Return a number of each candle: [n]. name: a `Source`, or "volume"."""
        return _column(self.values, name)


def number(of: Candle, name: str) -> float:
    """This candle's value in `Columns.column`, bit for bit."""
    return _column(_numbers(of), name)


def _numbers(of: Candle) -> tuple[float, ...]:
    return (of.open, of.high, of.low, of.close, of.volume)


def _column(numbers: Iterable[Number], name: str) -> Number:
    opened, high, low, close, volume = numbers
    match name:
        case "hl2":
            return (high + low) / 2.0
        case "hlc3":
            return (high + low + close) / 3.0
        case "ohlc4":
            return (opened + high + low + close) / 4.0
    return {"open": opened, "high": high, "low": low, "close": close, "volume": volume}[name]
