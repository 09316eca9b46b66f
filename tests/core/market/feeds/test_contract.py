"""What every feed keeps, whichever it is: `core.market.feeds.base` as tests. On virtual time, but for one run of each
exchange's forms over real sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import pytest

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval, Market
from core.domain.candle_faults import Validator
from core.domain.clock import ManualClock
from core.market.feeds.base import ClosedCandle, Feed, FeedEvent, FeedKind, FeedState, FeedStatus, FormingCandle
from core.market.feeds.many import open_feeds
from core.market.feeds.replay import ReplayFeed, sample_feed
from core.market.feeds.simulated import SimulatedFeed
from tests.support.candles import MINUTE, file_of, random_walk
from tests.support.exchange.many import ManyMarkets
from tests.support.exchange.minutes import fast_venue, minute_venue, without_a_pace
from tests.support.feeds import RecordedEvents, record_events
from tests.support.virtual_network import loop_time
from tests.venue.hall import MARKETS, tapes
from tests.venue.rig import FAST, a_feed, an_exchange

CATCH_UP, LIMIT = 20, 26
MakeFeed = Callable[[], Feed]
Source = Callable[[], AbstractAsyncContextManager[MakeFeed]]


@asynccontextmanager
async def binance() -> AsyncIterator[MakeFeed]:
    async with an_exchange(history=60) as server:
        yield lambda: a_feed(server.urls, catch_up=CATCH_UP, limit=LIMIT)


@asynccontextmanager
async def beside_others() -> AsyncIterator[MakeFeed]:
    """A market that shares its connection with two others."""
    async with ManyMarkets(tapes(), loop_time().now_ms, push_s=0.1) as server:
        markets = MARKETS[:3]
        yield lambda: open_feeds(markets, loop_time(), catch_up=CATCH_UP, limit=LIMIT, urls=server.urls, times=FAST)[
            markets[1]
        ]


@asynccontextmanager
async def of_minutes(venue: str) -> AsyncIterator[MakeFeed]:
    served = minute_venue(venue)
    async with served.exchange:
        yield lambda: served.feed(CATCH_UP, LIMIT)


@asynccontextmanager
async def of_fast_minutes(venue: str) -> AsyncIterator[MakeFeed]:
    served = fast_venue(venue)
    with without_a_pace(venue):
        async with served.exchange:
            yield lambda: served.feed(CATCH_UP, LIMIT)


@asynccontextmanager
async def replay(speed: float) -> AsyncIterator[MakeFeed]:
    file = file_of(random_walk(40), "f" * 64)
    yield lambda: ReplayFeed(file, "TEST#ffffff", ManualClock(1), speed, CATCH_UP, LIMIT)


@asynccontextmanager
async def sample() -> AsyncIterator[MakeFeed]:
    yield lambda: sample_feed(ManualClock(1), speed=50.0, catch_up=CATCH_UP, limit=LIMIT)


@asynccontextmanager
async def simulated(speed: float) -> AsyncIterator[MakeFeed]:
    yield lambda: SimulatedFeed(MINUTE, 3, ManualClock(1), speed, CATCH_UP, LIMIT)


@asynccontextmanager
async def simulated_beside_others(speed: float) -> AsyncIterator[MakeFeed]:
    """A simulated market that takes its steps with two others."""
    others: list[asyncio.Task[None]] = []

    def make() -> Feed:
        markets = [Market(SIMULATED_VENUE, f"SIM-{seed}", MINUTE) for seed in (3, 4, 5)]
        first, wanted, last = open_feeds(markets, ManualClock(1), catch_up=CATCH_UP, limit=LIMIT, speed=speed).values()
        others.extend(asyncio.create_task(_drain(feed)) for feed in (first, last))
        return wanted

    yield make
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


every_feed = pytest.mark.parametrize(
    "source",
    [
        pytest.param(binance, id="binance"),
        pytest.param(beside_others, id="binance beside others"),
        pytest.param(partial(of_minutes, "kraken"), id="kraken"),
        pytest.param(partial(of_minutes, "coinbase"), id="coinbase"),
        pytest.param(partial(replay, 50.0), id="replay"),
        pytest.param(partial(replay, 0.0), id="replay as fast as possible"),
        pytest.param(sample, id="sample"),
        pytest.param(partial(simulated, 50.0), id="simulated"),
        pytest.param(partial(simulated, 0.0), id="simulated as fast as possible"),
        pytest.param(partial(simulated_beside_others, 50.0), id="simulated beside others"),
        pytest.param(partial(simulated_beside_others, 0.0), id="simulated beside others as fast as possible"),
    ],
)


def newest_before_each(events: list[FeedEvent]) -> list[tuple[FeedEvent, int]]:
    """Each event with the opening time of the newest closed candle before it."""
    newest_ms, found = 0, []
    for event in events:
        found.append((event, newest_ms))
        if isinstance(event, ClosedCandle):
            newest_ms = event.candle.open_time_ms
    return found


@every_feed
async def test_a_feed_runs_from_its_first_to_its_last_event(source: Source) -> None:
    """One run for all that can be seen in one."""
    async with source() as make:
        received = await run_and_judge(make())
        is_live = [closed.is_live for closed in received.closed]
        assert is_live == sorted(is_live), "history first"


@pytest.mark.venue
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(binance, id="binance"),
        pytest.param(partial(of_fast_minutes, "kraken"), id="kraken"),
        pytest.param(partial(of_fast_minutes, "coinbase"), id="coinbase"),
    ],
)
async def test_a_run_over_real_sockets(source: Source) -> None:
    async with source() as make:
        await run_and_judge(make())


async def run_and_judge(feed: Feed) -> RecordedEvents:
    received = await record_events(feed)
    assert len(received.candles) == LIMIT
    assert isinstance(received.events[0], FeedStatus), "first the feed says what it is about to do"
    assert received.states[-1] is FeedState.ENDED
    assert FeedState.FAILED not in received.states
    for event in received.events:
        if isinstance(event, FeedStatus):
            assert event.at_ms > 0 and event.sentence
            assert event.state.value not in event.sentence.lower(), "it is shown beside the name of the state"
    assert_in_order(received)
    assert_valid(received, feed.market.interval)
    assert not any(closed.is_live for closed in received.closed[: CATCH_UP - 1])
    assert_progress(received)
    return received


def assert_in_order(received: RecordedEvents) -> None:
    for event, newest_ms in newest_before_each(received.events):
        if isinstance(event, ClosedCandle | FormingCandle):
            assert event.candle.open_time_ms > newest_ms


def assert_valid(received: RecordedEvents, interval: Interval) -> None:
    validator = Validator(interval)
    assert [validator.check(candle) for candle in received.candles] == [None] * len(received.candles)
    assert {validator.check_forming(candle) for candle in received.forming} <= {None}


def assert_progress(received: RecordedEvents) -> None:
    done = [progress.done for progress in received.progress]
    assert done == sorted(done)
    assert len({progress.total for progress in received.progress}) == 1
    assert received.progress[-1].done == received.progress[-1].total


@every_feed
async def test_a_feed_continues_exactly_after_the_stored_candles(source: Source) -> None:
    async with source() as make:
        first = await record_events(make(), until=lambda received: len(received.candles) == 12)
        after_ms = first.open_times()[7]
        again = await record_events(make(), until=lambda received: len(received.candles) == 4, after_ms=after_ms)
        assert again.candles == first.candles[8:12]


@every_feed
async def test_a_closed_feed_ends_its_iteration_soon(source: Source) -> None:
    async with source() as make:
        feed, count = make(), 0
        async with asyncio.timeout(60.0):
            async for event in feed.events():
                count += isinstance(event, ClosedCandle)
                if count == 5:
                    await feed.aclose()
        await feed.aclose()
        assert count < LIMIT


@every_feed
async def test_a_waiting_feed_closed_by_another_task_ends_without_an_error(source: Source) -> None:
    async with source() as make:
        feed = make()
        task = asyncio.create_task(_drain(feed))
        await asyncio.sleep(0)
        await feed.aclose()
        await asyncio.wait_for(task, 60.0)


@every_feed
async def test_a_cancelled_feed_can_be_closed(source: Source) -> None:
    async with source() as make:
        feed = make()
        task = asyncio.create_task(_drain(feed))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.wait_for(feed.aclose(), 60.0)


async def _drain(feed: Feed) -> None:
    async for _ in feed.events():
        pass


@every_feed
async def test_only_an_exchange_feed_counts_as_an_exchange(source: Source) -> None:
    async with source() as make:
        feed = make()
        kinds = {FILE_VENUE: FeedKind.REPLAY, SIMULATED_VENUE: FeedKind.SIMULATED}
        assert feed.kind is kinds.get(feed.market.venue, FeedKind.EXCHANGE)
        assert feed.market.is_simulated == (feed.kind is FeedKind.SIMULATED)
        await feed.aclose()
