import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle_series import CandleSeries
from desktop.chart.data.columns import columns, extent, group_size, visible_gaps
from tests.desktop.chart.support import random_series

SERIES = random_series(500, skip=frozenset({3, 50, 51, 52, 200, 499}))


@st.composite
def slices(draw: st.DrawFn) -> tuple[int, int]:
    first = draw(st.integers(0, len(SERIES) - 1))
    return first, draw(st.integers(first + 1, len(SERIES)))


@given(slices())
def test_the_extent_is_what_a_brute_force_finds(bounds: tuple[int, int]) -> None:
    inside = [SERIES[index] for index in range(*bounds)]
    found = extent(columns(SERIES, *bounds, 1))
    assert found is not None
    assert found.low == min(candle.low for candle in inside)
    assert found.high == max(candle.high for candle in inside)
    assert found.volume == max(candle.volume for candle in inside)


@given(slices(), st.sampled_from([2, 4, 8, 64]))
def test_groups_are_what_a_brute_force_finds(bounds: tuple[int, int], group: int) -> None:
    drawn = columns(SERIES, *bounds, group)
    numbers = range(bounds[0] // group, -(-bounds[1] // group))
    assert len(drawn.index) == len(numbers)
    for position, number in enumerate(numbers):
        members = [SERIES[index] for index in range(number * group, min((number + 1) * group, len(SERIES)))]
        assert drawn.open[position] == members[0].open
        assert drawn.close[position] == members[-1].close
        assert drawn.high[position] == max(member.high for member in members)
        assert drawn.low[position] == min(member.low for member in members)
        assert drawn.volume[position] == pytest.approx(sum(member.volume for member in members))
        assert drawn.index[position] == np.mean(range(number * group, (number + 1) * group)), "the group's centre"


@given(slices(), slices(), st.sampled_from([2, 8, 32]))
def test_panning_never_regroups(one: tuple[int, int], other: tuple[int, int], group: int) -> None:
    first, second = columns(SERIES, *one, group), columns(SERIES, *other, group)
    shared, left, right = np.intersect1d(first.index, second.index, return_indices=True)
    assert np.array_equal(first.high[left], second.high[right])
    assert shared.size == 0 or np.array_equal(first.close[left], second.close[right])


@given(slices())
def test_gaps_in_view_are_those_of_the_series(bounds: tuple[int, int]) -> None:
    expected = [gap for gap in visible_gaps(SERIES, 0, len(SERIES)) if bounds[0] <= gap < bounds[1]]
    assert list(visible_gaps(SERIES, *bounds)) == expected


@given(st.floats(1e-4, 200))
def test_groups_keep_candles_two_pixels_apart(spacing: float) -> None:
    group = group_size(spacing)
    assert group * spacing >= 2.0 * (1 - 1e-9) or group == 1
    assert group == 1 or group * spacing < 4.0 * (1 + 1e-9)
    assert group & (group - 1) == 0


def test_nothing_in_view_has_no_extent() -> None:
    assert extent(columns(SERIES, 10, 10, 8)) is None


@given(slices(), st.sampled_from([1, 2, 16, 128, 1024]), st.randoms(), st.integers(1, 60))
@settings(max_examples=30)
def test_any_order_of_arrival_gives_the_same_columns(
    bounds: tuple[int, int], group: int, shuffler: random.Random, batch: int
) -> None:
    arrived, candles = CandleSeries(SERIES.interval), list(SERIES)
    arrived.build_pyramid()
    shuffler.shuffle(candles)
    for start in range(0, len(candles), batch):
        arrived.extend(candles[start : start + batch])
    for name, column in dataclasses.asdict(columns(arrived, *bounds, group)).items():
        assert np.array_equal(column, getattr(columns(SERIES, *bounds, group), name)), name


def test_groups_are_powers_of_two() -> None:
    with pytest.raises(ValueError, match="not by 3"):
        columns(SERIES, 0, 100, 3)
