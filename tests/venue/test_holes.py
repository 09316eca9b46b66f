"""Gaps of the exchange found live: reported, stored, and known after a restart."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from core.domain.candle_series import CandleSeries
from core.domain.spans import TimeSpan
from core.market.feeds.base import MissingCandles
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from desktop.chart.data.columns import visible_gaps
from tests.support.exchange.server import LoopbackExchange
from tests.support.feeds import Silent
from tests.support.loopback_exchange import FaultyVenue
from tests.support.virtual_network import loop_time
from tests.venue.rig import MARKET, SECOND, STEP_MS, RecordingListener, a_feed, an_exchange, pipeline_of

HIDDEN = 3


async def watch_until_a_hole(path: Path, exchange: LoopbackExchange) -> tuple[TimeSpan, int]:
    """One run of the program: some candles ahead are hidden. Returns the hole, and the first stored time."""
    received = RecordingListener()
    with open_database(path) as db:
        store = CandleStore(db)
        async with FaultyVenue(exchange) as venue, asyncio.timeout(60.0):
            feed = a_feed(venue.urls)
            running = asyncio.create_task(pipeline_of(feed, store, received).run())
            while not received.live:
                await asyncio.wait_for(received.news.wait(), 60.0)
                received.news.clear()
            first_ms = SECOND.open_time_ms(exchange.now_ms()) + 5 * STEP_MS
            hole = TimeSpan(first_ms, first_ms + HIDDEN * STEP_MS)
            exchange.hidden = set(range(hole.first_ms, hole.stop_ms, STEP_MS))
            while received.closed[-1].open_time_ms < hole.stop_ms:
                received.news.clear()
                await received.news.wait()
            await feed.aclose()
            await running
        assert MissingCandles(hole.first_ms, HIDDEN) in received.reports
        return hole, received.closed[0].open_time_ms


async def fill(path: Path, exchange: LoopbackExchange, first_ms: int, stop_ms: int) -> BackfillReport:
    with open_database(path) as db:
        async with exchange:
            venue, clock = partial(CcxtVenue, MARKET, exchange.urls, 5.0), loop_time()
            job = Backfill(MARKET, CandleStore(db), HoleStore(db), HistoryWriter(db), clock, venue, Silent())
            return await job.run(first_ms, stop_ms)


async def test_a_gap_found_live_is_known_and_marked_after_a_restart(tmp_path: Path) -> None:
    path, exchange = tmp_path / "candles.sqlite3", an_exchange()
    hole, first_ms = await watch_until_a_hole(path, exchange)
    with open_database(path, readonly=True) as db:
        assert HoleStore(db).of_exchange(MARKET, TimeSpan(first_ms, hole.stop_ms)) == [hole]
        series = CandleSeries(SECOND)
        for candle in CandleStore(db).load(MARKET):
            series.add(candle)
    marks = [series[int(index)].open_time_ms for index in visible_gaps(series, 0, len(series))]
    assert marks == [hole.stop_ms], "the chart marks where a candle is missing before this one"
    report = await fill(path, exchange, first_ms, hole.stop_ms)
    assert (report.wanted, report.requests, report.all_absent) == (0, 0, HIDDEN), "it is not asked for again"
