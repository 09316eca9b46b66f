"""An indicator's inputs by name: prices, their means, and volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Candles in ascending time, [n] each."""

    open_time_ms: NDArray[np.int64]
    open: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray
    volume: FloatArray

    @classmethod
    def of_series(cls, candles: CandleSeries) -> Columns:
        """All candles of a series, as views."""
        return cls(candles.open_time_ms, candles.open, candles.high, candles.low, candles.close, candles.volume)

    def part(self, first: int, stop: int) -> Columns:
        """The candles from index `first` up to `stop`, as views."""
        return Columns(
            self.open_time_ms[first:stop],
            self.open[first:stop],
            self.high[first:stop],
            self.low[first:stop],
            self.close[first:stop],
            self.volume[first:stop],
        )

    def __len__(self) -> int:
        return self.close.size

    @classmethod
    def of_candle(cls, candle: Candle) -> Columns:
        """One candle."""
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        return cls(np.array([candle.open_time_ms], np.int64), *(np.array([number], np.float64) for number in numbers))

    def followed_by(self, candle: Candle) -> Columns:
        """These and one more candle, as copies."""
        one = Columns.of_candle(candle)
        return Columns(
            np.append(self.open_time_ms, one.open_time_ms),
            np.append(self.open, one.open),
            np.append(self.high, one.high),
            np.append(self.low, one.low),
            np.append(self.close, one.close),
            np.append(self.volume, one.volume),
        )


Candles = TypeVar("Candles", Columns, Candle)


def column(of: Columns, name: str) -> FloatArray:
    """A number of each candle: [n]. name: a `Source`, or "volume"."""
    return cast("FloatArray", _number(of, name))


def number(of: Candle, name: str) -> float:
    """The same for one candle, bit for bit."""
    return cast("float", _number(of, name))


def _number(of: Candles, name: str) -> object:
    match name:
        case "hl2":
            return (of.high + of.low) / 2.0
        case "hlc3":
            return (of.high + of.low + of.close) / 3.0
        case "ohlc4":
            return (of.open + of.high + of.low + of.close) / 4.0
    return getattr(of, name)
