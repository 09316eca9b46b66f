"""The validator against an oracle, and one example for each reason."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_faults import RejectionReason, Validator
from tests.support.candles import MINUTE, START_MS, random_walk

GOOD = Candle(START_MS, 100.0, 102.0, 99.0, 101.0, 5.0)
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)
PRICE = st.floats(1e-2, 1e5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"close": math.nan}, RejectionReason.NOT_FINITE),
        ({"high": math.inf}, RejectionReason.NOT_FINITE),
        ({"volume": math.nan}, RejectionReason.NOT_FINITE),
        ({"low": 0.0}, RejectionReason.PRICE),
        ({"open": -1.0}, RejectionReason.PRICE),
        ({"high": 100.5}, RejectionReason.SHAPE),
        ({"low": 100.5}, RejectionReason.SHAPE),
        ({"volume": -1.0}, RejectionReason.VOLUME),
        ({"low": 9e-19}, RejectionReason.PRICE_SIZE),
        ({"high": 2e18}, RejectionReason.PRICE_SIZE),
        ({"volume": 2e24}, RejectionReason.VOLUME_SIZE),
        ({"low": 1e-8}, RejectionReason.RANGE),
        ({"open_time_ms": START_MS + 1}, RejectionReason.GRID),
        ({"open_time_ms": START_MS // 1000}, RejectionReason.TIME_UNIT),
        ({"open_time_ms": START_MS * 1000}, RejectionReason.TIME_UNIT),
        ({"open_time_ms": -6_000_000_000_000}, RejectionReason.TIME_UNIT),
    ],
)
def test_each_fault_has_its_reason(change: dict[str, float], reason: RejectionReason) -> None:
    rejection = Validator(MINUTE).check(dataclasses.replace(GOOD, **change))  # type: ignore[arg-type]
    assert rejection is not None
    assert rejection.reason is reason
    assert rejection.sentence


@given(st.builds(Candle, st.just(START_MS), ANY_FLOAT, ANY_FLOAT, ANY_FLOAT, ANY_FLOAT, ANY_FLOAT))
def test_every_accepted_candle_is_valid(candle: Candle) -> None:
    if Validator(MINUTE).check(candle) is None:
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        assert all(math.isfinite(number) for number in numbers)
        assert 0.0 < candle.low <= min(candle.open, candle.close)
        assert candle.high >= max(candle.open, candle.close)
        assert candle.volume >= 0.0


@given(PRICE, PRICE, st.floats(1.0, 3.0), st.floats(1.0, 3.0), st.floats(0.0, 1e9), st.integers(0, 10**7))
def test_every_valid_candle_is_accepted(
    opening: float, close: float, up: float, down: float, volume: float, minutes: int
) -> None:
    high, low = max(opening, close) * up, min(opening, close) / down
    candle = Candle(START_MS + minutes * 60_000, opening, high, low, close, volume)
    assert Validator(MINUTE).check(candle) is None


@pytest.mark.parametrize("factor", [10.0, 0.1, 1000.0])
def test_a_tenfold_jump_is_rejected_and_not_used_as_reference(factor: float) -> None:
    first, wrong, after = random_walk(3)
    validator = Validator(MINUTE)
    assert validator.check(first) is None
    rejection = validator.check(scaled(wrong, factor * first.close / wrong.close))
    assert rejection is not None
    assert rejection.reason is RejectionReason.JUMP
    assert validator.check(after) is None


def test_a_price_that_stays_after_a_jump_is_accepted() -> None:
    candles = random_walk(5)
    validator = Validator(MINUTE)
    moved = [candles[0], *(scaled(candle, 0.05) for candle in candles[1:])]
    assert [validator.check(candle) is None for candle in moved] == [True, False, True, True, True]


def test_a_forming_candle_is_not_used_as_reference() -> None:
    first, second, third = random_walk(3)
    validator = Validator(MINUTE)
    assert validator.check(first) is None
    assert validator.check_forming(scaled(second, 5.0)) is None
    assert validator.check(scaled(third, 9.0)) is None
    assert validator.check_forming(dataclasses.replace(second, close=math.nan)) is not None


def test_the_grid_may_begin_off_the_epoch() -> None:
    week = Interval.parse("1w")
    monday_ms = 1_704_067_200_000
    candle = dataclasses.replace(GOOD, open_time_ms=monday_ms)
    assert Validator(week, monday_ms).check(candle) is None
    rejection = Validator(week).check(candle)
    assert rejection is not None
    assert rejection.reason is RejectionReason.GRID


def scaled(candle: Candle, factor: float) -> Candle:
    prices = (candle.open * factor, candle.high * factor, candle.low * factor, candle.close * factor)
    return Candle(candle.open_time_ms, *prices, candle.volume)
