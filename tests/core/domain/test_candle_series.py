"""The series against a dictionary, and refused input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from tests.core.market.edits import MINUTE, START_MS, Edit, apply, candles, edits, walk

CANDLE = Candle(START_MS, 1.0, 2.0, 0.5, 1.5, 3.0)


def columns_of(given_candles: list[Candle]) -> tuple[np.ndarray, np.ndarray]:
    times = np.array([one.open_time_ms for one in given_candles], dtype=np.int64)
    rows = [(one.open, one.high, one.low, one.close, one.volume) for one in given_candles]
    return times, np.array(rows, dtype=np.float64).reshape(-1, 5).T


@given(edits())
@settings(max_examples=40)
def test_a_series_equals_a_dictionary_of_candles(changes: list[Edit]) -> None:
    series, expected = CandleSeries(MINUTE), dict[int, Candle]()
    for change in changes:
        before = series.version
        apply(series, change)
        expected |= {candle.open_time_ms: candle for candle in change}
        assert (series.version > before) == bool(change)
    assert list(series) == [expected[time_ms] for time_ms in sorted(expected)]


@given(st.lists(candles(), max_size=60), st.lists(candles(), max_size=60))
@settings(max_examples=40)
def test_adding_columns_equals_adding_candles(first: list[Candle], second: list[Candle]) -> None:
    by_candles, by_columns = CandleSeries(MINUTE), CandleSeries(MINUTE)
    for part in (first, second):
        for candle in part:
            by_candles.add(candle)
        by_columns.extend_columns(*columns_of(part))
    assert list(by_columns) == list(by_candles)


@given(edits(), edits())
@settings(max_examples=40)
def test_changes_are_recorded(before: list[Edit], after: list[Edit]) -> None:
    series = CandleSeries(MINUTE)
    for change in before:
        apply(series, change)
    version, former = series.version, {candle.open_time_ms: candle for candle in series}
    for change in after:
        apply(series, change)
    changes = series.changes_since(version)
    assert changes is not None
    different = {candle.open_time_ms for candle in series if former.get(candle.open_time_ms) != candle}
    assert all(any(first <= time_ms <= last for first, last in changes) for time_ms in different)
    given_times = [candle.open_time_ms for change in after for candle in change]
    if changes:
        assert (min(first for first, _ in changes), max(last for _, last in changes)) == (
            min(given_times),
            max(given_times),
        )


def test_old_changes_are_forgotten() -> None:
    series = CandleSeries(MINUTE)
    for number in range(5_000):
        series.add(replace(CANDLE, volume=float(number)))
    assert series.changes_since(0) is None
    assert series.changes_since(series.version) == []
    assert series.changes_since(series.version - 2) == [(START_MS, START_MS)] * 2
    assert series.changes_since(series.version + 1) is None


@given(st.lists(candles(), max_size=60, unique_by=lambda candle: candle.open_time_ms))
def test_a_series_of_columns_equals_that_of_its_candles(given_candles: list[Candle]) -> None:
    ascending = sorted(given_candles, key=lambda candle: candle.open_time_ms)
    series = CandleSeries.from_columns(MINUTE, *columns_of(ascending))
    assert list(series) == ascending
    series.add(replace(CANDLE, open_time_ms=START_MS + 80 * MINUTE.duration_ms))
    assert len(series) == len(ascending) + 1


def test_a_series_of_columns_is_a_copy() -> None:
    times, values = columns_of([CANDLE])
    series = CandleSeries.from_columns(MINUTE, times, values)
    values[:] = 7.0
    assert list(series) == [CANDLE]


@pytest.mark.parametrize("second_ms", [START_MS, START_MS - 1])
def test_columns_with_unsorted_times_are_refused(second_ms: int) -> None:
    times, values = columns_of([CANDLE, replace(CANDLE, open_time_ms=second_ms)])
    with pytest.raises(ValueError, match=f"candle 1 opens at {second_ms} ms"):
        CandleSeries.from_columns(MINUTE, times, values)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", ["open", "high", "low", "close", "volume"])
def test_non_finite_numbers_are_refused_and_change_nothing(column: str, bad: float) -> None:
    wrong = replace(CANDLE, open_time_ms=START_MS + 60_000, **{column: bad})
    series = CandleSeries(MINUTE)
    series.add(CANDLE)
    version = series.version
    for add in (series.add, lambda one: series.extend([CANDLE, one]), lambda one: series.extend([one])):
        with pytest.raises(ValueError, match="finite"):
            add(wrong)
    with pytest.raises(ValueError, match=f"candle of {wrong.open_time_ms} ms"):
        CandleSeries.from_columns(MINUTE, *columns_of([CANDLE, wrong]))
    assert list(series) == [CANDLE]
    assert series.version == version


def test_mismatched_shapes_are_refused() -> None:
    times, values = columns_of([CANDLE, CANDLE])
    for wrong in (values.T, values[:4], values[:, :1]):
        with pytest.raises(ValueError, match="shape"):
            CandleSeries(MINUTE).extend_columns(times, wrong)


def test_a_mixed_batch_is_merged_into_a_long_series() -> None:
    whole = walk(3_000)
    held = np.ones(3_000, dtype=bool)
    held[[5, 700, 701, 1_500, 2_999]] = False
    series = CandleSeries.from_columns(MINUTE, whole.open_time_ms[held], whole.values[:, held])
    series.build_pyramid()
    series.extend_columns(whole.open_time_ms[::-1], whole.values[:, ::-1])
    assert series.open_time_ms.tolist() == whole.open_time_ms.tolist()
    for number in (0, 1, 5, 12):
        assert series.level(number).tolist() == whole.level(number).tolist()
