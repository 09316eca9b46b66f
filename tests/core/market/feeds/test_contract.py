"""What every feed keeps, whichever it is: `core.market.feeds.base` as tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from core.clock import SystemClock
from core.market.candle import FILE_VENUE, SIMULATED_VENUE, Interval, Market
from core.market.feeds.base import ClosedCandle, Feed, FeedEvent, FeedKind, FeedState, FeedStatus, FormingCandle
from core.market.feeds.exchange import ExchangeFeed, ExchangeTimes
from core.market.feeds.replay import ReplayFeed
from core.market.feeds.simulated import SimulatedFeed
from core.market.files import CandleFile
from core.market.sample import sample_feed
from core.market.validate import Validator
from tests.support.candles import MINUTE, random_walk
from tests.support.exchange.minutes import fast_venue, without_a_pace
from tests.support.feeds import Heard, hear
from tests.support.loopback_exchange import AcceleratedClock, LoopbackExchange
from tests.support.tape import generated_tape

CATCH_UP, LIMIT = 20, 26
SECOND = Interval.parse("1s")
MakeFeed = Callable[[], Feed]
Source = Callable[[], AbstractAsyncContextManager[MakeFeed]]


@asynccontextmanager
async def exchange() -> AsyncIterator[MakeFeed]:
    clock = AcceleratedClock(time.time_ns() // 1_000_000, speed=10.0)
    times = ExchangeTimes(first_look_s=0.02, retry_s=0.02)
    market = Market("binance", "BTC/USDT", SECOND)
    tape = generated_tape(SECOND, clock(), history=60, future=2000)
    async with LoopbackExchange(tape, clock, push_s=0.01) as server:
        yield lambda: ExchangeFeed(market, SystemClock(), CATCH_UP, LIMIT, server.urls, times)


@asynccontextmanager
async def kraken() -> AsyncIterator[MakeFeed]:
    served = fast_venue("kraken")
    with without_a_pace("kraken"):
        async with served.exchange:
            yield lambda: served.feed(CATCH_UP, LIMIT)


@asynccontextmanager
async def coinbase() -> AsyncIterator[MakeFeed]:
    served = fast_venue("coinbase")
    with without_a_pace("coinbase"):
        async with served.exchange:
            yield lambda: served.feed(CATCH_UP, LIMIT)


@asynccontextmanager
async def replay() -> AsyncIterator[MakeFeed]:
    file = CandleFile(tuple(random_walk(40)), MINUTE, {}, "f" * 64)
    yield lambda: ReplayFeed(file, "TEST#ffffff", SystemClock(), speed=50.0, catch_up=CATCH_UP, limit=LIMIT)


@asynccontextmanager
async def fast_replay() -> AsyncIterator[MakeFeed]:
    file = CandleFile(tuple(random_walk(40)), MINUTE, {}, "f" * 64)
    yield lambda: ReplayFeed(file, "TEST#ffffff", SystemClock(), limit=LIMIT)


@asynccontextmanager
async def sample() -> AsyncIterator[MakeFeed]:
    yield lambda: sample_feed(SystemClock(), speed=50.0, catch_up=CATCH_UP, limit=LIMIT)


@asynccontextmanager
async def simulated() -> AsyncIterator[MakeFeed]:
    yield lambda: SimulatedFeed(MINUTE, 3, SystemClock(), speed=50.0, catch_up=CATCH_UP, limit=LIMIT)


@asynccontextmanager
async def fast_simulated() -> AsyncIterator[MakeFeed]:
    yield lambda: SimulatedFeed(MINUTE, 3, SystemClock(), speed=0.0, catch_up=CATCH_UP, limit=LIMIT)


every_feed = pytest.mark.parametrize(
    "source",
    [
        pytest.param(exchange, marks=pytest.mark.venue, id="exchange"),
        pytest.param(kraken, marks=pytest.mark.venue, id="kraken"),
        pytest.param(coinbase, marks=pytest.mark.venue, id="coinbase"),
        pytest.param(replay, id="replay"),
        pytest.param(fast_replay, id="replay as fast as it goes"),
        pytest.param(sample, id="sample"),
        pytest.param(simulated, id="simulated"),
        pytest.param(fast_simulated, id="simulated as fast as it goes"),
    ],
)


def with_feed(source: Source, act: Callable[[Feed], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with source() as make:
            await act(make())

    asyncio.run(scenario())


def newest_before_each(events: list[FeedEvent]) -> list[tuple[FeedEvent, int]]:
    """Each event with the opening time of the newest closed candle before it."""
    newest_ms, found = 0, []
    for event in events:
        found.append((event, newest_ms))
        if isinstance(event, ClosedCandle):
            newest_ms = event.candle.open_time_ms
    return found


@every_feed
def test_a_run_from_its_first_word_to_its_last(source: Source) -> None:
    """One run for all that can be seen in one, because a run of the exchange takes a second."""

    async def act(feed: Feed) -> None:
        heard = await hear(feed)
        assert len(heard.candles) == LIMIT
        assert isinstance(heard.events[0], FeedStatus), "first the feed says what it is about to do"
        assert heard.states[-1] is FeedState.ENDED
        assert FeedState.FAILED not in heard.states
        assert all(event.sentence and event.at_ms > 0 for event in heard.events if isinstance(event, FeedStatus))
        assert_in_order(heard)
        assert_valid(heard, feed.market.interval)
        assert_history_first(heard)
        assert_progress(heard)

    with_feed(source, act)


def assert_in_order(heard: Heard) -> None:
    for event, newest_ms in newest_before_each(heard.events):
        if isinstance(event, ClosedCandle | FormingCandle):
            assert event.candle.open_time_ms > newest_ms


def assert_valid(heard: Heard, interval: Interval) -> None:
    validator = Validator(interval)
    assert [validator.check(candle) for candle in heard.candles] == [None] * len(heard.candles)
    assert {validator.check_forming(candle) for candle in heard.forming} <= {None}


def assert_history_first(heard: Heard) -> None:
    is_live = [closed.is_live for closed in heard.closed]
    assert is_live[: CATCH_UP - 1] == [False] * (CATCH_UP - 1)
    assert is_live == sorted(is_live)


def assert_progress(heard: Heard) -> None:
    done = [progress.done for progress in heard.progress]
    assert done == sorted(done)
    assert len({progress.total for progress in heard.progress}) == 1
    assert heard.progress[-1].done == heard.progress[-1].total


@every_feed
def test_what_is_stored_already_does_not_come_again_and_nothing_after_it_is_left_out(source: Source) -> None:
    async def scenario() -> None:
        async with source() as make:
            first = await hear(make(), until=lambda heard: len(heard.candles) == 12)
            after_ms = first.open_times()[7]
            again = await hear(make(), until=lambda heard: len(heard.candles) == 4, after_ms=after_ms)
            assert again.candles == first.candles[8:12]

    asyncio.run(scenario())


@every_feed
def test_a_closed_feed_ends_its_iteration_soon(source: Source) -> None:
    async def act(feed: Feed) -> None:
        count = 0
        async with asyncio.timeout(60.0):
            async for event in feed.events():
                count += isinstance(event, ClosedCandle)
                if count == 5:
                    await feed.aclose()
        await feed.aclose()
        assert count < LIMIT

    with_feed(source, act)


@every_feed
def test_a_feed_closed_from_elsewhere_while_it_waits_ends_without_an_error(source: Source) -> None:
    async def act(feed: Feed) -> None:
        task = asyncio.create_task(_drain(feed))
        await asyncio.sleep(0)
        await feed.aclose()
        await asyncio.wait_for(task, 60.0)

    with_feed(source, act)


@every_feed
def test_a_feed_that_is_cancelled_can_be_closed(source: Source) -> None:
    async def act(feed: Feed) -> None:
        task = asyncio.create_task(_drain(feed))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.wait_for(feed.aclose(), 60.0)

    with_feed(source, act)


async def _drain(feed: Feed) -> None:
    async for _ in feed.events():
        pass


@every_feed
def test_only_an_exchange_may_be_taken_for_one(source: Source) -> None:
    async def act(feed: Feed) -> None:
        expected = {
            FILE_VENUE: FeedKind.REPLAY,
            SIMULATED_VENUE: FeedKind.SIMULATED,
        }.get(feed.market.venue, FeedKind.EXCHANGE)
        assert feed.kind is expected
        assert feed.market.is_simulated == (feed.kind is FeedKind.SIMULATED)
        await feed.aclose()

    with_feed(source, act)
