"""A real feed through real ccxt, over a bad line, into a real SQLite; and what must hold afterwards.

All of it on the running loop's time, which is virtual unless the test is marked `venue`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from core.domain.backoff import Backoff
from core.domain.candle import Candle, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.venue import ExchangeUrls
from core.market.pipeline import FeedReport, MarketPipeline, PipelineListener
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.simulation.virtual_time import VirtualLoop
from tests.support.exchange.clock import loop_s
from tests.support.exchange.server import LoopbackExchange
from tests.support.loopback_exchange import FaultyVenue
from tests.support.tape import generated_tape
from tests.support.virtual_network import loop_time

SECOND = Interval.parse("1s")
STEP_MS = SECOND.duration_ms
MARKET = Market("binance", "BTC/USDT", SECOND)
FAST = ExchangeTimes(
    request_s=2.0,
    first_look_s=0.05,
    grace_s=0.3,
    patience_s=3.0,
    retry_s=0.05,
    silence_s=4.0,
    doubt_s=1.5,
    vitals_s=0.5,
    check_s=1.0,
    check_every_s=0.5,
    confirm_s=0.3,
    check_pause_s=0.5,
)
CATCH_UP = 10
_HISTORY = 40
_FUTURE = 400
_PUSH_S = 0.1
_LOOK_S = 0.1
_CLOSE_WITHIN_S, _CLOSE_WITHIN_REAL_S = 3.0, 60.0


@dataclass(slots=True)
class RecordingListener(PipelineListener):
    """The notifications of the pipeline."""

    closed: list[Candle] = field(default_factory=list)
    live: list[Candle] = field(default_factory=list)
    forming: list[Candle] = field(default_factory=list)
    corrected: list[Candle] = field(default_factory=list)
    statuses: list[FeedStatus] = field(default_factory=list)
    reports: list[FeedReport] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self.closed.extend(candles)
        self.live.extend(candle for candle in candles if candle.open_time_ms in live_open_times_ms)
        self.news.set()

    def on_forming(self, candle: Candle) -> None:
        self.forming.append(candle)
        self.news.set()

    def on_status(self, status: FeedStatus) -> None:
        self.statuses.append(status)
        self.news.set()

    def on_catch_up(self, progress: CatchUpProgress) -> None: ...

    def on_corrected(self, candle: Candle) -> None:
        self.corrected.append(candle)
        self.news.set()

    def on_report(self, report: FeedReport) -> None:
        self.reports.append(report)

    @property
    def state(self) -> FeedState | None:
        return self.statuses[-1].state if self.statuses else None

    def sentences(self, state: FeedState) -> str:
        """All sentences with this state."""
        return " | ".join(status.sentence for status in self.statuses if status.state is state)


@dataclass(slots=True)
class Rig:
    """One market that is watched over a line that may be bad."""

    venue: FaultyVenue
    feed: ExchangeFeed
    received: RecordingListener
    store: CandleStore

    @property
    def exchange(self) -> LoopbackExchange:
        return self.venue.exchange

    async def until(self, condition: Callable[[], bool], what: str, timeout_s: float = 120.0) -> None:
        deadline_s = loop_s() + timeout_s
        while not condition():
            if loop_s() > deadline_s:
                said = [f"{status.state.value}: {status.sentence}" for status in self.received.statuses]
                raise AssertionError(f"waited {timeout_s:g} s for {what}; the feed said {said}")
            self.received.news.clear()
            try:
                await asyncio.wait_for(self.received.news.wait(), _LOOK_S)
            except TimeoutError:
                continue

    async def live(self, more: int = 3) -> None:
        """Wait until it is live and this many further candles come live."""
        wanted = len(self.received.live) + more
        await self.until(
            lambda: self.received.state is FeedState.LIVE and len(self.received.live) >= wanted, f"{more} live candles"
        )

    async def passed(self, candles: int) -> None:
        """Wait until the exchange has closed this many candles, received or not."""
        until_ms = self.exchange.now_ms() + candles * STEP_MS
        await self.until(lambda: self.exchange.now_ms() >= until_ms, f"{candles} candles' time")

    async def trouble(self, *words: str) -> None:
        """Wait until it reports a reconnect with these words."""
        await self.until(
            lambda: all(word in self.received.sentences(FeedState.RECONNECTING) for word in words),
            f"'{' '.join(words)}' to be said",
        )

    def is_true(self) -> bool:
        """Whether the stored candles equal the exchange's by now."""
        return all(candle == self.exchange.truth(candle.open_time_ms) for candle in self.store.load(MARKET))

    def assert_whole(self) -> None:
        """Stored candles are the exchange's, without a hole; each was passed on once, in order."""
        stored = self.store.load(MARKET)
        times = [candle.open_time_ms for candle in stored]
        assert {later - earlier for earlier, later in itertools.pairwise(times)} == {STEP_MS}, "a hole"
        assert stored == [self.exchange.truth(time_ms) for time_ms in times], "not the exchange's candle"
        passed_on = [candle.open_time_ms for candle in self.received.closed]
        assert passed_on == times, "passed on more than once, or out of order"


def an_exchange(trades: int = 31, history: int = _HISTORY, push_s: float = _PUSH_S, **options: Any) -> LoopbackExchange:
    clock = loop_time()
    tape = generated_tape(SECOND, clock.now_ms(), history, _FUTURE, trades=trades)
    return LoopbackExchange(tape, clock.now_ms, push_s=push_s, **options)


def correct(exchange: LoopbackExchange, open_time_ms: int) -> None:
    """The exchange has another close and volume for this candle from now on."""
    candle = exchange.truth(open_time_ms)
    assert candle is not None
    close = round((candle.high + candle.low) / 2.0, 8)
    exchange.corrected[open_time_ms] = replace(candle, close=close, volume=round(candle.volume * 1.5, 8))


def a_feed(
    urls: ExchangeUrls, times: ExchangeTimes = FAST, clock: Clock | None = None, catch_up: int = CATCH_UP, **named: Any
) -> ExchangeFeed:
    backoff = Backoff(first_s=0.5, longest_s=2.0, random=Random(1))
    clock = clock or loop_time()
    return ExchangeFeed(MARKET, clock, catch_up=catch_up, urls=urls, times=times, backoff=backoff, **named)


def pipeline_of(feed: ExchangeFeed, store: CandleStore, received: RecordingListener) -> MarketPipeline:
    """From the feed into the tables of the store's database, as the product has it."""
    return MarketPipeline(feed, store, HoleStore(store.db), loop_time(), received)


@asynccontextmanager
async def watched(
    root: Path,
    exchange: LoopbackExchange | None = None,
    times: ExchangeTimes = FAST,
    clock: Clock | None = None,
    catch_up: int = CATCH_UP,
    is_to_fail: bool = False,
) -> AsyncIterator[Rig]:
    """A market that is watched. At the end it is closed in time, its sockets are gone, and what is stored is whole.

    is_to_fail: the feed ends with a sentence; it may have stored nothing.
    """
    db = open_database(root / "candles.sqlite3")
    before = asyncio.all_tasks()
    is_virtual = isinstance(asyncio.get_running_loop(), VirtualLoop)
    close_within_s = _CLOSE_WITHIN_S if is_virtual else _CLOSE_WITHIN_REAL_S
    try:
        async with FaultyVenue(exchange or an_exchange()) as venue:
            feed = a_feed(venue.urls, times, clock, catch_up)
            rig = Rig(venue, feed, RecordingListener(), CandleStore(db))
            pipeline = asyncio.create_task(pipeline_of(feed, rig.store, rig.received).run())
            try:
                yield rig
            finally:
                async with asyncio.timeout(close_within_s):
                    await feed.aclose()
                    await pipeline
            venue.heal()
            await asyncio.wait_for(venue.exchange.is_deserted.wait(), close_within_s)
            assert is_to_fail is (rig.received.state is FeedState.FAILED), rig.received.statuses
            if rig.received.closed or not is_to_fail:
                rig.assert_whole()
        left = asyncio.all_tasks() - before
        assert not left, f"tasks left running: {left}"
    finally:
        db.close()
