"""Waits that an exchange demands, and the queue of requests of several markets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

import pytest

from core.domain.clock import ManualClock
from core.market.feeds.rate_limits import RateLimitedError, RateLimitHold, RequestQueue
from core.market.feeds.trouble import VenueError
from tests.simulation.virtual_time import run_virtually


def wait_of(seconds: float) -> VenueError:
    return VenueError(f"Asks for {seconds:g} s.", wait_s=seconds, is_demanded=True)


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


@dataclass
class Served:
    """An exchange that answers on demand, and its queue."""

    queue: RequestQueue = field(default_factory=lambda: RequestQueue(RateLimitHold(ManualClock())))
    sent: list[str] = field(default_factory=list)
    answers: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    def ask(self, name: str, *, is_urgent: bool = True) -> asyncio.Task[str]:
        self.answers[name] = asyncio.get_running_loop().create_future()

        def send() -> Awaitable[str]:
            self.sent.append(name)
            return self.answers[name]

        async def request() -> str:
            return await self.queue.send(send, is_urgent=is_urgent)

        return asyncio.ensure_future(request())

    async def answer(self, name: str) -> None:
        self.answers[name].set_result(name)
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_request_is_sent_at_a_time_urgent_ones_first() -> None:
    async def story() -> list[str]:
        served = Served()
        for name in ("page 1", "page 2", "close 1", "page 3", "close 2"):
            served.ask(name, is_urgent=name.startswith("close"))
        await settled()
        for count in range(1, 6):
            assert len(served.sent) == count
            await served.answer(served.sent[-1])
        return served.sent

    assert asyncio.run(story()) == ["page 1", "close 1", "close 2", "page 2", "page 3"]


def test_a_demanded_wait_ends_all_that_wait_and_sends_none_of_them() -> None:
    async def story() -> tuple[list[str], list[type[BaseException]]]:
        served = Served()
        tasks = [served.ask(name) for name in ("one", "two", "three")]
        await settled()
        served.answers["one"].set_exception(VenueError("Slow down (429).", wait_s=60.0, is_demanded=True))
        await settled()
        assert served.sent == ["one"]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(RateLimitedError, match="429"):
            await served.ask("four")
        return served.sent, [type(each) for each in found if isinstance(each, BaseException)]

    assert asyncio.run(story()) == (["one"], [VenueError, RateLimitedError, RateLimitedError])


def test_an_error_of_one_request_is_not_another_one() -> None:
    async def story() -> tuple[object, object]:
        served = Served()
        tasks = [served.ask(name) for name in ("one", "two")]
        await settled()
        served.answers["one"].set_exception(VenueError("It has no such market.", is_final=True))
        await settled()
        await served.answer("two")
        one, two = await asyncio.gather(*tasks, return_exceptions=True)
        return str(one), two

    assert asyncio.run(story()) == ("It has no such market.", "two")


@pytest.mark.parametrize("ended", ["waiting", "sent"])
def test_a_cancelled_request_holds_up_nobody(ended: str) -> None:
    async def story() -> list[str]:
        served = Served()
        tasks = {name: served.ask(name) for name in ("one", "two", "three")}
        await settled()
        tasks["one" if ended == "sent" else "two"].cancel()
        await settled()
        for name in ("two", "three") if ended == "sent" else ("one", "three"):
            await served.answer(name)
        assert await tasks["three"] == "three"
        return served.sent

    assert asyncio.run(story()) == (["one", "two", "three"] if ended == "sent" else ["one", "three"])


def test_a_request_that_is_cancelled_as_its_turn_comes_passes_it_on() -> None:
    async def story() -> list[str]:
        served = Served()

        async def cancels_the_next() -> None:
            await served.queue.send(lambda: asyncio.sleep(1.0))
            second.cancel()

        first = asyncio.ensure_future(cancels_the_next())
        await settled()
        second, third = served.ask("two"), served.ask("three")
        await first
        await settled()
        await served.answer("three")
        assert second.cancelled() and await third == "three"
        return served.sent

    assert run_virtually(lambda loop: story()) == ["three"]
