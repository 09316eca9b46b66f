"""Each indicator against TA-Lib, VWAP against pandas: over real candles and seeded ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import talib
from numpy.typing import NDArray

from core.indicators.spec import Anchor, IndicatorKind, IndicatorSpec, Source
from core.market.candle import Interval
from core.market.files import read_candle_file
from core.market.series import CandleSeries
from tests.core.indicators.support import series_of, values_of
from tests.support.candles import random_walk

Values = NDArray[np.float64]
_REAL = ("binance/BTCUSDT_15m_2020_first9000.csv", "binance/BTCUSDT_1m_20201201.csv", "stock/XSHG_5min_600977.csv")
_AGREES = 1e-9
"""TA-Lib's running sums cancel; ours do not. Relative to the price."""


def _bands(candles: CandleSeries, period: int, deviations: float) -> tuple[Values, ...]:
    return talib.BBANDS(candles.close, period, deviations, deviations)


def _macd(candles: CandleSeries, fast: int, slow: int, signal: int) -> tuple[Values, ...]:
    return talib.MACD(candles.close, fast, slow, signal)


_ORACLES: Mapping[IndicatorKind, Callable[..., object]] = {
    IndicatorKind.SMA: lambda candles, period: talib.SMA(candles.close, period),
    IndicatorKind.EMA: lambda candles, period: talib.EMA(candles.close, period),
    IndicatorKind.BOLLINGER: _bands,
    IndicatorKind.RSI: lambda candles, period: talib.RSI(candles.close, period),
    IndicatorKind.MACD: _macd,
    IndicatorKind.ATR: lambda candles, period: talib.ATR(candles.high, candles.low, candles.close, period),
}
_SPECS = [
    *(IndicatorSpec.of(kind) for kind in _ORACLES),
    *(IndicatorSpec.of(IndicatorKind.SMA, period=period) for period in (2, 31, 200, 999)),
    *(IndicatorSpec.of(IndicatorKind.EMA, period=period) for period in (2, 33, 200, 999)),
    IndicatorSpec.of(IndicatorKind.BOLLINGER, period=2, deviations=0.5),
    IndicatorSpec.of(IndicatorKind.BOLLINGER, period=99, deviations=3.25),
    *(IndicatorSpec.of(IndicatorKind.RSI, period=period) for period in (2, 50)),
    IndicatorSpec.of(IndicatorKind.MACD, fast=2, slow=3, signal=2),
    IndicatorSpec.of(IndicatorKind.MACD, fast=40, slow=100, signal=33),
    *(IndicatorSpec.of(IndicatorKind.ATR, period=period) for period in (2, 77)),
]


def test_every_kind_is_held_to_a_library() -> None:
    """VWAP to pandas, below; all others to TA-Lib."""
    assert set(_ORACLES) == set(IndicatorKind) - {IndicatorKind.VWAP}


def _agree(spec: IndicatorSpec, candles: CandleSeries) -> None:
    numbers = [value for name, value in spec.parameters().items() if name != "source"]
    expected = np.atleast_2d(np.array(_ORACLES[spec.kind](candles, *numbers)))
    scale = 100.0 if spec.kind is IndicatorKind.RSI else float(candles.close.max(initial=0.0))
    if spec.kind is IndicatorKind.RSI:  # where the price has not moved yet, we say 50 and TA-Lib 0
        still = np.maximum.accumulate(candles.close) == np.minimum.accumulate(candles.close)
        expected[0, still & np.isfinite(expected[0])] = 50.0
    np.testing.assert_allclose(values_of(spec, candles), expected, rtol=0.0, atol=_AGREES * scale)


@pytest.mark.parametrize("spec", _SPECS, ids=str)
def test_random_candles_give_what_talib_gives(spec: IndicatorSpec) -> None:
    _agree(spec, series_of(random_walk(5_000, seed=5), Interval.parse("1m")))


@pytest.mark.parametrize("spec", _SPECS, ids=str)
def test_the_warm_up_is_that_of_talib(spec: IndicatorSpec) -> None:
    for count in (0, 1, 2, 3, 14, 15, 20, 33, 34, 35, 66):
        _agree(spec, series_of(random_walk(count, seed=6), Interval.parse("1m")))


@pytest.fixture(params=_REAL)
def real(request: pytest.FixtureRequest, shared_data: Path) -> CandleSeries:
    file = read_candle_file(shared_data / request.param)
    assert len(file.candles) > 1_000
    return series_of(file.candles, file.interval)


@pytest.mark.needs_data
def test_real_candles_give_what_talib_gives(real: CandleSeries) -> None:
    for spec in _SPECS:
        _agree(spec, real)


@pytest.mark.parametrize("source", list(Source))
def test_every_source_is_the_number_it_says(source: Source) -> None:
    candles = series_of(random_walk(300, seed=7))
    opened, high, low, close = candles.open, candles.high, candles.low, candles.close
    prices = {
        Source.OPEN: opened,
        Source.HIGH: high,
        Source.LOW: low,
        Source.CLOSE: close,
        Source.HL2: talib.MEDPRICE(high, low),
        Source.HLC3: talib.TYPPRICE(high, low, close),
        Source.OHLC4: talib.AVGPRICE(opened, high, low, close),
    }
    found = values_of(IndicatorSpec.of(IndicatorKind.EMA, period=9, source=source.value), candles)
    np.testing.assert_allclose(found[0], talib.EMA(prices[source], 9), rtol=1e-12)


_FREQUENCIES = {Anchor.DAY: "D", Anchor.WEEK: "W-SUN", Anchor.MONTH: "M"}


def _vwap_by_pandas(candles: CandleSeries, anchor: Anchor) -> Values:
    times = pd.DatetimeIndex(pd.to_datetime(candles.open_time_ms, unit="ms"))
    price = (candles.high + candles.low + candles.close) / 3.0
    frame = pd.DataFrame({"traded": price * candles.volume, "volume": candles.volume})
    sums = frame.groupby(np.asarray(times.to_period(_FREQUENCIES[anchor]).asi8)).cumsum()
    vwap = (sums["traded"] / sums["volume"]).where(sums["volume"] > 0.0, price)
    return vwap.to_numpy(dtype=np.float64)


@pytest.mark.parametrize("anchor", list(Anchor))
@pytest.mark.parametrize("interval", ["1m", "30m", "7h", "1d", "1w"])
def test_vwap_of_random_candles_is_that_of_pandas(anchor: Anchor, interval: str) -> None:
    walk = random_walk(4_000, seed=8, interval=Interval.parse(interval))
    holes = np.random.default_rng(8).random(len(walk)) < 0.1
    candles = series_of(
        (candle for candle, hole in zip(walk, holes, strict=True) if not hole), Interval.parse(interval)
    )
    found = values_of(IndicatorSpec.of(IndicatorKind.VWAP, anchor=anchor.value), candles)
    np.testing.assert_allclose(found[0], _vwap_by_pandas(candles, anchor), rtol=1e-12)


@pytest.mark.needs_data
@pytest.mark.parametrize("anchor", list(Anchor))
def test_vwap_of_real_candles_is_that_of_pandas(real: CandleSeries, anchor: Anchor) -> None:
    found = values_of(IndicatorSpec.of(IndicatorKind.VWAP, anchor=anchor.value), real)
    np.testing.assert_allclose(found[0], _vwap_by_pandas(real, anchor), rtol=1e-12)
