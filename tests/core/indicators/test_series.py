"""Properties of every indicator: independence of arrival order, previews, and unusual markets."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.indicators.registry import INDICATORS, Place, Unit
from core.indicators.series import IndicatorSeries
from core.indicators.spec import IndicatorSpec
from tests.core.indicators.support import HOUR, SHORT, START_MS, USUAL, same, series_of, values_of
from tests.support.candles import random_walk

_LENGTH = 120
_WALKS = [random_walk(_LENGTH, seed, START_MS, HOUR) for seed in range(4)]

every_short = pytest.mark.parametrize("spec", SHORT, ids=str)
every_kind = pytest.mark.parametrize("spec", [*USUAL, *SHORT], ids=str)
_edits = st.lists(
    st.tuples(st.integers(0, _LENGTH - 1), st.integers(0, len(_WALKS) - 1), st.booleans(), st.booleans()), max_size=25
)
"""Each: the place of a candle, the walk it is taken from, whether nothing was traded in it, whether to look after."""


def _candle(place: int, walk: int, is_idle: bool) -> Candle:
    candle = _WALKS[walk][place]
    return replace(candle, volume=0.0) if is_idle else candle


@every_short
@settings(max_examples=20)
@given(held=st.sets(st.integers(0, _LENGTH - 1)), start=st.integers(0, _LENGTH), edits=_edits)
def test_any_edits_equal_a_full_computation(
    spec: IndicatorSpec, held: set[int], start: int, edits: list[tuple[int, int, bool, bool]]
) -> None:
    candles = series_of(_WALKS[0][place] for place in sorted(held) if place < start)
    indicator = IndicatorSeries(spec, candles)
    for place, walk, is_idle, looks in edits:
        candles.add(_candle(place, walk, is_idle))
        if looks:
            assert indicator.sync()
            assert same(indicator.values, values_of(spec, candles))
    indicator.sync()
    assert len(indicator) == len(candles) and same(indicator.values, values_of(spec, candles))


@every_short
@settings(max_examples=10)
@given(order=st.permutations(range(60)))
def test_any_order_of_arrival_gives_the_same(spec: IndicatorSpec, order: list[int]) -> None:
    candles = CandleSeries(HOUR)
    indicator = IndicatorSeries(spec, candles)
    for place in order:
        candles.add(_WALKS[1][place])
        indicator.sync()
    assert same(indicator.values, values_of(spec, series_of(_WALKS[1][:60])))


@every_short
@settings(max_examples=12)
@given(start=st.integers(0, _LENGTH), edits=_edits)
def test_candles_may_change_while_another_thread_computes(
    spec: IndicatorSpec, start: int, edits: list[tuple[int, int, bool, bool]]
) -> None:
    candles = series_of(_WALKS[0][:start])
    indicator = IndicatorSeries(spec, candles, is_computed=False)
    with ThreadPoolExecutor(max_workers=1) as thread:
        working = thread.submit(indicator.begin())
        for place, walk, is_idle, begins_again in edits:
            candles.add(_candle(place, walk, is_idle))
            if begins_again:
                working.result()
                assert not indicator.is_working
                working = thread.submit(indicator.begin())
    indicator.sync()
    assert same(indicator.values, values_of(spec, candles))
    if len(candles) > indicator.first_defined:
        defined = indicator.values[:, indicator.first_defined :]
        assert indicator.extent(0, len(candles)) == (float(defined.min()), float(defined.max()))


@every_kind
@settings(max_examples=10)
@given(count=st.integers(0, _LENGTH - 1), walk=st.integers(0, len(_WALKS) - 1), is_idle=st.booleans())
def test_a_preview_equals_appending_and_changes_nothing(
    spec: IndicatorSpec, count: int, walk: int, is_idle: bool
) -> None:
    candles = series_of(_WALKS[0][:count])
    indicator = IndicatorSeries(spec, candles)
    before = indicator.values.copy()
    indicator.preview(_candle(count, 3, False))
    previewed = indicator.preview(_candle(count, walk, is_idle))
    assert same(indicator.values, before) and not indicator.sync()
    candles.add(_candle(count, walk, is_idle))
    indicator.sync()
    assert same(np.array(previewed), indicator.values[:, -1])
    assert same(indicator.values, values_of(spec, candles))


@every_kind
def test_a_preview_includes_candles_since_the_last_one(spec: IndicatorSpec) -> None:
    candles = series_of(_WALKS[0][:80])
    indicator = IndicatorSeries(spec, candles)
    candles.add(_WALKS[0][80])
    assert indicator.preview(_WALKS[0][81]) == tuple(values_of(spec, series_of(_WALKS[0][:82]))[:, -1])


@every_kind
def test_a_candle_that_has_closed_is_not_previewed(spec: IndicatorSpec) -> None:
    indicator = IndicatorSeries(spec, series_of(_WALKS[0]))
    with pytest.raises(ValueError, match="closed"):
        indicator.preview(_WALKS[0][-1])


@pytest.fixture(scope="module")
def walk() -> list[Candle]:
    return random_walk(17_000, seed=3, interval=Interval.parse("1m"))


@pytest.mark.parametrize("spec", USUAL, ids=str)
def test_growing_by_many_candles_equals_a_full_computation(spec: IndicatorSpec, walk: list[Candle]) -> None:
    """Past the first capacity."""
    candles = series_of(walk[:900], Interval.parse("1m"))
    indicator = IndicatorSeries(spec, candles)
    for begin, end in ((900, 1_023), (1_023, 1_024), (1_024, 1_025), (1_025, 16_390), (16_390, 16_950)):
        candles.extend(walk[begin:end])
        indicator.sync()
    for candle in walk[16_950:]:
        candles.add(candle)
        indicator.sync()
    assert same(indicator.values, values_of(spec, candles))
    for first, stop in ((0, 17_000), (300, 16_999), (8_000, 16_500)):
        shown = indicator.values[:, max(first, indicator.first_defined) : stop]
        assert indicator.extent(first, stop) == (float(shown.min()), float(shown.max()))


@every_kind
def test_values_are_undefined_in_the_warm_up_and_nowhere_else(spec: IndicatorSpec) -> None:
    indicator = IndicatorSeries(spec, series_of(_WALKS[0]))
    info = INDICATORS[spec.kind]
    assert indicator.values.shape == (len(info.outputs), _LENGTH)
    assert np.isnan(indicator.values[:, : indicator.first_defined]).all()
    assert np.isfinite(indicator.values[:, indicator.first_defined :]).all()
    with pytest.raises(ValueError, match="read-only"):
        indicator.values[0, 0] = 1.0


@every_kind
def test_no_candles_and_one_candle(spec: IndicatorSpec) -> None:
    candles = CandleSeries(HOUR)
    indicator = IndicatorSeries(spec, candles)
    outputs = len(INDICATORS[spec.kind].outputs)
    assert indicator.values.shape == (outputs, 0) and not indicator.sync() and indicator.extent(0, 10) is None
    assert len(indicator.preview(_WALKS[0][0])) == outputs
    candles.add(_WALKS[0][0])
    assert indicator.sync() and indicator.values.shape == (outputs, 1)


@every_kind
def test_updating_a_complete_series_changes_nothing(spec: IndicatorSpec) -> None:
    for candles in (CandleSeries(HOUR), series_of(random_walk(40, seed=3))):
        followed = IndicatorSeries(spec, candles)
        before = followed.values.copy()
        followed.begin()()
        assert followed.is_current and same(followed.values, before)


@every_kind
@settings(max_examples=15)
@given(first=st.integers(-5, _LENGTH + 5), stop=st.integers(-5, _LENGTH + 5))
def test_the_extent_covers_the_defined_values_in_view(spec: IndicatorSpec, first: int, stop: int) -> None:
    indicator = IndicatorSeries(spec, series_of(_WALKS[0]))
    in_view = indicator.values[:, max(0, first) : max(0, stop)]
    defined = in_view[np.isfinite(in_view)]
    expected = (float(defined.min()), float(defined.max())) if defined.size else None
    assert indicator.extent(first, stop) == expected


def _scaled(candle: Candle, factor: float) -> Candle:
    prices = (candle.open * factor, candle.high * factor, candle.low * factor, candle.close * factor)
    return Candle(candle.open_time_ms, *prices, candle.volume)


@every_kind
def test_rescaled_prices_only_rescale_the_values(spec: IndicatorSpec) -> None:
    """Powers of two, so that not a bit may differ: prices of about 1e-7 and 1e9."""
    plain = values_of(spec, series_of(_WALKS[2]))
    for factor in (2.0**-30, 2.0**24):
        scaled = values_of(spec, series_of(_scaled(candle, factor) for candle in _WALKS[2]))
        assert same(scaled, plain * factor if INDICATORS[spec.kind].unit is Unit.PRICE else plain)


@every_kind
def test_flat_prices(spec: IndicatorSpec) -> None:
    for price in (1e-8, 0.1, 97.3, 1e9):
        candles = (Candle(START_MS + index * HOUR.duration_ms, *(price,) * 4, 5.0) for index in range(_LENGTH))
        indicator = IndicatorSeries(spec, series_of(candles))
        is_over_prices = INDICATORS[spec.kind].place is Place.PRICE_PANE
        expected = {"rsi": 50.0, "obv": 5.0}.get(spec.kind, price if is_over_prices else 0.0)
        defined = indicator.values[:, indicator.first_defined :]
        np.testing.assert_allclose(defined, expected, rtol=1e-14, atol=price * 1e-15)


@pytest.mark.parametrize(("step", "expected"), [(1.0, 100.0), (-1.0, 0.0)])
def test_rsi_of_one_sided_changes(step: float, expected: float) -> None:
    prices = [200.0 + step * index for index in range(60)]
    candles = (Candle(START_MS + index * HOUR.duration_ms, *(price,) * 4, 5.0) for index, price in enumerate(prices))
    assert (values_of(IndicatorSpec.of("rsi"), series_of(candles))[0, 14:] == expected).all()


def test_rsi_stays_within_its_range_during_a_long_flat_price() -> None:
    prices = np.concatenate((100.0 + np.sin(np.arange(100.0)), np.full(30_000, 100.0)))
    minute = Interval.parse("1m")
    candles = (Candle(START_MS + index * 60_000, *(float(price),) * 4, 5.0) for index, price in enumerate(prices))
    strength = values_of(IndicatorSpec.of("rsi"), series_of(candles, minute))[0, 14:]
    assert ((strength >= 0.0) & (strength <= 100.0)).all()
    held = float(strength[100])
    is_held, is_forgotten = np.abs(strength[100:] - held) < 1e-9, strength[100:] == 50.0
    assert is_held[:5_000].all() and is_forgotten[-1]
    assert np.flatnonzero(~is_held & ~is_forgotten).size < 400, "while the averages lose their last digits"


def test_vwap_without_volume_is_the_price_of_the_candle() -> None:
    idle = [replace(candle, volume=0.0) for candle in _WALKS[0][:5]]
    candles = series_of([*idle[:2], *idle[2:4], _WALKS[0][4], replace(_WALKS[0][5], volume=0.0)])
    vwap = values_of(IndicatorSpec.of("vwap"), candles)[0]
    typical = (candles.high + candles.low + candles.close) / 3.0
    assert (vwap[:4] == typical[:4]).all()
    assert vwap[4] == pytest.approx(typical[4], rel=1e-15) and vwap[5] == vwap[4]


def test_old_values_leave_no_accumulated_error() -> None:
    """TA-Lib's sums run on and are subtracted: a coin that has lost all but a millionth still has its digits."""
    walk = random_walk(3_000, seed=9, start_ms=START_MS, interval=HOUR)
    spike = [_scaled(candle, 1e6) for candle in walk[:50]]
    spiked, calm = series_of([*spike, *walk[50:]]), series_of(walk[50:])
    for spec in SHORT:
        if spec.kind not in ("vwap", "obv"):  # whose sessions lie elsewhere; which counts from the first candle
            found, expected = values_of(spec, spiked)[:, -500:], values_of(spec, calm)[:, -500:]
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9, err_msg=spec.label)


@pytest.mark.parametrize("period", [2, 3, 20, 31, 250])
def test_bands_are_exact_for_large_nearly_constant_prices(period: int) -> None:
    generator = np.random.default_rng(4)
    prices = 1e9 + np.round(generator.normal(0.0, 1e-3, 600), 6)
    candles = (
        Candle(START_MS + index * HOUR.duration_ms, *(float(price),) * 4, 5.0) for index, price in enumerate(prices)
    )
    upper, middle, lower = values_of(IndicatorSpec.of("bollinger", period=period), series_of(candles))
    for index in range(period - 1, 600, 7):
        window = prices[index - period + 1 : index + 1]
        mean = math.fsum(window) / period
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in window) / period)
        assert middle[index] == pytest.approx(mean, rel=1e-14)
        assert upper[index] - lower[index] == pytest.approx(4.0 * deviation, abs=5e-7)
