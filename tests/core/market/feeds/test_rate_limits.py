"""Waits requested by an exchange."""

from __future__ import annotations

import pytest

from core.domain.clock import ManualClock
from core.market.feeds.rate_limits import RateLimitedError, RateLimitHold
from core.market.feeds.trouble import VenueError


def wait_of(seconds: float) -> VenueError:
    return VenueError(f"Asks for {seconds:g} s.", wait_s=seconds, is_asked=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def hold(clock: ManualClock) -> RateLimitHold:
    return RateLimitHold(clock)


def test_requests_are_refused_until_the_wait_is_over(hold: RateLimitHold, clock: ManualClock) -> None:
    hold.record(wait_of(30.0))
    clock.advance_ms(29_000)
    with pytest.raises(RateLimitedError, match="Asks for 30 s") as refusal:
        hold.check()
    assert refusal.value.wait_s == pytest.approx(1.0)
    clock.advance_ms(1_000)
    hold.check()
    assert hold.left_s == 0.0


@pytest.mark.parametrize("waits", [(60.0, 5.0), (5.0, 60.0)])
def test_the_longer_of_two_waits_holds(hold: RateLimitHold, waits: tuple[float, float]) -> None:
    for seconds in waits:
        hold.record(wait_of(seconds))
    assert hold.left_s == pytest.approx(60.0)
    assert str(hold.held) == "Asks for 60 s."


def test_an_error_without_a_requested_wait_holds_nothing(hold: RateLimitHold) -> None:
    hold.record(VenueError("Was cut.", wait_s=30.0))
    assert hold.held is None


def test_the_user_can_end_the_wait(hold: RateLimitHold) -> None:
    hold.record(wait_of(30.0))
    hold.drop()
    hold.check()
