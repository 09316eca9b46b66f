"""When an alert goes off, held against the whole path of the price, which no candle tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.market.alerts import PriceWatch, armed, judge
from core.market.candle import Candle, Interval
from core.market.price_lines import Direction, LineKind, PriceLine

MINUTE = Interval.parse("1m")
TICKS_A_CANDLE = 6
TICK_MS = MINUTE.duration_ms // TICKS_A_CANDLE
PRICES = st.lists(st.integers(90, 110).map(float), min_size=2, max_size=60)


def alert(price: float, direction: Direction = Direction.UP, from_ms: int = 0) -> PriceLine:
    return PriceLine(price, LineKind.ALERT, direction=direction, watched_from_ms=from_ms, is_armed=True, line_id=1)


def candle(minute: int, opened: float, high: float, low: float, close: float) -> Candle:
    return Candle(minute * MINUTE.duration_ms, opened, high, low, close, 1.0)


def candle_of(path: list[float], first: int, stop: int) -> Candle:
    """The candle in which path[first..stop - 1] were traded."""
    part = path[first:stop]
    return candle(first // TICKS_A_CANDLE, part[0], max(part), min(part), part[-1])


def crossing_of(path: list[float], line: PriceLine, since: int) -> int | None:
    """The oracle: the first tick after `since` at which the price has reached the line from the side it was on."""
    before = path[since]
    for number in range(since + 1, len(path)):
        price = path[number]
        if (before < line.price <= price) or (before > line.price >= price):
            return number
    return None


def watched(line: PriceLine, watch: PriceWatch, candles: list[Candle], now_ms: int = 10**12) -> PriceLine:
    for each in candles:
        line = judge(line, watch.look(each), tick=0.01, now_ms=now_ms)
    return line


@given(path=PRICES, price=st.integers(91, 109), share=st.floats(0, 1))
def test_with_every_tick_seen_it_goes_off_exactly_when_the_path_crosses(
    path: list[float], price: int, share: float
) -> None:
    set_at = int(share * (len(path) - 2))
    watch, line, fired = PriceWatch(MINUTE), alert(float(price)), None
    for number in range(len(path)):
        first = number // TICKS_A_CANDLE * TICKS_A_CANDLE
        now_ms = number * TICK_MS
        seen = watch.look(candle_of(path, first, number + 1))
        if number == set_at:
            from_ms = watch.next_open_ms(now_ms)
            assert from_ms is not None
            line = armed(line, path[number], from_ms, tick=0.01)
        elif number > set_at:
            after = judge(line, seen, tick=0.01, now_ms=now_ms)
            if after.crossed_at_ms is not None and line.crossed_at_ms is None:
                fired = number
            line = after
    if path[set_at] != price:
        assert fired == crossing_of(path, alert(float(price)), set_at)
        assert line.is_armed is (fired is None)


@given(path=PRICES, price=st.integers(91, 109), seen=st.sets(st.integers(0, 59)), set_candle=st.integers(0, 4))
def test_ticks_that_nobody_saw_are_found_in_the_closed_candles_and_nothing_is_invented(
    path: list[float], price: int, seen: set[int], set_candle: int
) -> None:
    """The line is set as a candle closes; of what follows only some ticks are seen, but each candle once it closed."""
    set_at = min((set_candle + 1) * TICKS_A_CANDLE - 1, len(path) - 1)
    watch = PriceWatch(MINUTE)
    watch.look(candle_of(path, set_at // TICKS_A_CANDLE * TICKS_A_CANDLE, set_at + 1))
    from_ms = watch.next_open_ms(10**12)
    assert from_ms is not None
    line = armed(alert(float(price)), path[set_at], from_ms, tick=0.01)
    whole = len(path) // TICKS_A_CANDLE * TICKS_A_CANDLE
    for number in range(set_at + 1, whole):
        first = number // TICKS_A_CANDLE * TICKS_A_CANDLE
        if number in seen or number == first + TICKS_A_CANDLE - 1:
            line = judge(line, watch.look(candle_of(path, first, number + 1)), tick=0.01, now_ms=number * TICK_MS)
    if path[set_at] != price and (set_at + 1) % TICKS_A_CANDLE == 0:
        assert line.is_armed is (crossing_of(path[:whole], alert(float(price)), set_at) is None)


@given(prices=st.lists(st.floats(50, 150), min_size=1, max_size=40))
def test_it_goes_off_once_and_stays_so(prices: list[float]) -> None:
    watch, line, count = PriceWatch(MINUTE), alert(100.0), 0
    for number, price in enumerate(prices):
        after = judge(line, watch.look(candle(number, price, price, price, price)), tick=0.01, now_ms=0)
        count += after.crossed_at_ms != line.crossed_at_ms
        line = after
    assert count == any(price >= 100 for price in prices)


@pytest.mark.parametrize(("direction", "opened"), [(Direction.UP, 105.0), (Direction.DOWN, 95.0)])
def test_a_gap_between_two_candles_that_jumps_over_the_line_counts(direction: Direction, opened: float) -> None:
    watch = PriceWatch(MINUTE)
    watch.look(candle(0, 100, 100, 100, 100))
    line = watched(alert(100.5 if opened > 100 else 99.5, direction, 60_000), watch, [candle(3, *[opened] * 4)])
    assert line.crossed_at_ms is not None and not line.is_armed


def test_what_the_forming_candle_did_before_the_line_was_set_does_not_count() -> None:
    watch = PriceWatch(MINUTE)
    watch.look(candle(0, 100, 110, 99, 100))
    from_ms = watch.next_open_ms(30_000)
    assert from_ms == 30_000
    line = armed(alert(105), 100, from_ms, tick=0.01)
    line = watched(line, watch, [candle(0, 100, 110, 99, 101), candle(0, 100, 110, 98, 98)])
    assert line.is_armed
    assert not watched(line, watch, [candle(0, 100, 111, 98, 100)]).is_armed, "a new high is news"


def test_stored_candles_and_a_catch_up_from_before_are_silent_and_one_from_after_is_not() -> None:
    line = alert(105, from_ms=600_000)
    old = [candle(minute, 100, 120, 90, 100) for minute in range(10)]
    assert watched(line, PriceWatch(MINUTE), old).is_armed
    late = watched(line, PriceWatch(MINUTE), [*old, candle(10, 100, 106, 99, 100)])
    assert late.crossed_at_ms == 11 * 60_000 - 1


def test_a_replay_of_long_ago_is_watched_by_its_own_time() -> None:
    watch = PriceWatch(MINUTE)
    watch.look(candle(0, 100, 100, 100, 100))
    from_ms = watch.next_open_ms(10**13)
    assert from_ms == 60_000
    assert not watched(armed(alert(101), 100, from_ms, tick=0.01), watch, [candle(1, 100, 102, 100, 100)]).is_armed


def test_one_that_is_armed_again_at_the_price_waits_until_the_price_has_left() -> None:
    gone = replace(alert(100.0), is_armed=False, crossed_at_ms=5)
    line = armed(gone, 100.001, 0, tick=0.01, is_again=True)
    assert line.direction is Direction.EITHER and line.crossed_at_ms is None
    watch = PriceWatch(MINUTE)
    trembling = [candle(0, 100, 100.005, 99.995, close) for close in (99.999, 100.004, 99.996)]
    assert watched(line, watch, trembling).is_armed
    line = watched(line, watch, [candle(1, 99, 99, 98, 98)])
    assert line.direction is Direction.UP and line.is_armed
    assert not watched(line, watch, [candle(2, 99, 100, 99, 99.5)]).is_armed


def test_a_new_one_counts_from_its_exact_price_on() -> None:
    line = armed(alert(100.0), 99.999, 0, tick=0.01)
    assert line.direction is Direction.UP


def test_notes_and_lines_that_are_off_are_not_watched() -> None:
    note = PriceLine(100, LineKind.NOTE, direction=Direction.UP, is_armed=True)
    off = replace(alert(100), is_armed=False)
    for line in (note, off):
        assert watched(line, PriceWatch(MINUTE), [candle(1, 99, 101, 98, 100)]) is line


def test_a_line_without_a_finite_price_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        PriceLine(float("nan"), LineKind.NOTE)
