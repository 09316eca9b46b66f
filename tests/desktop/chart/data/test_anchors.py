"""A drawing's anchor stays on its candle, whatever is inserted before it, however it is moved, at any interval."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from desktop.chart.data.anchors import index_at, shifted, time_at
from desktop.chart.data.model import ChartModel
from tests.desktop.chart.support import MINUTE_MS, START_MS, random_series

COUNT = 60
gaps = st.frozensets(st.integers(1, COUNT - 2), max_size=20)
indices = st.integers(-40, COUNT + 40)


def model_of(series: CandleSeries) -> ChartModel:
    model = ChartModel()
    model.set_series(series, "")
    return model


@given(gaps, indices)
def test_a_candles_time_leads_back_to_it(missing: frozenset[int], index: int) -> None:
    model = model_of(random_series(COUNT, skip=missing))
    assert index_at(model, time_at(model, index)) == index


@given(gaps, st.integers(1, COUNT - 1), st.data())
def test_history_inserted_before_takes_it_along(missing: frozenset[int], kept: int, data: st.DataObject) -> None:
    whole = random_series(COUNT, skip=missing)
    newest = CandleSeries(Interval.parse("1m"))
    newest.extend(list(whole)[-kept:] if kept < len(whole) else list(whole))
    anchor = data.draw(st.sampled_from(list(newest)))
    before, after = index_at(model_of(newest), anchor.open_time_ms), index_at(model_of(whole), anchor.open_time_ms)
    assert after - before == len(whole) - len(newest)


def test_before_the_first_candle_it_lies_where_the_older_ones_will_be() -> None:
    whole, newest = random_series(COUNT), CandleSeries(Interval.parse("1m"))
    newest.extend(list(whole)[40:])
    far_back = index_at(model_of(newest), whole[10].open_time_ms)
    assert far_back == 10 - 40


@given(st.integers(START_MS - 10**7, START_MS + 10**7), gaps)
def test_within_a_candle_it_is_that_candles_and_in_a_gap_the_next_ones(time_ms: int, missing: frozenset[int]) -> None:
    model = model_of(random_series(COUNT, skip=missing))
    index = index_at(model, time_ms)
    opened = time_at(model, index)
    assert opened + MINUTE_MS > time_ms
    assert opened <= time_ms or time_at(model, index - 1) + MINUTE_MS <= time_ms


@given(indices, st.integers(-30, 30), st.integers(0, MINUTE_MS - 1), gaps)
def test_moved_by_candles_it_goes_so_many_candles_and_keeps_its_part_of_one(
    index: int, candles: int, gone: int, missing: frozenset[int]
) -> None:
    model = model_of(random_series(COUNT, skip=missing))
    anchor = time_at(model, index) + gone
    there = shifted(model, anchor, candles)
    assert index_at(model, there) == index + candles
    assert there - time_at(model, index + candles) == gone
    assert shifted(model, there, -candles) == anchor


def test_at_a_coarser_interval_it_is_on_the_candle_that_contains_it() -> None:
    hourly = CandleSeries(Interval.parse("1h"))
    hourly.extend([Candle(START_MS + hour * 3_600_000, 1.0, 1.0, 1.0, 1.0, 1.0) for hour in range(10)])
    model = model_of(hourly)
    assert index_at(model, START_MS + 3 * 3_600_000 + 25 * MINUTE_MS) == 3


def test_a_session_that_begins_off_the_grid_holds_its_own_minutes() -> None:
    off = CandleSeries(Interval.parse("1h"))
    half = 30 * MINUTE_MS
    off.extend([Candle(START_MS + half + hour * 3_600_000, 1.0, 1.0, 1.0, 1.0, 1.0) for hour in range(5)])
    assert index_at(model_of(off), START_MS + half + 3_600_000 + 45 * MINUTE_MS) == 1


def test_without_candles_there_is_no_place_and_no_harm() -> None:
    model = ChartModel()
    assert (index_at(model, 5), time_at(model, 5), shifted(model, 5, 3)) == (0, 0, 5)
