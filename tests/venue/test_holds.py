"""The feed and the prices of markets ask one exchange: a wait requested of one is kept by both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.market.feeds.base import FeedState
from core.market.feeds.exchange import probe
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.ticker_poller import PollEvent, PollTimes, PollTrouble, TickerPoller
from core.market.feeds.trouble import VenueError
from core.market.symbols import fetch_symbols
from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.support.priced_exchange import PricedExchange
from tests.support.virtual_network import loop_time
from tests.venue.rig import MARKET, RecordingListener, a_feed, pipeline_of

POLLING = PollTimes(every_s=0.5, request_s=2.0)
WAIT_S = 15


class Both:
    """One feed into one table, and one poller, in one program."""

    def __init__(self, exchange: PricedExchange, store: CandleStore) -> None:
        self.exchange, self.store, self.received = exchange, store, RecordingListener()
        clock = loop_time()
        self.holds = RateLimitHolds(clock)
        self.polled: list[PollEvent] = []
        self.feed = a_feed(exchange.urls, gate=self.holds.of("binance"))
        self.poller = TickerPoller(clock, exchange.urls, self.polled.append, POLLING, holds=self.holds)
        self.poller.watch([("binance", "BTC/USDT")])

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(120.0):
            while not condition():  # noqa: ASYNC110 - of what is waited for, some sets no event
                await asyncio.sleep(0.05)


@asynccontextmanager
async def both_of(root: Path, sends_final: bool = True) -> AsyncIterator[Both]:
    with open_database(root / "candles.sqlite3") as db:
        async with PricedExchange(sends_final=sends_final, now_ms=loop_time().now_ms, push_s=0.1) as exchange:
            both = Both(exchange, CandleStore(db))
            pipeline = asyncio.create_task(pipeline_of(both.feed, both.store, both.received).run())
            polling = asyncio.create_task(both.poller.run())
            try:
                await both.until(lambda: len(both.received.live) >= 2 and len(both.polled) >= 2)
                yield both
            finally:
                await both.feed.aclose()
                polling.cancel()
                await asyncio.gather(pipeline, polling, return_exceptions=True)


@pytest.mark.parametrize("sends_final", [True, False], ids=["closed by the stream", "closed by request"])
async def test_a_wait_requested_of_one_is_kept_by_all_and_the_stream_continues(
    tmp_path: Path, sends_final: bool
) -> None:
    async with both_of(tmp_path, sends_final) as both:
        exchange, received, hold = both.exchange, both.received, both.holds.of("binance")
        exchange.answer(429, retry_after_s=WAIT_S)
        await both.until(lambda: hold.left_s > 0.0)
        exchange.resume()
        forming = len(received.forming)
        await asyncio.sleep(0.5)  # what is on its way
        asked = len(exchange.requests)
        await both.until(lambda: hold.left_s < 2.0)
        assert exchange.requests[asked:] == [], "somebody did not keep the wait"
        assert len(received.forming) > forming + 50, "the stream was left alone"
        assert received.state is FeedState.LIVE and not received.sentences(FeedState.RECONNECTING)
        assert any("429" in each.sentence for each in both.polled if isinstance(each, PollTrouble))
        with pytest.raises(VenueError, match="429"):
            await fetch_symbols("binance", exchange.urls, loop_time(), hold)
        assert "429" in str(await probe(MARKET, exchange.urls, 2.0, loop_time(), hold))
        live = len(received.live)
        await both.until(lambda: len(received.live) >= live + 5 and len(exchange.requests) > asked)
        stored = both.store.load(MARKET)
        assert stored == exchange.tape.between(stored[0].open_time_ms, stored[-1].open_time_ms), "nothing was lost"


async def test_a_manual_retry_ends_the_wait_until_the_exchange_asks_again(tmp_path: Path) -> None:
    async with both_of(tmp_path) as both:
        hold = both.holds.of("binance")
        both.exchange.answer(429, retry_after_s=600)
        await both.until(lambda: hold.left_s > 300.0)
        hold.drop()
        assert hold.left_s == 0.0
        await both.until(lambda: hold.left_s > 300.0)
