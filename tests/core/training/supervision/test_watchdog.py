from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import ManualClock
from core.training.supervision.watchdog import Watchdog

HANG_S = 10.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def watchdog(clock: ManualClock) -> Watchdog:
    """One whose trainer has given its first answer."""
    made = Watchdog(clock, HANG_S)
    made.asked()
    made.answered()
    return made


def look(watchdog: Watchdog, clock: ManualClock, seconds: float, each_s: float = 0.5) -> None:
    """Look in vain for so long."""
    for _ in range(round(seconds / each_s)):
        clock.advance_ms(round(each_s * 1000))
        watchdog.looked(each_s)


def answer_in(watchdog: Watchdog, clock: ManualClock, seconds: float) -> None:
    watchdog.asked()
    look(watchdog, clock, seconds, 0.1)
    watchdog.answered()


def test_who_owes_nothing_may_be_silent_for_ever(watchdog: Watchdog, clock: ManualClock) -> None:
    look(watchdog, clock, 100.0)
    assert watchdog.left_s == math.inf and not watchdog.is_overdue


def test_silence_is_overdue_after_the_set_time(watchdog: Watchdog, clock: ManualClock) -> None:
    look(watchdog, clock, 100.0)
    watchdog.asked()
    look(watchdog, clock, HANG_S - 0.5)
    assert not watchdog.is_overdue and watchdog.left_s == pytest.approx(0.5)
    look(watchdog, clock, 0.5)
    assert watchdog.is_overdue


def test_an_answer_begins_a_new_silence_for_the_next_that_is_owed(watchdog: Watchdog, clock: ManualClock) -> None:
    watchdog.asked()
    watchdog.asked()
    look(watchdog, clock, 9.0)
    watchdog.answered()
    look(watchdog, clock, 9.0)
    assert not watchdog.is_overdue
    watchdog.answered()
    assert watchdog.left_s == math.inf


def test_the_first_answer_has_two_minutes(clock: ManualClock) -> None:
    watchdog = Watchdog(clock, HANG_S)
    watchdog.asked()
    look(watchdog, clock, 119.5)
    assert not watchdog.is_overdue
    look(watchdog, clock, 0.5)
    assert watchdog.is_overdue


def test_slow_answers_make_it_patient_and_quick_ones_impatient_again(watchdog: Watchdog, clock: ManualClock) -> None:
    answer_in(watchdog, clock, 4.0)
    assert watchdog.limit_s == pytest.approx(80.0)
    for _ in range(300):
        answer_in(watchdog, clock, 0.1)
    assert watchdog.limit_s == HANG_S


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=150))
def test_the_limit_is_twenty_times_the_99th_percentile(seconds: list[float]) -> None:
    """At least 99 % of the answers took at most a twentieth of the limit, where it is more than the set time."""
    clock = ManualClock()
    watchdog = Watchdog(clock, 1.0)
    watchdog.asked()
    watchdog.answered()
    for each in seconds:
        watchdog.asked()
        clock.advance_ms(round(each * 1000))
        watchdog.looked(each)
        watchdog.answered()
    bound = watchdog.limit_s / 20.0 + 1e-9
    took = [round(each * 1000) / 1000 for each in seconds]
    assert sum(each <= bound for each in took) >= 0.99 * len(took)
    if watchdog.limit_s > 1.0:
        assert sum(each < bound - 2e-9 for each in took) < 0.99 * len(took)


def test_time_in_which_nobody_looked_is_not_held_against_it(watchdog: Watchdog, clock: ManualClock) -> None:
    """A suspended laptop, or Ctrl+Z on the whole group: both stood still."""
    watchdog.asked()
    look(watchdog, clock, 5.0)
    clock.advance_ms(3_600_000)
    watchdog.looked(0.5)
    assert not watchdog.is_overdue
    look(watchdog, clock, 4.0)
    assert watchdog.is_overdue
