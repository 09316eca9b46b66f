"""A series up to a past candle behaves like one built from those candles only."""

from __future__ import annotations

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries, PastSeries
from core.indicators.registry import INDICATORS
from core.indicators.series import IndicatorSeries
from core.indicators.spec import IndicatorSpec
from tests.desktop.chart.support import MINUTE_MS, START_MS, candle, random_series

COUNT = 40_000
"""More than are looked through one by one: the pyramid answers."""


def first_of(whole: CandleSeries, count: int) -> CandleSeries:
    return CandleSeries.from_columns(whole.interval, whole.open_time_ms[:count], whole.values[:, :count])


def assert_same(past: CandleSeries, made: CandleSeries) -> None:
    assert len(past) == len(made)
    assert np.array_equal(past.open_time_ms, made.open_time_ms) and np.array_equal(past.values, made.values)
    assert past.extremes(0, len(made)) == made.extremes(0, len(made))
    for number in (1, 4, 9, 20):
        assert np.array_equal(past.level(number), made.level(number)), number


@pytest.fixture(scope="module")
def whole() -> CandleSeries:
    return random_series(COUNT)


def test_moving_in_time_shows_only_candles_up_to_that_time(whole: CandleSeries) -> None:
    past = PastSeries(whole)
    for count in (COUNT, COUNT - 1, COUNT - 11, COUNT - 10, 20_001, 3, 1, 2, 30_000, COUNT):
        past.show(whole, count)
        assert_same(past, first_of(whole, count))


def test_columns_are_shared_and_no_change_is_reported_without_one(whole: CandleSeries) -> None:
    past = PastSeries(whole)
    past.show(whole, 500)
    before = past.version
    past.show(whole, 500)
    assert past.version == before
    assert np.shares_memory(past.values, whole.values)


def test_an_empty_past_has_no_candles() -> None:
    past = PastSeries(random_series(5))
    past.show(random_series(5), 3)
    past.show(random_series(5), 0)
    assert len(past) == 0 and past.extremes(0, 0) is None


def test_new_candles_do_not_change_the_past() -> None:
    whole = random_series(1_024)  # the next one needs other columns
    past = PastSeries(whole)
    past.show(whole, 1_000)
    before, expected = past.version, first_of(whole, 1_000)
    whole.add(candle(1_024, 20_000.0))
    past.show(whole, 1_000)
    assert past.version == before
    assert_same(past, expected)


def test_late_and_corrected_candles_are_included() -> None:
    whole = random_series(300, skip=frozenset({100}))
    past = PastSeries(whole)
    past.show(whole, 200)
    before = past.version
    whole.add(candle(100, 20_000.0))
    past.show(whole, 201)
    assert past.version > before and past.changes_since(before) is None
    assert_same(past, first_of(whole, 201))
    late = whole[50]
    whole.add(Candle(late.open_time_ms, late.open, late.high + 500, late.low, late.close, 1.0))
    past.show(whole, 201)
    assert_same(past, first_of(whole, 201))


@pytest.mark.parametrize("kind", list(INDICATORS))
def test_indicators_use_the_earlier_candles_only(kind: str) -> None:
    whole = random_series(2_000)
    past = PastSeries(whole)
    past.show(whole, 2_000)
    followed = IndicatorSeries(IndicatorSpec.of(kind), past)
    for count in (1_990, 1_991, 700, 0, 60, 1_500):
        past.show(whole, count)
        followed.sync()
        alone = IndicatorSeries(IndicatorSpec.of(kind), first_of(whole, count))
        assert np.array_equal(followed.values, alone.values, equal_nan=True), count
        first = alone.first_defined
        assert followed.extent(first, count) == alone.extent(first, count)


def test_moving_by_one_candle_recomputes_few_values(whole: CandleSeries) -> None:
    past = PastSeries(whole)
    past.show(whole, 1_000)
    followed = IndicatorSeries(IndicatorSpec.of("ema"), past)
    for count in (1_001, 1_000):
        past.show(whole, count)
        assert followed.count_missing() <= 512
        followed.sync()


def test_times_equal_those_of_its_candles(whole: CandleSeries) -> None:
    past = PastSeries(whole)
    past.show(whole, 10)
    assert past.index_at(START_MS + 9 * MINUTE_MS) == 9
    assert past.index_at(START_MS + 10 * MINUTE_MS) is None
