"""A stretch of candles as columns, and the number of each candle that an indicator is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.indicators.spec import Source
from core.market.candle import Candle
from core.market.series import CandleSeries

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Candles in ascending time, [n] each. `close_before` is the close before the first one, NaN where none is."""

    open_time_ms: NDArray[np.int64]
    open: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray
    volume: FloatArray
    close_before: float

    @classmethod
    def of_series(cls, candles: CandleSeries, first: int, stop: int) -> Columns:
        """The candles from index `first` up to `stop`, as views."""
        part = slice(first, stop)
        return cls(
            candles.open_time_ms[part],
            candles.open[part],
            candles.high[part],
            candles.low[part],
            candles.close[part],
            candles.volume[part],
            float(candles.close[first - 1]) if first else np.nan,
        )

    @classmethod
    def of_candle(cls, candle: Candle, close_before: float) -> Columns:
        """One candle."""
        return cls(
            np.array([candle.open_time_ms], np.int64),
            np.array([candle.open], np.float64),
            np.array([candle.high], np.float64),
            np.array([candle.low], np.float64),
            np.array([candle.close], np.float64),
            np.array([candle.volume], np.float64),
            close_before,
        )

    def source(self, source: Source) -> FloatArray:
        """The number of each candle: [n]."""
        if source is Source.HL2:
            return (self.high + self.low) / 2.0
        if source is Source.HLC3:
            return (self.high + self.low + self.close) / 3.0
        if source is Source.OHLC4:
            return (self.open + self.high + self.low + self.close) / 4.0
        plain = {Source.OPEN: self.open, Source.HIGH: self.high, Source.LOW: self.low, Source.CLOSE: self.close}
        return plain[source]

    def true_range(self) -> FloatArray:
        """The distance that the price went since the close before: [n]; the range where there is none before."""
        before = np.concatenate(([self.close_before], self.close[:-1]))
        return np.fmax(self.high, before) - np.fmin(self.low, before)
