"""Candle series for the indicators' tests, and every indicator with settings for short series."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.indicators.parameters import Anchor, Source
from core.indicators.registry import INDICATORS
from core.indicators.series import IndicatorSeries
from core.indicators.spec import IndicatorSpec

HOUR = Interval.parse("1h")
START_MS = 1_704_060_000_000  # 31 December 2023, 22:00 UTC: a new day, week, month and year begin two hours later

SHORT = (
    IndicatorSpec.of("sma", period=5),
    IndicatorSpec.of("sma", period=8, source=Source.HL2.value),
    IndicatorSpec.of("ema", period=4, source=Source.OHLC4.value),
    IndicatorSpec.of("bollinger", period=7, deviations=1.5),
    IndicatorSpec.of("vwap", anchor=Anchor.DAY.value),
    IndicatorSpec.of("vwap", anchor=Anchor.WEEK.value),
    IndicatorSpec.of("vwap", anchor=Anchor.MONTH.value),
    IndicatorSpec.of("rsi", period=3),
    IndicatorSpec.of("macd", fast=3, slow=6, signal=4),
    IndicatorSpec.of("atr", period=1),
    IndicatorSpec.of("atr", period=5),
    IndicatorSpec.of("wma", period=6, source=Source.HLC3.value),
    IndicatorSpec.of("donchian", period=4),
    IndicatorSpec.of("sar"),
    IndicatorSpec.of("sar", acceleration=0.1, maximum=0.15),
    IndicatorSpec.of("stochastic", period=5, smoothing=1, average=2),
    IndicatorSpec.of("stochastic", period=4, smoothing=3, average=1),
    IndicatorSpec.of("williams_r", period=6),
    IndicatorSpec.of("cci", period=5),
    IndicatorSpec.of("roc", period=1),
    IndicatorSpec.of("adx", period=3),
    IndicatorSpec.of("mfi", period=5),
    IndicatorSpec.of("obv"),
)
USUAL = tuple(IndicatorSpec.of(kind) for kind in INDICATORS)


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
