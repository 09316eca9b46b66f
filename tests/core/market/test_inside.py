"""What finer candles say of a candle, against its definition."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Inside, Interval
from core.market.inside import can_be_inside, insides
from tests.support.candles import MINUTE, START_MS, random_walk, without

FIVE = Interval.parse("5m")


def found_in(finer: list[Candle], coarser: Interval = FIVE, of: Interval = MINUTE) -> dict[int, Inside]:
    times = np.array([candle.open_time_ms for candle in finer], dtype=np.int64)
    values = np.array([[each.open, each.high, each.low, each.close, each.volume] for each in finer]).reshape(-1, 5).T
    return insides(times, values, of, coarser)


def single(number: float) -> float:
    """As it is stored."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def test_the_variance_is_split_by_direction_and_time() -> None:
    finer = random_walk(5)
    squares = [math.log(each.high / each.low) ** 2 for each in finer]
    rises = [each.close > each.open for each in finer]
    (found,) = found_in(finer).values()
    assert found.count == 5
    assert found.variance == pytest.approx(sum(squares), rel=1e-6)
    assert found.up == pytest.approx(sum(square for square, rise in zip(squares, rises, strict=True) if rise), rel=1e-6)
    assert found.up + found.down == pytest.approx(found.variance, rel=1e-6)
    assert found.last_fifth == pytest.approx(squares[-1], rel=1e-6)


def test_extremes_have_the_time_of_the_candle_that_had_them() -> None:
    finer = [Candle(START_MS + row * 60_000, 10.0, high, low, 10.0, 1.0) for row, (high, low) in enumerate(EXTREMES)]
    (found,) = found_in(finer).values()
    assert (found.high_at, found.low_at) == (single(0.4), single(0.8))


EXTREMES = [(11.0, 9.5), (11.5, 9.4), (13.0, 9.3), (12.0, 9.2), (11.0, 8.0)]


@given(missing=st.sets(st.integers(0, 4)))
def test_a_candle_with_less_than_half_of_its_finer_ones_has_no_inside(missing: set[int]) -> None:
    found = found_in(without(random_walk(5), *missing))
    assert [each.count for each in found.values()] == ([5 - len(missing)] if len(missing) <= 2 else [])


def test_the_last_fifth_of_a_quarter_of_an_hour_is_three_minutes() -> None:
    finer = random_walk(15)
    (found,) = found_in(finer, Interval.parse("15m")).values()
    assert found.last_fifth == pytest.approx(sum(math.log(each.high / each.low) ** 2 for each in finer[-3:]), rel=1e-6)


@given(seed=st.integers(0, 1000), count=st.integers(1, 60))
def test_later_candles_change_no_inside(seed: int, count: int) -> None:
    finer = random_walk(80, seed)
    before, after = found_in(finer[:count]), found_in(finer)
    whole = [time_ms for time_ms in before if time_ms + FIVE.duration_ms <= finer[count].open_time_ms]
    assert {time_ms: before[time_ms] for time_ms in whole} == {time_ms: after[time_ms] for time_ms in whole}


def test_a_finer_candle_that_closes_after_the_candle_is_none_of_its_parts() -> None:
    """The file's times are half a minute late, or its exchange's candles open there."""
    late = [replace(candle, open_time_ms=candle.open_time_ms + 30_000) for candle in random_walk(5)]
    (found,), (expected,) = found_in(late).values(), found_in(late[:4]).values()
    assert found == expected and found.count == 4


@pytest.mark.parametrize(
    ("finer", "coarser", "fits"),
    [("1m", "5m", True), ("5m", "15m", True), ("15m", "30m", False), ("5m", "5m", False), ("5m", "12m", False)],
)
def test_a_part_is_at_most_a_third(finer: str, coarser: str, fits: bool) -> None:
    assert can_be_inside(Interval.parse(finer), Interval.parse(coarser)) is fits
