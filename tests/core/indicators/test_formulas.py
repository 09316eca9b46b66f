"""Each indicator against its author's formula, computed candle by candle, and against published examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.indicators.parameters import Anchor, Source
from core.indicators.registry import INDICATORS, Unit
from core.indicators.spec import IndicatorSpec
from core.market.history.candle_file import read_candle_file
from tests.core.indicators import formulas
from tests.core.indicators.formulas import Values
from tests.core.indicators.support import HOUR, SHORT, START_MS, USUAL, series_of, values_of
from tests.support.candles import random_walk

_REAL = ("binance/BTCUSDT_15m_2020_first9000.csv", "binance/BTCUSDT_1m_20201201.csv", "stock/XSHG_5min_600977.csv")
_AGREES = 1e-9
"""Of the price, of the largest volume sum, or of a hundred."""
_SPECS = [
    *USUAL,
    *SHORT,
    *(IndicatorSpec.of("sma", period=period) for period in (2, 31, 200, 999)),
    *(IndicatorSpec.of("ema", period=period) for period in (2, 33, 200, 999)),
    IndicatorSpec.of("bollinger", period=2, deviations=0.5),
    IndicatorSpec.of("bollinger", period=99, deviations=3.25),
    *(IndicatorSpec.of("rsi", period=period) for period in (2, 50)),
    IndicatorSpec.of("macd", fast=2, slow=3, signal=2),
    IndicatorSpec.of("macd", fast=40, slow=100, signal=33),
    *(IndicatorSpec.of("atr", period=period) for period in (2, 77)),
    *(IndicatorSpec.of("adx", period=period) for period in (2, 40)),
    IndicatorSpec.of("donchian", period=500),
]
_MINUTE = Interval.parse("1m")


def test_every_indicator_has_a_formula_and_a_short_period() -> None:
    without = [kind for kind in INDICATORS if not hasattr(formulas, kind)]
    assert not without, "write the formula of each in tests/core/indicators/formulas.py, in a function of that name"
    untried = set(INDICATORS) - {spec.kind for spec in SHORT}
    assert not untried, "add each to SHORT in tests/core/indicators/support.py: candles of few prices are tried with it"


def _prices(candles: CandleSeries, source: Source | None) -> Values:
    match source:
        case Source.HL2:
            return (candles.high + candles.low) / 2
        case Source.HLC3:
            return (candles.high + candles.low + candles.close) / 3
        case Source.OHLC4:
            return (candles.open + candles.high + candles.low + candles.close) / 4
    return np.array(getattr(candles, source or "close"))


def _agree(spec: IndicatorSpec, candles: CandleSeries) -> None:
    given = {name: value for name, value in spec.parameters().items() if name != "source"}
    expected = np.atleast_2d(getattr(formulas, spec.kind)(candles, _prices(candles, spec.source), **given))
    scales = {
        Unit.PRICE: float(candles.close.max(initial=0.0)),
        Unit.VOLUME: float(candles.volume.sum()),
        Unit.NUMBER: 100.0,
    }
    found = values_of(spec, candles)
    np.testing.assert_allclose(found, expected, rtol=_AGREES, atol=_AGREES * scales[INDICATORS[spec.kind].unit])


@pytest.mark.parametrize("spec", _SPECS, ids=str)
def test_random_candles_equal_the_formula(spec: IndicatorSpec) -> None:
    _agree(spec, series_of(random_walk(3_000, seed=5), _MINUTE))


@pytest.mark.parametrize("spec", _SPECS, ids=str)
def test_the_first_values_equal_the_formula(spec: IndicatorSpec) -> None:
    for count in (0, 1, 2, 3, 14, 15, 20, 33, 34, 35, 66):
        _agree(spec, series_of(random_walk(count, seed=6), _MINUTE))


_TICK = 0.5
_coarse_candle = st.tuples(*(st.integers(0, 6) for _ in range(5)))
"""Few prices and volumes, so that many are equal: open, high above it, low below it, where the close is, volume."""


def _coarse(index: int, numbers: tuple[int, ...]) -> Candle:
    opened, above, below, place, volume = numbers
    low, high = 100 + (opened - below) * _TICK, 100 + (opened + above) * _TICK
    close = low + round((high - low) / _TICK * place / 6) * _TICK
    return Candle(START_MS + index * HOUR.duration_ms, 100 + opened * _TICK, high, low, close, float(volume))


@pytest.mark.parametrize("spec", SHORT, ids=str)
@settings(max_examples=40)
@given(rows=st.lists(_coarse_candle, max_size=60))
def test_candles_of_few_prices_equal_the_formula(spec: IndicatorSpec, rows: list[tuple[int, ...]]) -> None:
    _agree(spec, series_of(_coarse(index, row) for index, row in enumerate(rows)))


@pytest.fixture(params=_REAL)
def real(request: pytest.FixtureRequest, shared_data: Path) -> CandleSeries:
    file = read_candle_file(shared_data / request.param)
    assert len(file.candles) > 1_000
    return series_of(file.candles, file.interval)


@pytest.mark.needs_data
def test_real_candles_equal_the_formula(real: CandleSeries) -> None:
    for spec in (*USUAL, IndicatorSpec.of("vwap", anchor="week"), IndicatorSpec.of("vwap", anchor="month")):
        _agree(spec, real)


@pytest.mark.parametrize("source", list(Source))
def test_every_source_is_the_named_price(source: Source) -> None:
    _agree(IndicatorSpec.of("ema", period=9, source=source.value), series_of(random_walk(300, seed=7)))


@pytest.mark.parametrize("anchor", list(Anchor))
@pytest.mark.parametrize("interval", ["1m", "30m", "7h", "1d", "1w"])
def test_vwap_across_gaps_at_any_interval(anchor: Anchor, interval: str) -> None:
    walk = random_walk(4_000, seed=8, interval=Interval.parse(interval))
    holes = np.random.default_rng(8).random(len(walk)) < 0.1
    candles = (candle for candle, hole in zip(walk, holes, strict=True) if not hole)
    _agree(IndicatorSpec.of("vwap", anchor=anchor.value), series_of(candles, Interval.parse(interval)))


def _of_closes(closes: list[float], volumes: list[float] | None = None) -> CandleSeries:
    given = volumes or [1.0] * len(closes)
    return series_of(
        Candle(START_MS + index * HOUR.duration_ms, *(close,) * 4, volume)
        for index, (close, volume) in enumerate(zip(closes, given, strict=True))
    )


def test_the_ema_of_a_published_example() -> None:
    """StockCharts, ChartSchool, "Moving Averages": the ten-day average, rounded to cents."""
    closes = [22.27, 22.19, 22.08, 22.17, 22.18, 22.13, 22.23, 22.43, 22.24, 22.29, 22.15, 22.39, 22.38, 22.61, 23.36]
    closes += [24.05, 23.75, 23.83, 23.95, 23.63]
    published = [22.22, 22.21, 22.24, 22.27, 22.33, 22.52, 22.80, 22.97, 23.13, 23.28, 23.34]
    found = values_of(IndicatorSpec.of("ema", period=10), _of_closes(closes))[0, 9:]
    np.testing.assert_allclose(found, published, atol=0.006)


def test_the_rsi_of_a_published_example() -> None:
    """StockCharts, ChartSchool, "Relative Strength Index (RSI)"; its prices are rounded to cents here."""
    closes = [44.34, 44.09, 44.15, 43.61, 44.33, 44.83, 45.10, 45.42, 45.84, 46.08, 45.89, 46.03, 45.61, 46.28, 46.28]
    closes += [46.00, 46.03, 46.41, 46.22, 45.64, 46.21, 46.25, 45.71, 46.45, 45.78, 45.35, 44.03, 44.18, 44.22, 44.57]
    published = [70.53, 66.32, 66.55, 69.41, 66.36, 57.97, 62.93, 63.26, 56.06, 62.38, 54.71, 50.42, 39.99, 41.46]
    published += [41.87, 45.46]
    found = values_of(IndicatorSpec.of("rsi"), _of_closes(closes))[0, 14:]
    np.testing.assert_allclose(found, published, atol=0.15)


def test_the_obv_of_a_published_example() -> None:
    """Investopedia, "On-Balance Volume (OBV)": ten days, counted from the first one's own volume."""
    closes = [10.0, 10.15, 10.17, 10.13, 10.11, 10.15, 10.20, 10.20, 10.22, 10.21]
    volumes = [25_200.0, 30_000, 25_600, 32_000, 23_000, 40_000, 36_000, 20_500, 23_000, 27_500]
    published = [0.0, 30_000, 55_600, 23_600, 600, 40_600, 76_600, 76_600, 99_600, 72_100]
    found = values_of(IndicatorSpec.of("obv"), _of_closes(closes, volumes))[0]
    np.testing.assert_array_equal(found - volumes[0], published)


def test_simple_indicators_equal_manual_results() -> None:
    candles = _of_closes([1.0, 2.0, 4.0, 3.0, 5.0])
    hand = {
        IndicatorSpec.of("sma", period=3): [7 / 3, 3, 4],
        IndicatorSpec.of("wma", period=3): [(1 + 4 + 12) / 6, (2 + 8 + 9) / 6, (4 + 6 + 15) / 6],
        IndicatorSpec.of("roc", period=2): [300, 50, 25],
        IndicatorSpec.of("williams_r", period=3): [0, -50, 0],
        IndicatorSpec.of("stochastic", period=3, smoothing=1, average=1): [100, 50, 100],
    }
    for spec, expected in hand.items():
        np.testing.assert_allclose(values_of(spec, candles)[0, -3:], expected, rtol=1e-12, err_msg=spec.label)
    channel = values_of(IndicatorSpec.of("donchian", period=3), candles)
    np.testing.assert_array_equal(channel[:, -1], [5, 4, 3])


def test_a_stop_follows_a_rise_and_reverses_when_touched() -> None:
    """Each candle a full point higher, then a fall through the stop."""
    rows = [(100.0 + index, 101.0 + index) for index in range(6)] + [(95.0, 96.0), (94.0, 95.0), (93.0, 94.0)]
    candles = series_of(
        Candle(START_MS + index * HOUR.duration_ms, low, high, low, high, 1.0) for index, (low, high) in enumerate(rows)
    )
    stop = values_of(IndicatorSpec.of("sar"), candles)[0]
    # At first the low before; then by 2 % of the way to the highest price, 4 %, 6 % ...
    expected = [100.0, 100.04, 100.1584, 100.388896, 100.7577843]
    np.testing.assert_allclose(stop[1:6], expected, rtol=1e-9)
    assert stop[6] == 106.0, "the highest price of the rise"
    assert stop[7] == 106.0, "not into the last two candles"
    assert stop[8] == pytest.approx(106.0 + 0.04 * (94.0 - 106.0))
