"""The newest row of an answer counts as closed only if it certainly was at the time of the request."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.market.feeds.closed_candles import FeedCounters
from core.market.feeds.rate_limits import RateLimitHold
from core.market.feeds.requests import Page, Requests
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.timing import ExchangeTimes
from tests.support.candles import MINUTE, START_MS

CLOSED = Candle(START_MS - MINUTE.duration_ms, 1.0, 2.0, 0.5, 1.5, 8.0)
HALF = Candle(START_MS, 1.5, 1.6, 1.4, 1.6, 3.0)
"""As it stood in its middle."""
TIMES = ExchangeTimes()


@dataclass
class _Slow:
    """A venue that answers when released. Only the methods that `Requests` uses."""

    clock: ManualClock
    name = "Slow"
    listed_rows = farthest_rows = None
    ahead_ms: int = 0
    waiting: deque[asyncio.Future[list[Candle]]] = field(default_factory=deque)

    async def server_ms(self) -> int:
        return self.clock.now_ms() + self.ahead_ms

    async def candles(self, since_ms: int) -> list[Candle]:
        self.waiting.append(asyncio.get_running_loop().create_future())
        return await self.waiting[-1]


Meanwhile = Callable[[Requests, _Slow], Awaitable[object]]


def page_after(
    meanwhile: Meanwhile,
    asked_ms: int = START_MS + 30_000,
    before: Meanwhile | None = None,
    rows: Sequence[Candle] = (CLOSED, HALF),
) -> Page:
    """An answer that was written in the middle of a candle, and comes when all this has happened. asked_ms: the time of
    the request. before: what happens before it."""

    async def scenario() -> Page:
        clock = ManualClock(asked_ms)
        venue = _Slow(clock)
        server = ServerClock(clock, MINUTE)
        requests = Requests(venue, RateLimitHold(clock), clock, server, TIMES, FeedCounters())  # type: ignore[arg-type]
        if before is not None:
            await before(requests, venue)
        requested = asyncio.ensure_future(requests.page(CLOSED.open_time_ms))
        await asyncio.sleep(0)
        other = await meanwhile(requests, venue)
        venue.waiting.popleft().set_result(list(rows))
        page = await requested
        if isinstance(other, asyncio.Task):
            other.cancel()
        return page

    return asyncio.run(scenario())


async def nothing_happens(_: Requests, __: _Slow) -> None:
    pass


async def time_passes(_: Requests, venue: _Slow) -> None:
    venue.clock.advance_ms(40_000)


async def another_asks(requests: Requests, venue: _Slow) -> asyncio.Task[Page]:
    venue.clock.advance_ms(40_000)
    task = asyncio.ensure_future(requests.page(CLOSED.open_time_ms))
    await asyncio.sleep(0)
    return task


async def it_sleeps_and_another_takes_the_time(requests: Requests, venue: _Slow) -> None:
    venue.ahead_ms = 3_600_000
    await requests.sync()


async def the_clock_is_ahead(requests: Requests, venue: _Slow) -> None:
    venue.ahead_ms = 60_000
    await requests.sync()


async def the_clock_is_set_back(requests: Requests, venue: _Slow) -> None:
    venue.ahead_ms = 0
    await requests.sync()


@pytest.mark.parametrize("meanwhile", [time_passes, another_asks, it_sleeps_and_another_takes_the_time])
def test_an_answer_is_as_old_as_its_request(meanwhile: Meanwhile) -> None:
    page = page_after(meanwhile)
    assert page.closed == [CLOSED] and page.newest_ms == HALF.open_time_ms


def test_a_clock_set_back_during_a_request_was_ahead_at_its_start() -> None:
    assert page_after(the_clock_is_set_back, before=the_clock_is_ahead).closed == [CLOSED]


@pytest.mark.parametrize(("early_ms", "closed"), [(1, [CLOSED]), (0, [CLOSED, HALF])])
def test_a_newest_row_that_ended_well_before_the_request_is_closed(early_ms: int, closed: list[Candle]) -> None:
    final_ms = START_MS + MINUTE.duration_ms + round(1000.0 * TIMES.grace_s)
    assert page_after(nothing_happens, final_ms - early_ms).closed == closed


def test_a_row_of_the_future_does_not_begin_the_list() -> None:
    """The feed would skip all candles until then."""
    future = replace(CLOSED, open_time_ms=CLOSED.open_time_ms + 3_000 * MINUTE.duration_ms)
    assert page_after(nothing_happens, rows=(future, CLOSED, HALF)).first_ms == CLOSED.open_time_ms
    assert page_after(nothing_happens, rows=(future,)).first_ms is None
