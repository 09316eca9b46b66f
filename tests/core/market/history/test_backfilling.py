"""Backfill through ccxt fetches exactly the missing candles despite any errors. On virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import pytest

from core.domain.backoff import Backoff
from core.domain.candle import Candle, Interval, Market
from core.domain.spans import TimeSpan
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.errors import HistoryError
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import PassingError
from core.storage.holes import HoleStore
from tests.support.exchange.clock import loop_s
from tests.support.loopback_exchange import LoopbackExchange
from tests.support.tape import generated_tape
from tests.support.virtual_network import loop_time, run_locally

MINUTE = Interval.parse("1m")
MARKET = Market("binance", "BTC/USDT", MINUTE)
HISTORY = 2_600
NOW_MS = 1_700_000_000_000 - 1_700_000_000_000 % 60_000 + 30_000
TAPE = generated_tape(MINUTE, NOW_MS, HISTORY, 10)
FIRST_MS = TAPE.candles[0].open_time_ms
CLOSED = list(TAPE.candles[:HISTORY])


@dataclass
class RecordedProgress:
    sentences: list[str] = field(default_factory=list)
    progress: list[tuple[int, int]] = field(default_factory=list)
    on_progress: Callable[[int], None] = lambda done: None

    def notify(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def show(self, done: int, total: int) -> None:
        self.progress.append((done, total))
        self.on_progress(done)


@dataclass
class Desk:
    """A database, an exchange, and who listens."""

    store: CandleStore
    holes: HoleStore
    writer: HistoryWriter
    exchange: LoopbackExchange
    received: RecordedProgress = field(default_factory=RecordedProgress)

    async def fill(self, since_ms: int = FIRST_MS, until_ms: int | None = None, **how: bool) -> BackfillReport:
        venue = partial(CcxtVenue, MARKET, self.exchange.urls, 5.0)
        backoff = Backoff(1.0, 2.0, Random(1))
        job = Backfill(MARKET, self.store, self.holes, self.writer, loop_time(), venue, self.received, backoff=backoff)
        return await job.run(since_ms, until_ms, **how)

    def klines(self) -> int:
        return sum("/klines" in request for request in self.exchange.requests)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_database(tmp_path / "one.sqlite3") as db:
        exchange = LoopbackExchange(TAPE, lambda: NOW_MS)
        yield Desk(CandleStore(db), HoleStore(db), HistoryWriter(db), exchange)


def run(desk: Desk, story: Callable[[], object]) -> None:
    async def live() -> None:
        async with desk.exchange:
            result = story()
            if asyncio.iscoroutine(result):
                await result

    run_locally(live())


def test_an_empty_database_gets_all_closed_candles(desk: Desk) -> None:
    async def story() -> None:
        report = await desk.fill()
        assert (report.wanted, report.stored, report.absent, report.left) == (HISTORY, HISTORY, 0, 0)
        assert desk.received.progress[0] == (0, HISTORY) and desk.received.progress[-1] == (HISTORY, HISTORY)
        before = desk.klines()
        again = await desk.fill()
        assert (again.wanted, again.requests) == (0, 0) and desk.klines() == before

    run(desk, story)
    assert desk.store.load(MARKET) == CLOSED


def test_a_disk_that_fills_up_keeps_the_pages_before_and_denies_none(tmp_path: Path) -> None:
    with open_database(tmp_path / "small.sqlite3") as db:
        desk = Desk(CandleStore(db), HoleStore(db), HistoryWriter(db), LoopbackExchange(TAPE, lambda: NOW_MS))

        def fill_the_disk(done: int) -> None:
            db.execute(f"PRAGMA max_page_count = {1 if done else 1_000_000}")

        desk.received.on_progress = fill_the_disk

        async def story() -> None:
            with pytest.raises(PassingError) as full:
                await desk.fill()
            assert 0 < len(desk.store.load(MARKET)) < HISTORY
            assert "nothing" not in str(full.value), "pages have been stored"
            db.execute("PRAGMA max_page_count = 1000000")
            desk.received.on_progress = lambda done: None
            await desk.fill()
            assert desk.store.load(MARKET) == CLOSED

        run(desk, story)


def test_only_gaps_are_requested_and_stored_candles_kept(desk: Desk) -> None:
    own = Candle(CLOSED[5].open_time_ms, 1.0, 1.0, 1.0, 1.0, 1.0)
    missing = {10, 11, 700, 1500, 1501, 1502, 2599}
    kept = [own if n == 5 else candle for n, candle in enumerate(CLOSED) if n not in missing]
    desk.store.save(MARKET, kept)

    async def story() -> None:
        report = await desk.fill()
        assert (report.wanted, report.stored, report.requests) == (len(missing), len(missing), 3)

    run(desk, story)
    assert desk.store.load(MARKET) == [own if n == 5 else candle for n, candle in enumerate(CLOSED)]


def test_candles_missing_at_the_exchange_are_requested_twice_only(desk: Desk) -> None:
    absent = {3, 4, 999, 1000, 1001, 2000}
    desk.exchange.hidden = {CLOSED[n].open_time_ms for n in absent}

    async def story() -> None:
        report = await desk.fill(FIRST_MS - 50 * 60_000)
        assert (report.absent, report.all_absent) == (6, 6)
        assert report.left == report.out_of_reach == 50, "whether they exist is not known"
        again = await desk.fill(FIRST_MS - 50 * 60_000)
        assert (again.wanted, again.requests, again.all_absent) == (50, 2, 6)
        desk.exchange.hidden = set()
        late = await desk.fill(retries_absent=True)
        assert late.stored == len(absent) and late.all_absent == 0

    run(desk, story)
    assert desk.store.load(MARKET) == CLOSED


def test_one_incomplete_answer_leaves_no_gap(desk: Desk) -> None:
    desk.exchange.hidden = {candle.open_time_ms for candle in CLOSED[400:420]}

    def whole_from_the_second_answer_on() -> int:
        if desk.klines() > 1:
            desk.exchange.hidden = set()
        return NOW_MS

    desk.exchange.now_ms = whole_from_the_second_answer_on

    async def story() -> None:
        report = await desk.fill()
        assert report.absent == 0 and report.stored == HISTORY

    run(desk, story)
    assert desk.store.load(MARKET) == CLOSED


def test_temporary_errors_are_retried(desk: Desk) -> None:
    troubles = [503, 500, 503]

    def trouble(done: int) -> None:
        if troubles:
            desk.exchange.answer(troubles.pop())
            asyncio.get_running_loop().call_later(3.0, desk.exchange.resume)

    desk.received.on_progress = trouble

    async def story() -> None:
        report = await desk.fill()
        assert report.stored == HISTORY and report.absent == 0

    run(desk, story)
    assert desk.store.load(MARKET) == CLOSED


def test_the_requested_wait_is_respected(desk: Desk) -> None:
    """Retry-After: 100 s, though the back-off would wait a hundredth of it."""

    def trouble(done: int) -> None:
        if done == 0:
            desk.exchange.answer(429, 100)
            loop = asyncio.get_running_loop()
            loop.call_later(5.0, desk.exchange.resume)

    desk.received.on_progress = trouble

    async def story() -> None:
        began_s = loop_s()
        await desk.fill(CLOSED[-5].open_time_ms)
        assert loop_s() - began_s > 99.0

    run(desk, story)


def test_a_permanent_error_is_explained(desk: Desk) -> None:
    desk.exchange.answer(451)

    async def story() -> None:
        with pytest.raises(HistoryError, match="location"):
            await desk.fill()

    run(desk, story)


def test_after_cancelling_at_any_page_the_next_run_continues(desk: Desk) -> None:
    async def story() -> None:
        for _ in range(2):
            task = asyncio.ensure_future(desk.fill())
            desk.received.on_progress = lambda done, task=task: task.cancel() if done >= 900 else None
            with pytest.raises(asyncio.CancelledError):
                await task
        stored = desk.store.count(MARKET)
        assert 0 < stored < HISTORY
        desk.received.on_progress = lambda done: None
        report = await desk.fill()
        assert report.stored == HISTORY - stored

    run(desk, story)
    assert desk.store.load(MARKET) == CLOSED


def test_a_range_without_candles_is_reported(desk: Desk) -> None:
    async def story() -> None:
        with pytest.raises(HistoryError, match="nothing to fetch"):
            await desk.fill(NOW_MS + 3_600_000)
        report = await desk.fill(FIRST_MS, FIRST_MS + 5 * 60_000)
        assert report.stored == 5 and report.span == TimeSpan(FIRST_MS, FIRST_MS + 300_000)

    run(desk, story)
