"""Candle series for the indicators' tests, and every kind with settings that are short enough to be tried."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.indicators.series import IndicatorSeries
from core.indicators.spec import Anchor, IndicatorKind, IndicatorSpec, Source
from core.market.candle import Candle, Interval
from core.market.series import CandleSeries

HOUR = Interval.parse("1h")
START_MS = 1_704_060_000_000  # 31 December 2023, 22:00 UTC: a new day, week, month and year begin two hours later

SHORT = (
    IndicatorSpec.of(IndicatorKind.SMA, period=5),
    IndicatorSpec.of(IndicatorKind.SMA, period=8, source=Source.HL2.value),
    IndicatorSpec.of(IndicatorKind.EMA, period=4, source=Source.OHLC4.value),
    IndicatorSpec.of(IndicatorKind.BOLLINGER, period=7, deviations=1.5),
    IndicatorSpec.of(IndicatorKind.VWAP, anchor=Anchor.DAY.value),
    IndicatorSpec.of(IndicatorKind.VWAP, anchor=Anchor.WEEK.value),
    IndicatorSpec.of(IndicatorKind.VWAP, anchor=Anchor.MONTH.value),
    IndicatorSpec.of(IndicatorKind.RSI, period=3),
    IndicatorSpec.of(IndicatorKind.MACD, fast=3, slow=6, signal=4),
    IndicatorSpec.of(IndicatorKind.ATR, period=1),
    IndicatorSpec.of(
        IndicatorKind.ATR,
        period=5,
    ),
)
USUAL = tuple(IndicatorSpec.of(kind) for kind in IndicatorKind)


def series_of(candles: Iterable[Candle], interval: Interval = HOUR) -> CandleSeries:
    """A series of these."""
    series = CandleSeries(interval)
    series.extend(candles)
    return series


def values_of(spec: IndicatorSpec, candles: CandleSeries) -> NDArray[np.float64]:
    """The values of a new indicator over all candles at once."""
    return IndicatorSeries(spec, candles).values


def same(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether the values are equal, bit by bit, and NaN in the same places."""
    return bool(np.array_equal(one, other, equal_nan=True))
