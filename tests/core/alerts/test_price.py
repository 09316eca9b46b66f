"""Alerts against the full path of the price, which candles do not show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.alerts.price import AlertMonitor, PriceWatch, judge, judge_price
from core.domain.candle import Candle, Interval, Market
from core.domain.clock import ManualClock
from core.domain.price_lines import Direction, KnownCandle, LineKind, PriceLine

MINUTE = Interval.parse("1m")
TICKS_A_CANDLE = 6
TICK_MS = MINUTE.duration_ms // TICKS_A_CANDLE
CANDLES = 8
TICKS = CANDLES * TICKS_A_CANDLE
PATHS = st.lists(st.integers(97, 103).map(float), min_size=TICKS, max_size=TICKS)
NUMBERS = st.integers(0, TICKS - 1)


def alert(price: float, direction: Direction = Direction.UP, from_ms: int = 0) -> PriceLine:
    return PriceLine(price, LineKind.ALERT, direction=direction, watched_from_ms=from_ms, is_armed=True, number=1)


def candle(minute: int, opened: float, high: float, low: float, close: float) -> Candle:
    return Candle(minute * MINUTE.duration_ms, opened, high, low, close, 1.0)


def candle_of(path: list[float], first: int, stop: int) -> Candle:
    """The candle in which path[first..stop - 1] were traded."""
    part = path[first:stop]
    return candle(first // TICKS_A_CANDLE, part[0], max(part), min(part), part[-1])


def begin_of(number: int) -> int:
    """The first tick of the candle that a tick is in."""
    return number // TICKS_A_CANDLE * TICKS_A_CANDLE


def should_go_off(path: list[float], price: float, set_at: int, seen: set[int]) -> bool:
    """The oracle, tick by tick. In the candle in which the line was set, only a price that was seen, or one outside the
    earlier range of the candle, counts as new."""
    since = next((number for number in sorted(seen) if number >= set_at and path[number] != price), None)
    if since is None:
        return False  # at the line ever since it was set
    is_below, before = path[since] < price, path[begin_of(since) : since + 1]
    for number in range(since + 1, len(path)):
        now = path[number]
        is_across = now >= price if is_below else now <= price
        is_later = begin_of(number) != begin_of(since)
        if is_across and (is_later or number in seen or not min(before) <= now <= max(before)):
            return True
    return False


def watched(line: PriceLine, watch: PriceWatch, candles: list[Candle], now_ms: int = 10**12) -> PriceLine:
    for each in candles:
        line = judge(line, watch.observe(each), tick=0.01, now_ms=now_ms)
    return line


@given(
    path=PATHS,
    price=st.integers(98, 102).map(float),
    set_at=st.integers(0, TICKS - 2),
    chosen=st.sets(NUMBERS),
    away=st.tuples(NUMBERS, NUMBERS).map(sorted),
    late=st.dictionaries(NUMBERS, st.integers(0, CANDLES - 1), max_size=6),
)
def test_an_alert_goes_off_exactly_when_the_ticks_cross(
    path: list[float], price: float, set_at: int, chosen: set[int], away: list[int], late: dict[int, int]
) -> None:
    """Some ticks are seen, and each candle once it closed. In between the program is away, perhaps from the middle of a
    candle into the middle of another or of the same; then closed candles come first. Old candles come again
    at any time."""
    gone, back = (max(number, set_at + 1) for number in away)
    watch, line, seen = PriceWatch(MINUTE), alert(price), set()
    for number in range(TICKS):
        begin = begin_of(number)
        is_closing = number == begin + TICKS_A_CANDLE - 1
        if gone <= number < back:
            continue
        if number == back > gone:
            watch = PriceWatch(MINUTE)
            for first in range(max(begin_of(gone) - TICKS_A_CANDLE, 0), begin, TICKS_A_CANDLE):
                line = judge(line, watch.observe(candle_of(path, first, first + TICKS_A_CANDLE)), tick=0.01, now_ms=0)
                seen.add(first + TICKS_A_CANDLE - 1)
        if not (is_closing or number in chosen or number in (set_at, back)):
            continue
        seen.add(number)
        look = watch.observe(candle_of(path, begin, number + 1))
        if number == set_at:
            line = watch.armed(line, None, tick=0.01)
        elif number > set_at:
            line = judge(line, look, tick=0.01, now_ms=0)
        first = late.get(number, CANDLES) * TICKS_A_CANDLE
        if first < begin and number >= set_at:
            line = judge(line, watch.observe(candle_of(path, first, first + TICKS_A_CANDLE)), tick=0.01, now_ms=0)
        if number >= set_at:
            assert line.is_armed is not should_go_off(path[: number + 1], price, set_at, seen)


@given(prices=st.lists(st.floats(50, 150), min_size=1, max_size=40))
def test_an_alert_goes_off_only_once(prices: list[float]) -> None:
    watch, line, count = PriceWatch(MINUTE), alert(100.0), 0
    for number, price in enumerate(prices):
        after = judge(line, watch.observe(candle(number, price, price, price, price)), tick=0.01, now_ms=0)
        count += after.crossed_at_ms != line.crossed_at_ms
        line = after
    assert count == any(price >= 100 for price in prices)


@pytest.mark.parametrize(("direction", "opened"), [(Direction.UP, 105.0), (Direction.DOWN, 95.0)])
def test_a_gap_across_the_line_counts(direction: Direction, opened: float) -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(0, 100, 100, 100, 100))
    line = watched(alert(100.5 if opened > 100 else 99.5, direction, 60_000), watch, [candle(3, *[opened] * 4)])
    assert line.crossed_at_ms is not None and not line.is_armed


def test_moves_of_the_forming_candle_before_the_alert_do_not_count() -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(0, 100, 110, 99, 100))
    line = watch.armed(alert(105), None, tick=0.01)
    line = watched(line, watch, [candle(0, 100, 110, 99, 101), candle(0, 100, 110, 98, 98)])
    assert line.is_armed
    assert not watched(line, watch, [candle(0, 100, 111, 98, 100)]).is_armed, "a new high is news"


@pytest.mark.parametrize(("price", "sign"), [(104, 1), (96, -1)])
def test_moves_while_the_program_was_closed_count_but_earlier_ones_do_not(price: float, sign: int) -> None:
    def farthest(away: int) -> Candle:
        return candle(3, 100, 100 + max(away * sign, 0), 100 + min(away * sign, 0), 100)

    watch = PriceWatch(MINUTE)
    watch.observe(farthest(4))
    line = watch.armed(alert(price), None, tick=0.01)
    again = PriceWatch(MINUTE)
    again.observe(candle(2, 100, 101, 99, 100))
    assert watched(line, again, [farthest(4)]).is_armed
    assert not watched(line, again, [farthest(6)]).is_armed


def test_an_alert_at_the_price_ignores_candles_before_the_price_left() -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(0, 100, 100, 100, 100))
    line = watch.armed(alert(100), None, tick=0.01)
    assert line.direction is Direction.EITHER
    watch.observe(candle(3, 100, 100, 100, 100))
    line = watched(line, watch, [candle(2, 102, 102, 101, 102)])
    assert line.direction is Direction.EITHER, "where the price was then says nothing of now"
    line = watched(line, watch, [candle(3, 98, 99, 98, 98)])
    assert line.direction is Direction.UP
    assert watched(line, watch, [candle(2, 99, 101, 99, 100), candle(3, 98, 99, 98, 98)]).is_armed
    assert not watched(line, watch, [candle(4, 98, 100, 98, 98)]).is_armed


def test_only_candles_begun_after_the_alert_set_it_off() -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(2, 100, 100, 100, 100))
    line = watch.armed(alert(105), 10 * 60_000 + 30_000, tick=0.01)
    old = [candle(minute, 100, 120, 90, 100) for minute in range(3, 11)]
    line = watched(line, watch, old)
    assert line.is_armed, "the last of them began before it was set"
    late = watched(line, watch, [candle(11, 100, 106, 99, 100)])
    assert late.crossed_at_ms == 12 * 60_000 - 1


@pytest.mark.parametrize("clock_ms", [0, 60_000, 10**12], ids=["behind", "right", "ahead"])
def test_candles_missed_before_the_alert_was_set_are_silent_whatever_the_clock_shows(clock_ms: int) -> None:
    """The connection is down for ten minutes, and the candles of that time arrive after the alert was set."""
    clock, lines = ManualClock(clock_ms), list[PriceLine]()

    def replace_line(line: PriceLine) -> None:
        lines[:] = [line]

    monitor = AlertMonitor(lambda: lines, replace_line, clock, lambda _crossed: None)
    monitor.open(Market("binance", "BTC/USDT", MINUTE), candle(0, 100, 100, 100, 100))
    monitor.update([candle(1, 100, 100, 100, 100)], 0.01)
    clock.advance_ms(10 * MINUTE.duration_ms)
    lines.append(monitor.armed(alert(105)))
    monitor.update([candle(minute, 100, 120, 90, 100) for minute in range(1, 11)], 0.01)
    assert lines[0].is_armed
    monitor.update([candle(12, 100, 120, 90, 100)], 0.01)
    assert not lines[0].is_armed


def test_a_closed_candle_only_shows_that_it_crossed() -> None:
    watch, quarter = PriceWatch(Interval.parse("15m")), 15 * 60_000
    crossing = Candle(3 * quarter, 100, 106, 99, 100, 1.0)
    closed = watched(alert(105), watch, [crossing], now_ms=4 * quarter)
    assert (closed.crossing_candle_ms, closed.crossed_within_ms) == (3 * quarter, quarter)
    forming = watched(alert(105), watch, [crossing], now_ms=4 * quarter - 2)
    assert forming.crossed_at_ms == 4 * quarter - 2 and forming.crossing_candle_ms is None
    again = watch.armed(closed, None, tick=0.01)
    assert again.crossing_candle_ms is None and again.crossed_within_ms is None


@pytest.mark.parametrize("slow_ms", [0, 45_000, 600_000])
def test_a_slow_clock_does_not_count_earlier_moves(slow_ms: int) -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(5, 100, 108, 99, 100))
    line = watch.armed(alert(105), 5 * 60_000 + 30_000 - slow_ms, tick=0.01)
    reopened = PriceWatch(MINUTE)
    assert watched(line, reopened, [candle(4, 100, 109, 99, 100), candle(5, 100, 108, 99, 100)]).is_armed


@pytest.mark.parametrize(("first", "then"), [("1m", "1h"), ("1h", "1m")])
def test_after_an_interval_change_watching_continues_from_the_new_candles(first: str, then: str) -> None:
    opens = {"1m": 34 * 60_000, "1h": 0}
    watch, other = PriceWatch(Interval.parse(first)), PriceWatch(Interval.parse(then))
    watch.observe(Candle(opens[first], 100, 110, 99, 100, 1.0))
    line = watch.armed(alert(105), None, tick=0.01)
    line = watched(line, other, [Candle(opens[then], 100, 112, 99, 101, 1.0)])
    assert line.is_armed
    assert not watched(line, other, [Candle(opens[then], 100, 112, 99, 105, 1.0)]).is_armed
    assert not watched(line, other, [Candle(opens[then], 100, 113, 99, 101, 1.0)]).is_armed


def test_nothing_is_armed_before_a_price_is_known() -> None:
    with pytest.raises(ValueError, match="price"):
        PriceWatch(MINUTE).armed(alert(105), None, tick=0.01)


def test_an_alert_rearmed_at_the_price_waits_until_the_price_leaves() -> None:
    gone = replace(alert(100.0), is_armed=False, crossed_at_ms=5)
    watch = PriceWatch(MINUTE)
    watch.observe(candle(0, *[100.001] * 4))
    line = watch.armed(gone, None, tick=0.01, is_again=True)
    assert line.direction is Direction.EITHER and line.crossed_at_ms is None
    trembling = [candle(0, 100, 100.005, 99.995, close) for close in (99.999, 100.004, 99.996)]
    assert watched(line, watch, trembling).is_armed
    line = watched(line, watch, [candle(1, 99, 99, 98, 98)])
    assert line.direction is Direction.UP and line.is_armed
    assert not watched(line, watch, [candle(2, 99, 100, 99, 99.5)]).is_armed


def test_a_new_alert_counts_from_its_exact_price() -> None:
    watch = PriceWatch(MINUTE)
    watch.observe(candle(0, *[99.999] * 4))
    line = watch.armed(alert(100.0), None, tick=0.01)
    assert line.known == KnownCandle(0, 99.999, 99.999)
    assert line.direction is Direction.UP


def test_notes_and_disabled_lines_are_not_watched() -> None:
    note = PriceLine(100, LineKind.NOTE, direction=Direction.UP, is_armed=True)
    off = replace(alert(100), is_armed=False)
    for line in (note, off):
        assert watched(line, PriceWatch(MINUTE), [candle(1, 99, 101, 98, 100)]) is line


def test_a_line_without_a_finite_price_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        PriceLine(float("nan"), LineKind.NOTE)


@given(prices=st.lists(st.integers(97, 103).map(float), min_size=1, max_size=12), direction=st.sampled_from(Direction))
def test_judged_by_prices_an_alert_goes_off_at_the_first_crossing(prices: list[float], direction: Direction) -> None:
    """As listed prices are judged them; a price at the line is decided by the first price away from it."""
    line, is_below, crossed_at_ms = alert(100.0, direction), direction is Direction.UP, None
    is_decided = direction is not Direction.EITHER
    for number, price in enumerate(prices):
        line = judge_price(line, price, number)
        if not is_decided:
            is_decided, is_below = price != 100.0, price < 100.0
        elif crossed_at_ms is None and (price >= 100.0 if is_below else price <= 100.0):
            crossed_at_ms = number
    assert (line.crossed_at_ms, line.is_armed) == (crossed_at_ms, crossed_at_ms is None)


def test_candles_continue_a_line_judged_by_prices() -> None:
    """A line at the price that left it at a price alone: the candles of before are over, those that follow count."""
    minute_ms = MINUTE.duration_ms
    line = judge_price(alert(100.0, Direction.EITHER), 99.0, 5 * minute_ms)
    before, after = candle(3, 99, 102, 98, 99), candle(6, 99, 101, 98, 99)
    assert watched(line, PriceWatch(MINUTE), [before]) is line
    assert watched(line, PriceWatch(MINUTE), [before, after]).crossed_at_ms is not None


def test_no_price_sets_off_a_note_or_a_disabled_line() -> None:
    for line in (PriceLine(100, LineKind.NOTE, is_armed=True), replace(alert(100), is_armed=False)):
        assert judge_price(line, 101.0, 0) is line
