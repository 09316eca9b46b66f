"""The pyramid against a brute force, after any edits and in any order of arrival."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.pyramid import FloatArray
from tests.core.market.edits import MINUTE, Edit, apply, candles, edits, walk


def summed(values: FloatArray, number: int) -> list[list[float]]:
    """Cell by cell, from the candles alone: open, high, low, close and the sum of the volumes by halves."""
    size = 2**number
    return [cell(values[:, first : first + size], size) for first in range(0, values.shape[1], size)]


def cell(values: FloatArray, size: int) -> list[float]:
    return [values[0, 0], values[1].max(), values[2].min(), values[3, -1], by_halves(values[4].tolist(), size)]


def by_halves(numbers: list[float], size: int) -> float:
    if size == 1:
        return numbers[0]
    half = size // 2
    rest = numbers[half:]
    return by_halves(numbers[:half], half) + (by_halves(rest, half) if rest else 0.0)


def assert_right(series: CandleSeries) -> None:
    top = max(len(series) - 1, 0).bit_length()
    for number in range(top + 2):
        assert series.level(number).T.tolist() == summed(series.values, number)


@given(edits())
@settings(max_examples=40)
def test_all_levels_equal_brute_force_after_each_edit(changes: list[Edit]) -> None:
    series = CandleSeries(MINUTE)
    series.build_pyramid()
    for change in changes:
        apply(series, change)
        assert_right(series)


@given(st.lists(candles(), max_size=120), st.randoms())
@settings(max_examples=40)
def test_any_order_of_arrival_gives_the_same_levels(given_candles: list[Candle], shuffler: random.Random) -> None:
    by_time = {candle.open_time_ms: candle for candle in given_candles}
    ordered, arrived = CandleSeries(MINUTE), CandleSeries(MINUTE)
    ordered.extend(by_time.values())
    arrived.build_pyramid()
    shuffled = list(by_time.values())
    shuffler.shuffle(shuffled)
    while shuffled:
        count = shuffler.randint(1, 9)
        arrived.extend(shuffled[:count])
        shuffled = shuffled[count:]
    assert list(arrived) == list(ordered) == [by_time[time_ms] for time_ms in sorted(by_time)]
    for number in range(9):
        assert arrived.level(number).tobytes() == ordered.level(number).tobytes()


@given(edits(), st.data())
@settings(max_examples=40)
def test_extremes_of_any_range_equal_brute_force(changes: list[Edit], data: st.DataObject) -> None:
    series = CandleSeries(MINUTE)
    for change in changes:
        apply(series, change)
    if len(series) == 0:
        assert series.extremes(0, 0) is None
        return
    first = data.draw(st.integers(0, len(series) - 1))
    stop = data.draw(st.integers(first + 1, len(series)))
    expected = (series.low[first:stop].min(), series.high[first:stop].max())
    assert series.extremes(first, stop) == expected


@pytest.mark.parametrize("bounds", [(0, 100_000), (1, 99_999), (12_345, 77_777), (0, 65_536), (33_333, 33_334)])
def test_extremes_of_a_long_series_equal_those_of_its_columns(bounds: tuple[int, int]) -> None:
    series = walk(100_000)
    view = slice(*bounds)
    assert series.extremes(*bounds) == (series.low[view].min(), series.high[view].max())


def test_a_level_above_the_top_has_one_cell_or_none_if_empty() -> None:
    series = walk(5)
    assert series.level(3).tolist() == series.level(20).tolist()
    assert series.level(20).shape == (5, 1)
    assert CandleSeries(MINUTE).level(4).shape == (5, 0)


def test_returned_arrays_are_read_only() -> None:
    series = walk(100)
    for number in (0, 1, 6, 7):
        with pytest.raises(ValueError, match="read-only"):
            series.level(number)[0, 0] = 1.0


def test_extremes_of_a_short_series_build_no_pyramid() -> None:
    series = walk(1_000)
    assert series.extremes(0, 1_000) is not None
    assert series._pyramid is None
