"""Kraken and Coinbase through ccxt's own classes: streams, REST, breaks, and what they say when they do not want to.

On virtual time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from core.domain.candle import Candle, Market
from core.domain.spans import TimeSpan
from core.market.feeds.base import FeedState, FeedVitals, MissingCandles
from core.market.feeds.ccxt_objects import make_exchange
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.trouble import HttpResponse, VenueError
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.import_plan import HistoryWriter
from core.market.pipeline import MarketPipeline
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.support.exchange.kraken import MOST_ROWS, KrakenExchange
from tests.support.exchange.minutes import MINUTE, ServedVenue, minute_venue
from tests.support.feeds import Silent
from tests.venue.rig import RecordingListener

STEP_MS = MINUTE.duration_ms
both = pytest.mark.parametrize("venue", ["kraken", "coinbase"])


@dataclass
class Watched:
    """One market that is watched, into a real table."""

    served: ServedVenue
    received: RecordingListener
    store: CandleStore

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(3_600.0):
            while not condition():
                self.received.news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.received.news.wait(), 1.0)

    def truth(self, open_time_ms: int) -> Candle | None:
        return self.served.exchange.truth(open_time_ms)

    def vitals(self) -> FeedVitals:
        return next(report for report in reversed(self.received.reports) if isinstance(report, FeedVitals))


@contextlib.asynccontextmanager
async def watched(venue: str, root: Path, catch_up: int = 20) -> AsyncIterator[Watched]:
    served, received = minute_venue(venue), RecordingListener()
    with open_database(root / "candles.sqlite3") as db:
        async with served.exchange:
            feed, store = served.feed(catch_up), CandleStore(db)
            pipeline = MarketPipeline(feed, store, HoleStore(db), served.clock, received)
            running = asyncio.create_task(pipeline.run())
            try:
                yield Watched(served, received, store)
            finally:
                await feed.aclose()
                await running
        stored = store.load(served.market)
        times = [candle.open_time_ms for candle in stored]
        assert times == list(range(times[0], times[-1] + STEP_MS, STEP_MS)), "a hole"
        assert stored == [served.exchange.truth(open_time_ms) for open_time_ms in times]
        assert [candle.open_time_ms for candle in received.closed] == times, "passed on more than once, or out of order"


@both
async def test_candles_form_from_trades_and_close_with_the_exchange_values(venue: str, tmp_path: Path) -> None:
    async with watched(venue, tmp_path) as market:
        received = market.received
        await market.until(lambda: len(received.live) >= 3 and len(received.forming) >= 10)
        assert market.vitals().trades > 50 and market.vitals().rejected == 0
        for formed in received.forming:
            final = market.truth(formed.open_time_ms)
            assert final is not None and formed.open == final.open
            assert final.low <= formed.low and formed.high <= final.high
            assert formed.volume <= final.volume * (1.0 + 1e-9), "no trade was counted twice"


@both
async def test_after_a_disconnect_missed_candles_are_fetched(venue: str, tmp_path: Path) -> None:
    async with watched(venue, tmp_path) as market:
        received, exchange = market.received, market.served.exchange
        await market.until(lambda: len(received.live) >= 2)
        exchange.refuse()
        await market.until(lambda: received.state is FeedState.RECONNECTING)
        back_ms = exchange.now_ms() + 3 * STEP_MS
        await market.until(lambda: exchange.now_ms() >= back_ms)
        exchange.resume()
        live = len(received.live)
        await market.until(lambda: received.state is FeedState.LIVE and len(received.live) >= live + 2)
        assert len(received.closed) > len(received.live) + 20, "candles of the break came by request"


@both
async def test_a_corrected_candle_is_reported_and_stored(venue: str, tmp_path: Path) -> None:
    async with watched(venue, tmp_path) as market:
        received = market.received
        await market.until(lambda: len(received.live) >= 2)
        open_ms = received.live[-1].open_time_ms
        final = market.truth(open_ms)
        assert final is not None
        volume = round(final.volume * 1.5, 8)
        market.served.exchange.corrected[open_ms] = Candle(
            open_ms, final.open, final.high, final.low, final.close, volume
        )
        await market.until(lambda: bool(received.corrected))
        assert received.corrected == [market.truth(open_ms)]


async def fill(served: ServedVenue, path: Path, candles: int) -> BackfillReport:
    with open_database(path) as db:
        async with served.exchange:
            venue = partial(CcxtVenue, served.market, served.exchange.urls, 20.0)
            store, holes, writer = CandleStore(db), HoleStore(db), HistoryWriter(db)
            job = Backfill(served.market, store, holes, writer, served.clock, venue, Silent())
            until_ms = MINUTE.open_time_ms(served.exchange.now_ms())
            return await job.run(until_ms - candles * STEP_MS, until_ms)


async def test_coinbase_is_backfilled_page_by_page(tmp_path: Path) -> None:
    report = await fill(minute_venue("coinbase", history=1_100), tmp_path / "candles.sqlite3", 1_000)
    assert (report.stored, report.absent, report.left) == (1_000, 0, 0)
    assert report.requests == 4, "its pages have 300 candles"


async def test_candles_before_krakens_list_are_not_reported_missing(tmp_path: Path) -> None:
    served = minute_venue("kraken", history=1_100)
    report = await fill(served, tmp_path / "candles.sqlite3", 1_000)
    assert report.stored == MOST_ROWS - 1, "the newest of its rows is still open"
    assert report.absent == report.all_absent == 0
    assert report.stored + report.out_of_reach == report.wanted == 1_000 and report.left == report.out_of_reach
    with open_database(tmp_path / "candles.sqlite3") as db:
        assert HoleStore(db).of_exchange(served.market, TimeSpan(0, 2**62)) == []


async def test_a_gap_within_krakens_list_is_reported_missing(tmp_path: Path) -> None:
    served = minute_venue("kraken", history=1_100)
    newest_ms = MINUTE.open_time_ms(served.exchange.now_ms())
    served.exchange.hidden.update({newest_ms - minutes * STEP_MS for minutes in (300, 301)})
    report = await fill(served, tmp_path / "candles.sqlite3", 500)
    assert (report.absent, report.out_of_reach, report.left) == (2, 0, 0)


async def test_after_a_break_longer_than_krakens_list_the_skipped_part_is_reported(tmp_path: Path) -> None:
    served, received = minute_venue("kraken", history=1_100), RecordingListener()
    known = served.exchange.truth(MINUTE.open_time_ms(served.exchange.now_ms()) - 1_000 * STEP_MS)
    assert known is not None
    with open_database(tmp_path / "candles.sqlite3") as db:
        store, holes = CandleStore(db), HoleStore(db)
        store.save(served.market, [known])
        async with served.exchange:
            feed = served.feed(1_000)
            running = asyncio.create_task(MarketPipeline(feed, store, holes, served.clock, received).run())
            while not received.live:
                received.news.clear()
                await received.news.wait()
            await feed.aclose()
            await running
        assert holes.of_exchange(served.market, TimeSpan(0, 2**62)) == []
    assert not [report for report in received.reports if isinstance(report, MissingCandles)]
    assert "newest 720 candles only" in received.sentences(FeedState.CATCHING_UP)
    times = [candle.open_time_ms for candle in received.closed]
    assert len(times) >= MOST_ROWS - 2 and times == list(range(times[0], times[-1] + STEP_MS, STEP_MS))


@contextlib.asynccontextmanager
async def connected(served: ServedVenue, symbol: str = "BTC/USD") -> AsyncIterator[CcxtVenue]:
    async with served.exchange:
        venue = CcxtVenue(Market(served.market.venue, symbol, MINUTE), served.exchange.urls, 5.0)
        try:
            yield venue
        finally:
            await venue.close()


@pytest.mark.parametrize(
    ("error", "words", "is_demanded"),
    [
        ("EAPI:Rate limit exceeded", "demands fewer requests", True),
        ("EGeneral:Too many requests", "demands fewer requests", True),
        ("EService:Unavailable", "maintenance or overloaded", False),
        ("EService:Market in cancel_only mode", "maintenance", False),
        ("EGeneral:Internal error", "maintenance or overloaded", False),
    ],
)
async def test_errors_inside_krakens_answers_are_distinguished(error: str, words: str, is_demanded: bool) -> None:
    """They are 200, whatever it says."""
    served = minute_venue("kraken")
    async with connected(served) as venue:
        await venue.open(None)
        served.exchange.answer(200, body=f'{{"error":["{error}"]}}')
        with pytest.raises(VenueError) as raised:
            await venue.candles(served.exchange.now_ms() - 10 * STEP_MS)
    trouble = raised.value
    assert words in str(trouble) and "Kraken" in str(trouble)
    assert trouble.is_demanded is is_demanded and not trouble.is_final


@both
async def test_a_missing_market_is_named(venue: str) -> None:
    async with connected(minute_venue(venue), "NO/SUCH") as nowhere:
        with pytest.raises(VenueError, match="no spot market NO/SUCH"):
            await nowhere.open(None)


async def test_an_address_of_another_exchange_is_refused() -> None:
    kraken = KrakenExchange(minute_venue("kraken").exchange.tape)
    with pytest.raises(VenueError, match="uses the format of Kraken") as raised:
        make_exchange("binance", kraken.urls, 5.0, HttpResponse())
    assert raised.value.is_final
