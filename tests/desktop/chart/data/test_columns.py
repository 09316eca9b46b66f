import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from desktop.chart.data.columns import columns, extent, group_size, shaped, shaped_forming, visible_gaps
from desktop.chart.style import CandleStyle
from tests.desktop.chart.support import MINUTE_MS, random_series

SERIES = random_series(500, skip=frozenset({3, 50, 51, 52, 200, 499}))


@st.composite
def slices(draw: st.DrawFn) -> tuple[int, int]:
    first = draw(st.integers(0, len(SERIES) - 1))
    return first, draw(st.integers(first + 1, len(SERIES)))


@given(slices())
def test_the_extent_is_what_a_brute_force_finds(bounds: tuple[int, int]) -> None:
    inside = [SERIES[index] for index in range(*bounds)]
    found = extent(columns(SERIES, *bounds, 1))
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


ASHI = CandleStyle.HEIKIN_ASHI


def plain(candles: list[Candle]) -> list[tuple[float, float, float, float]]:
    found: list[tuple[float, float, float, float]] = []
    for each in candles:
        close = (each.open + each.high + each.low + each.close) / 4
        opened = (found[-1][0] + found[-1][3]) / 2 if found else (each.open + each.close) / 2
        found.append((opened, max(each.high, opened, close), min(each.low, opened, close), close))
    return found


@given(st.integers(0, 50), st.integers(1, 300), st.integers(0, 299))
def test_averaged_candles_equal_a_plain_loop_over_all(seed: int, count: int, first: int) -> None:
    series = random_series(count, seed)
    first = min(first, count - 1)
    drawn = shaped(series, first, count, 1, ASHI)
    wanted = plain(list(series))[first:]
    got = list(zip(drawn.open, drawn.high, drawn.low, drawn.close, strict=True))
    assert np.allclose(got, wanted, rtol=1e-12)
    assert list(drawn.index) == list(range(first, count))


@given(st.integers(0, 20), st.integers(0, 100))
def test_the_forming_candle_goes_on_from_the_closed_ones(seed: int, count: int) -> None:
    series = random_series(count, seed)
    before = series[-1].close if count else 100.0
    time = series[-1].open_time_ms + MINUTE_MS if count else 0
    forming = Candle(time, before, before + 3, before - 2, before + 1, 5.0)
    drawn = shaped_forming(series, forming, ASHI)
    wanted = plain([*series, forming])[-1]
    assert (drawn.open[0], drawn.high[0], drawn.low[0], drawn.close[0]) == pytest.approx(wanted)
    assert drawn.index[0] == count


@pytest.mark.parametrize("style", [style for style in CandleStyle if style is not ASHI])
def test_other_styles_draw_the_candles_as_they_are(style: CandleStyle) -> None:
    series = random_series(100)
    drawn, plain_columns = shaped(series, 10, 90, 4, style), columns(series, 10, 90, 4)
    assert np.array_equal(drawn.open, plain_columns.open) and np.array_equal(drawn.close, plain_columns.close)


def test_grouped_candles_are_averaged_as_groups_and_do_not_shimmer() -> None:
    series = random_series(4_000)
    one, other = shaped(series, 1_000, 3_000, 8, ASHI), shaped(series, 1_500, 3_000, 8, ASHI)
    shared = len(other.index)
    assert np.allclose(one.open[-shared:], other.open, rtol=1e-12)


def test_an_empty_series_has_a_forming_candle_still() -> None:
    forming = Candle(0, 10.0, 12.0, 9.0, 11.0, 1.0)
    empty = CandleSeries(random_series(1).interval)
    assert shaped_forming(empty, forming, CandleStyle.CANDLES).open[0] == 10.0
    assert shaped_forming(empty, forming, ASHI).open[0] == 10.5
