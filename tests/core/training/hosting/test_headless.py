"""A run without a window: its feed's candles reach the table and the trainer."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from core.domain.candle import Candle, Market
from core.domain.clock import ManualClock, SystemClock
from core.domain.events import EventBatch, ForecastMade, ForecastMode, ForecastScored, TrainerFailed
from core.domain.incident_kinds import IncidentKind
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import (
    ClosedCandle,
    CorrectedCandle,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    StoredCandles,
)
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.training.hosting import headless
from core.training.hosting.headless import HeadlessRun
from tests.core.training import rigs
from tests.support.candles import MARKET, MINUTE, random_walk
from tests.support.driven import stored_incidents

CANDLES = random_walk(30)
RIGHT = dataclasses.replace(CANDLES[20], high=CANDLES[20].high * 1.01)


class CorrectingFeed:
    """Sends candles, and after training on them a correction of one."""

    market: Market = MARKET
    kind = FeedKind.REPLAY

    def __init__(self) -> None:
        self.is_learned, self.is_rescored = asyncio.Event(), asyncio.Event()

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        for candle in CANDLES:
            yield ClosedCandle(candle, is_live=True)
        await self.is_learned.wait()
        yield CorrectedCandle(RIGHT, CANDLES[20])
        await self.is_rescored.wait()

    async def aclose(self) -> None:
        self.is_learned.set()
        self.is_rescored.set()


def stored(root: Path) -> list[Candle]:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        return CandleStore(db).load(MARKET)


@pytest.mark.parametrize("host", ["thread", pytest.param("process", marks=pytest.mark.slow)])
def test_a_corrected_candle_is_stored_and_scored_again(tmp_path: Path, host: str) -> None:
    training = dataclasses.replace(rigs.SMALL.training, host=host)
    settings: Settings = dataclasses.replace(rigs.SMALL, training=training)
    rescored: list[ForecastScored] = []

    async def scenario() -> str | None:
        feed, loop = CorrectingFeed(), asyncio.get_running_loop()

        def look(batch: EventBatch) -> None:
            for event in batch.events:
                if isinstance(event, ForecastScored) and event.version > 1:
                    rescored.append(event)
                    loop.call_soon_threadsafe(feed.is_rescored.set)
                if isinstance(event, ForecastScored) and event.target_open_time_ms == CANDLES[-1].open_time_ms:
                    loop.call_soon_threadsafe(feed.is_learned.set)

        run = HeadlessRun([feed], rigs.spec(tmp_path, settings), SystemClock(), look, lambda status: None)
        await asyncio.wait_for(run.run(), 120.0)
        return run.failure

    assert asyncio.run(scenario()) is None
    assert [(event.horizon, event.version) for event in rescored] == [(1, 2), (2, 2), (3, 2)]
    assert {event.target_open_time_ms for event in rescored} == {RIGHT.open_time_ms}
    assert stored(tmp_path) == [*CANDLES[:20], RIGHT, *CANDLES[21:]]


class LiveFeed:
    """Past candles, and on request the newest one, live."""

    kind = FeedKind.EXCHANGE

    def __init__(self, market: Market) -> None:
        self.market = market
        self.is_next_wanted, self.is_over = asyncio.Event(), asyncio.Event()

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        for candle in CANDLES[:-1]:
            yield ClosedCandle(candle, is_live=False)
        yield FeedStatus(FeedState.LIVE, "It is live.", 0)
        await self.is_next_wanted.wait()
        yield ClosedCandle(CANDLES[-1], is_live=True)
        await self.is_over.wait()

    async def aclose(self) -> None:
        self.is_next_wanted.set()
        self.is_over.set()


def test_a_late_market_does_not_delay_the_others_and_its_forecast_is_scored_apart(tmp_path: Path) -> None:
    """The clock does not run: it is set."""
    feeds = [LiveFeed(Market("binance", symbol, MINUTE)) for symbol in ("A/USDT", "B/USDT")]
    clock = ManualClock(MINUTE.close_time_ms(CANDLES[-2].open_time_ms) + 100)
    made: dict[int, list[ForecastMade]] = {}

    async def scenario() -> str | None:
        loop = asyncio.get_running_loop()

        def proceed(origin: int, count: int) -> None:
            if origin == CANDLES[-2].open_time_ms and count == 2:
                clock.advance_ms(MINUTE.duration_ms + 2_400)
                feeds[0].is_next_wanted.set()
            elif origin == CANDLES[-1].open_time_ms and count == 1:
                clock.advance_ms(8_000)
                feeds[1].is_next_wanted.set()
            elif origin == CANDLES[-1].open_time_ms:
                for feed in feeds:
                    feed.is_over.set()

        def look(batch: EventBatch) -> None:
            for event in batch.events:
                if isinstance(event, ForecastMade):
                    made.setdefault(event.origin_open_time_ms, []).append(event)
                    loop.call_soon_threadsafe(proceed, event.origin_open_time_ms, len(made[event.origin_open_time_ms]))

        first, second = (feed.market for feed in feeds)
        training = dataclasses.replace(rigs.SMALL.training, host="thread")
        settings = dataclasses.replace(rigs.SMALL, training=training)
        spec = dataclasses.replace(rigs.spec(tmp_path, settings, first), others=(second,))
        run = HeadlessRun(feeds, spec, clock, look, lambda status: None)
        await asyncio.wait_for(run.run(), 120.0)
        return run.failure

    assert asyncio.run(scenario()) is None
    assert {len(each) for each in made.values()} == {2}, "every candle of both"
    prompt, late = made[CANDLES[-1].open_time_ms]
    assert (prompt.mode, late.mode) == (ForecastMode.LIVE, ForecastMode.CATCH_UP)
    assert prompt.run_id != late.run_id
    assert {each.mode for each in made[CANDLES[-2].open_time_ms]} == {ForecastMode.CATCH_UP}, "it did not come live"


class StoredFeed(CorrectingFeed):
    """Sends the candles at once, and ends."""

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        for candle in CANDLES:
            yield ClosedCandle(candle, is_live=False)


@pytest.mark.hostile
@pytest.mark.parametrize("host", ["thread", pytest.param("process", marks=pytest.mark.slow)])
def test_a_database_that_another_program_holds_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(headless, "_RETRY_S", 0.01)
    monkeypatch.setitem(open_database.__kwdefaults__, "busy_timeout_ms", 10)
    training = dataclasses.replace(rigs.SMALL.training, host=host)
    spec = dataclasses.replace(rigs.spec(tmp_path, dataclasses.replace(rigs.SMALL, training=training)), new_run=True)
    faults: list[PassingFault | None] = []
    forecasts: list[int] = []
    with closing(
        sqlite3.connect(DataFolder(tmp_path).database, isolation_level=None, check_same_thread=False)
    ) as other:

        def look(batch: EventBatch) -> None:
            for event in batch.events:
                if isinstance(event, ForecastMade):
                    forecasts.append(event.origin_open_time_ms)
                    if len(forecasts) == 5:
                        other.execute("BEGIN IMMEDIATE")
                elif isinstance(event, TrainerFailed):
                    faults.append(event.passing)

        def release(record: logging.LogRecord) -> bool:
            if "Not in the database" in record.msg:  # the first driver has ended
                other.execute("ROLLBACK")
            return True

        run = HeadlessRun([StoredFeed()], spec, SystemClock(), look, lambda status: None)
        logged = logging.getLogger("ghostcandle.training")
        logged.addFilter(release)
        asyncio.run(asyncio.wait_for(run.run(), 300.0))
        logged.removeFilter(release)
    assert stored_incidents(tmp_path) == [IncidentKind.TRAINER_ENDED], "the next driver has stored it"
    assert run.failure is None and faults == [PassingFault.HELD]
    with closing(open_database(DataFolder(tmp_path).database, readonly=True)) as db:
        assert len(RunStore(db).list()) == 1, "the new run is continued"
    assert sorted(set(forecasts)) == [candle.open_time_ms for candle in CANDLES[-len(set(forecasts)) :]]


@pytest.mark.hostile
def test_a_disk_that_is_away_gets_no_database_in_its_place(tmp_path: Path) -> None:
    spec = rigs.spec(tmp_path)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    run = HeadlessRun([StoredFeed()], spec, SystemClock(), lambda batch: None, lambda status: None)
    asyncio.run(asyncio.wait_for(run.run(), 300.0))
    assert run.failure is not None and "its disk is away" in run.failure
    assert not DataFolder(tmp_path).database.exists()
