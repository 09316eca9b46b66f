from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.clock import ManualClock
from core.training.hosting.watchdog import Watchdog

HANG_S = 10.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def watchdog(clock: ManualClock) -> Watchdog:
    """One whose trainer has given its first answer."""
    made = Watchdog(clock, HANG_S)
    made.request_sent()
    made.answered()
    return made


def look(watchdog: Watchdog, clock: ManualClock, seconds: float, each_s: float = 0.5) -> None:
    """Look in vain for so long."""
    for _ in range(round(seconds / each_s)):
        clock.advance_ms(round(each_s * 1000))
        watchdog.polled(each_s)


def test_silence_without_a_pending_answer_is_never_overdue(watchdog: Watchdog, clock: ManualClock) -> None:
    look(watchdog, clock, 100.0)
    assert watchdog.left_s == math.inf and not watchdog.is_overdue


def test_silence_is_overdue_after_the_set_time(watchdog: Watchdog, clock: ManualClock) -> None:
    look(watchdog, clock, 100.0)
    watchdog.request_sent()
    look(watchdog, clock, HANG_S - 0.5)
    assert not watchdog.is_overdue and watchdog.left_s == pytest.approx(0.5)
    look(watchdog, clock, 0.5)
    assert watchdog.is_overdue


def test_an_answer_restarts_the_timer_for_the_next_one(watchdog: Watchdog, clock: ManualClock) -> None:
    watchdog.request_sent()
    watchdog.request_sent()
    look(watchdog, clock, 9.0)
    watchdog.answered()
    look(watchdog, clock, 9.0)
    assert not watchdog.is_overdue
    watchdog.answered()
    assert watchdog.left_s == math.inf


def test_the_first_answer_has_two_minutes(clock: ManualClock) -> None:
    watchdog = Watchdog(clock, HANG_S)
    watchdog.request_sent()
    look(watchdog, clock, 119.5)
    assert not watchdog.is_overdue
    look(watchdog, clock, 0.5)
    assert watchdog.is_overdue


def test_a_busy_start_is_no_hang_while_parts_of_it_are_done(clock: ManualClock) -> None:
    """As with ten large files on a busy machine: minutes before the first answer."""
    watchdog = Watchdog(clock, HANG_S)
    watchdog.request_sent()
    for _ in range(10):
        look(watchdog, clock, 100.0)
        watchdog.part_done()
    assert not watchdog.is_overdue and watchdog.limit_s == 120.0
    look(watchdog, clock, 120.0)
    assert watchdog.is_overdue


def test_parts_of_a_slow_answer_restart_the_timer_and_answer_nothing(watchdog: Watchdog, clock: ManualClock) -> None:
    watchdog.request_sent()
    for _ in range(10):
        look(watchdog, clock, HANG_S - 0.5)
        watchdog.part_done()
    assert not watchdog.is_overdue and watchdog.limit_s == pytest.approx(3.0 * (HANG_S - 0.5))
    look(watchdog, clock, watchdog.limit_s)
    assert watchdog.is_overdue


def quick_or_slow(watchdog: Watchdog, clock: ManualClock, seconds: list[float]) -> None:
    """Answers that took so long, each looked for once."""
    for each in seconds:
        watchdog.request_sent()
        clock.advance_ms(round(each * 1000))
        watchdog.polled(each)
        watchdog.answered()


def test_slow_answers_raise_the_limit_and_quick_ones_lower_it_again(watchdog: Watchdog, clock: ManualClock) -> None:
    quick_or_slow(watchdog, clock, [4.0] * 100)
    assert watchdog.limit_s == pytest.approx(80.0)
    quick_or_slow(watchdog, clock, [0.1] * 300)
    assert watchdog.limit_s == HANG_S


@pytest.mark.parametrize("quick", [0, 50, 90, 200])
def test_one_slow_answer_raises_the_limit_only_briefly(clock: ManualClock, quick: int) -> None:
    watchdog = Watchdog(clock, 30.0)
    watchdog.request_sent()
    watchdog.answered()
    quick_or_slow(watchdog, clock, [0.05] * (quick // 2) + [25.0] + [0.05] * (quick // 2))
    watchdog.request_sent()
    look(watchdog, clock, 50.0)
    assert not watchdog.is_overdue, "the same could come again"
    look(watchdog, clock, 25.0)
    assert watchdog.is_overdue


@given(st.lists(st.floats(0.0, 5.0), max_size=300), st.floats(1.0, 30.0))
def test_the_limit_is_bounded_and_never_below_a_received_answer(seconds: list[float], hang_s: float) -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, hang_s)
    watchdog.request_sent()
    watchdog.answered()
    quick_or_slow(watchdog, clock, seconds)
    newest = [round(each * 1000) / 1000 for each in seconds][-256:]
    assert watchdog.limit_s >= max([hang_s, *(2.9 * each for each in newest)])
    bound = 3.0 * max(newest, default=0.0)
    if len(newest) >= 100:
        bound = max(bound, 20.0 * sorted(newest)[len(newest) // 2])
    assert watchdog.limit_s <= max(hang_s, bound) + 1e-6


def test_time_between_checks_does_not_count(watchdog: Watchdog, clock: ManualClock) -> None:
    """A suspended laptop, or Ctrl+Z on the whole group: both were suspended."""
    watchdog.request_sent()
    look(watchdog, clock, 5.0)
    clock.advance_ms(3_600_000)
    watchdog.polled(0.5)
    assert not watchdog.is_overdue
    look(watchdog, clock, 4.0)
    assert watchdog.is_overdue
