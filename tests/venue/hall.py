"""Markets of one exchange, watched at once: the real feeds through real ccxt, over a bad line, into one table."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from core.domain.backoff import Backoff
from core.domain.candle import Interval, Market
from core.market.feeds.base import Feed, FeedState
from core.market.feeds.many import open_feeds
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.timing import ExchangeTimes
from core.market.pipeline import MarketPipeline
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.simulation.virtual_time import VirtualTime
from tests.support.exchange.clock import loop_s
from tests.support.exchange.many import ManyMarkets
from tests.support.exchange.minutes import MINUTE, SERVERS
from tests.support.loopback_exchange import FaultyVenue
from tests.support.tape import Tape, generated_tape
from tests.support.virtual_network import loop_time
from tests.venue.rig import CATCH_UP, FAST, SECOND, STEP_MS, RecordingListener

SYMBOLS = tuple(f"{base}/USDT" for base in ("ADA", "BTC", "DASH", "ETC", "ETH", "NXT", "TRX", "XLM", "XMR", "ZEC"))
MARKETS = tuple(Market("binance", symbol, SECOND) for symbol in SYMBOLS)
FEW = MARKETS[:3]
"""Enough for what concerns one of them. The time that a test takes grows with their number."""
_HISTORY, _FUTURE, _TRADES = 40, 900, 7


@dataclass(slots=True)
class Hall:
    """The markets that are watched, and what each has brought."""

    venue: FaultyVenue
    exchange: Any
    clock: VirtualTime
    holds: RateLimitHolds
    store: CandleStore
    feeds: Mapping[Market, Feed]
    received: Mapping[Market, RecordingListener]

    async def until(self, condition: Callable[[], bool], what: str, timeout_s: float = 240.0) -> None:
        deadline_s = loop_s() + timeout_s
        while not condition():
            if loop_s() > deadline_s:
                said = {market.symbol: each.statuses[-1:] for market, each in self.received.items()}
                raise AssertionError(f"waited {timeout_s:g} s for {what}; {said}")
            await asyncio.sleep(0.05)

    async def live(self, more: int = 3, but: tuple[Market, ...] = ()) -> None:
        """Wait until so many further candles of each market come live, but of those."""
        watched = [each for market, each in self.received.items() if market not in but]
        wanted = [len(each.live) + more for each in watched]
        await self.until(
            lambda: all(
                each.state is FeedState.LIVE and len(each.live) >= count
                for each, count in zip(watched, wanted, strict=True)
            ),
            f"{more} live candles of each",
        )

    async def passed(self, candles: int) -> None:
        await asyncio.sleep(candles * STEP_MS / 1000.0)

    def reconnects(self) -> dict[str, int]:
        """How often each market has lost its connection."""
        return {
            market.symbol: sum(
                status.state is FeedState.RECONNECTING and not status.awaits_message for status in each.statuses
            )
            for market, each in self.received.items()
        }

    def asked(self, what: str, symbol: str = "") -> int:
        """How many requests of this kind came."""
        name = symbol.replace("/", "")
        return sum(f"/{what}" in request and name in request for request in self.exchange.requests)

    def assert_whole(self, market: Market, holes: frozenset[int] = frozenset()) -> None:
        """Its stored candles are the exchange's own of this market, without another hole, and came once, in order."""
        stored = self.store.load(market)
        times = [candle.open_time_ms for candle in stored]
        step_ms = market.interval.duration_ms
        wanted = set(range(times[0], times[-1] + step_ms, step_ms)) - holes
        assert times == sorted(wanted), f"a hole in {market.symbol}"
        served = self.exchange.markets[market.symbol]
        assert stored == [served.truth(time_ms) for time_ms in times], f"not the candles of {market.symbol}"
        passed_on = [candle.open_time_ms for candle in self.received[market].closed]
        assert passed_on == times or holes, "passed on more than once, or out of order"


def tapes(symbols: Sequence[str] = SYMBOLS, interval: Interval = SECOND, history: int = _HISTORY) -> dict[str, Tape]:
    now_ms = loop_time().now_ms()
    return {
        symbol: generated_tape(interval, now_ms, history, _FUTURE, seed, _TRADES)
        for seed, symbol in enumerate(symbols, 1)
    }


@asynccontextmanager
async def hall(
    root: Path,
    times: ExchangeTimes = FAST,
    markets: Sequence[Market] = FEW,
    unknown: tuple[str, ...] = (),
    refused: tuple[str, ...] = (),
    **options: Any,
) -> AsyncIterator[Hall]:
    """All of `markets` are watched. At the end each is closed in time, and their socket is gone.

    unknown: symbols that the exchange does not have. refused: those that nobody may subscribe to.
    """
    clock = loop_time()
    exchange = ManyMarkets(tapes([market.symbol for market in markets]), clock.now_ms, push_s=0.2, **options)
    for symbol in unknown:
        exchange.delist(symbol)
    exchange.refused.update(refused)
    async with watched_together(root, exchange, markets, replace(times, renew_jitter_s=0.0), clock) as found:
        yield found


@asynccontextmanager
async def minute_hall(root: Path, venue: str, symbols: Sequence[str], history: int = _HISTORY) -> AsyncIterator[Hall]:
    """The same of ``kraken`` or ``coinbase``, with candles of a minute."""
    (first, tape), *others = tapes(symbols, MINUTE, history).items()
    exchange = SERVERS[venue](tape, loop_time().now_ms, symbol=first, others=dict(others), push_s=1.0)
    markets = [Market(venue, symbol, MINUTE) for symbol in symbols]
    async with watched_together(root, exchange, markets, ExchangeTimes(), loop_time()) as found:
        yield found


@asynccontextmanager
async def watched_together(
    root: Path, exchange: Any, markets: Sequence[Market], times: ExchangeTimes, clock: VirtualTime
) -> AsyncIterator[Hall]:
    """clock: the exchange's may be the same one."""
    before = asyncio.all_tasks()
    with open_database(root / "candles.sqlite3") as db:
        async with FaultyVenue(exchange) as venue:
            holds, numbers = RateLimitHolds(clock), itertools.count(1)
            feeds = open_feeds(
                markets,
                clock,
                catch_up=CATCH_UP,
                urls=venue.urls,
                times=times,
                holds=holds,
                make_backoff=lambda: Backoff(0.5, 2.0, Random(next(numbers))),
            )
            received = {market: RecordingListener() for market in feeds}
            found = Hall(venue, exchange, clock, holds, CandleStore(db), feeds, received)
            pipelines = [
                asyncio.create_task(MarketPipeline(feed, found.store, HoleStore(db), clock, found.received[each]).run())
                for each, feed in feeds.items()
            ]
            try:
                yield found
            finally:
                async with asyncio.timeout(60.0):
                    await asyncio.gather(*(feed.aclose() for feed in feeds.values()))
                    await asyncio.gather(*pipelines)
            venue.heal()
            await asyncio.wait_for(exchange.is_deserted.wait(), 60.0)
    left = asyncio.all_tasks() - before
    if left:  # ccxt lets a request that was cancelled wait for its turn
        _, left = await asyncio.wait(left, timeout=3.0)
    assert not left, f"tasks left running: {left}"
