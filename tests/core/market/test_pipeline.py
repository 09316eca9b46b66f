"""The pipeline over a real database: durable before it notifies, idempotent in any order, and no exception escapes."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_faults import RejectionReason
from core.domain.clock import ManualClock
from core.domain.passing_faults import PassingFault
from core.market import pipeline
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    CorrectedCandle,
    FeedError,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    FeedVitals,
    FormingCandle,
    MissingCandles,
    RejectedMessage,
    StoredCandles,
)
from core.market.pipeline import FeedReport, MarketPipeline, PipelineListener
from core.storage import database
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.simulation.virtual_time import run_virtually
from tests.support.candles import MARKET, random_walk, without
from tests.support.lost_files import lose_open_files
from tests.support.tables import empty_tables


class ScriptedFeed:
    """Yields what it is given, raises each exception in it, then ends or waits."""

    def __init__(
        self,
        script: Sequence[FeedEvent | Exception],
        *,
        market: Market = MARKET,
        kind: FeedKind = FeedKind.EXCHANGE,
        waits: bool = False,
    ) -> None:
        self.market, self.kind = market, kind
        self.after_ms: int | None = None
        self.known: StoredCandles | None = None
        self.is_closed = False
        self.waiting, self.closed = asyncio.Event(), asyncio.Event()
        self._script, self._waits = script, waits

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        self.after_ms, self.known = after_ms, known
        for item in self._script:
            if isinstance(item, Exception):
                raise item
            yield item
        if self._waits:
            self.waiting.set()
            await self.closed.wait()

    async def aclose(self) -> None:
        self.is_closed = True
        self.closed.set()


class Listener(PipelineListener):
    """Records the notifications, and whether another connection could read the candles at that moment."""

    def __init__(self, reader: CandleStore | None = None, market: Market = MARKET) -> None:
        self.batches: list[list[Candle]] = []
        self.live: list[int] = []
        self.forming: list[Candle] = []
        self.statuses: list[FeedStatus] = []
        self.progress: list[CatchUpProgress] = []
        self.corrected: list[Candle] = []
        self.said: list[FeedReport] = []
        self.was_durable = True
        self._reader, self._market = reader, market

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self.batches.append(list(candles))
        self.live.extend(live_open_times_ms)
        if self._reader is not None:
            self.was_durable &= set(candles) <= set(self._reader.load(self._market))

    def on_forming(self, candle: Candle) -> None:
        self.forming.append(candle)

    def on_status(self, status: FeedStatus) -> None:
        self.statuses.append(status)

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        self.progress.append(progress)

    def on_corrected(self, candle: Candle) -> None:
        self.corrected.append(candle)

    def on_report(self, report: FeedReport) -> None:
        self.said.append(report)

    @property
    def rejected(self) -> list[RejectedMessage]:
        return [each for each in self.said if isinstance(each, RejectedMessage)]

    @property
    def closed(self) -> list[Candle]:
        return [candle for batch in self.batches for candle in batch]


def run(feed: ScriptedFeed, db: Database, listener: Listener | None = None) -> Listener:
    listener = listener or Listener(market=feed.market)
    pipeline = MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), listener)
    run_virtually(lambda loop: pipeline.run())
    return listener


def history(candles: Sequence[Candle]) -> list[FeedEvent | Exception]:
    return [ClosedCandle(candle, is_live=False) for candle in candles]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "candles.db"


def test_candles_are_durable_before_listeners_are_notified(path: Path) -> None:
    candles = random_walk(600)
    script = [*history(candles[:590]), *(ClosedCandle(candle, is_live=True) for candle in candles[590:])]
    with open_database(path) as db, open_database(path, readonly=True) as other:
        feed = ScriptedFeed(script)
        listener = run(feed, db, Listener(CandleStore(other)))
        assert CandleStore(other).load(MARKET) == candles
    assert listener.was_durable
    assert listener.closed == candles
    assert listener.live == [candle.open_time_ms for candle in candles[590:]]
    assert feed.is_closed


def test_a_flood_is_stored_in_batches_and_a_live_candle_at_once(path: Path) -> None:
    candles = random_walk(600)
    script = [*history(candles[:590]), *(ClosedCandle(candle, is_live=True) for candle in candles[590:])]
    with open_database(path) as db:
        listener = run(ScriptedFeed(script), db)
    assert [len(batch) for batch in listener.batches] == [256, 256, 79, *[1] * 9]


def test_received_candles_are_stored_while_the_feed_is_silent(path: Path) -> None:
    candles = random_walk(3)

    async def scenario(db: Database) -> list[Candle]:
        feed, listener = ScriptedFeed(history(candles), waits=True), Listener()
        running = asyncio.create_task(
            MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), listener).run()
        )
        await feed.waiting.wait()
        await asyncio.sleep(1.0)
        stored = CandleStore(db).load(MARKET)
        await feed.aclose()
        await running
        assert listener.batches == [candles], "once, and all of it"
        return stored

    with open_database(path) as db:
        assert run_virtually(lambda loop: scenario(db)) == candles


def test_a_storage_error_while_the_feed_is_silent_ends_it_with_an_explanation(path: Path) -> None:
    async def scenario(db: Database) -> None:
        feed, listener = ScriptedFeed(history(random_walk(3)), waits=True), Listener()
        await asyncio.wait_for(
            MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), listener).run(), 60.0
        )
        assert [status.state for status in listener.statuses] == [FeedState.FAILED]
        assert "read-only" in listener.statuses[0].sentence and feed.is_closed and not listener.closed

    with open_database(path):
        pass
    with open_database(path, readonly=True) as db:
        run_virtually(lambda loop: scenario(db))


@pytest.mark.hostile
@pytest.mark.parametrize("is_live", [True, False], ids=["at once", "while the feed is silent"])
def test_a_database_that_another_program_holds_is_waited_for(path: Path, *, is_live: bool) -> None:
    candles, live = random_walk(3), FeedStatus(FeedState.LIVE, "Live.", 0)

    async def scenario(db: Database, other: Database) -> None:
        script = [live, *(ClosedCandle(candle, is_live=is_live) for candle in candles)]
        feed, listener = ScriptedFeed(script, waits=True), Listener()
        other.execute("BEGIN IMMEDIATE")
        pipeline = MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), listener)
        running = asyncio.create_task(pipeline.run())
        await asyncio.sleep(60.0)
        assert [each.passing for each in listener.statuses] == [None, PassingFault.HELD] and not listener.closed
        other.execute("ROLLBACK")
        await asyncio.wait_for(feed.waiting.wait(), 60.0)
        await asyncio.sleep(60.0)
        assert listener.closed == CandleStore(db).load(MARKET) == candles and listener.statuses[2:] == [live]
        await feed.aclose()
        await running

    with open_database(path, busy_timeout_ms=10) as db, open_database(path) as other:
        run_virtually(lambda loop: scenario(db, other))


class Timed(CandleStore):
    """Records how long each write would wait for a lock."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.waits_ms: set[int] = set()

    def save(self, market: Market, candles: Iterable[Candle]) -> int:
        self.waits_ms.add(self.db.execute("PRAGMA busy_timeout").fetchone()[0])
        return super().save(market, candles)


def test_the_window_does_not_freeze_for_the_transaction_of_another(path: Path) -> None:
    (candle,) = random_walk(1)

    async def scenario(db: Database, other: Database) -> None:
        feed, listener, store = ScriptedFeed([ClosedCandle(candle, is_live=True)]), Listener(), Timed(db)
        other.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(1.0, other.execute, "ROLLBACK")
        await MarketPipeline(feed, store, HoleStore(db), ManualClock(), listener).run()
        assert listener.closed == [candle] and listener.statuses == [], "so short a lock is not reported"
        assert store.waits_ms == {0} and db.execute("PRAGMA busy_timeout").fetchone() == (10,)

    with open_database(path, busy_timeout_ms=10) as db, open_database(path) as other:
        run_virtually(lambda loop: scenario(db, other))


@pytest.mark.hostile
@pytest.mark.skipif(sys.platform != "linux", reason="/proc and O_PATH")
def test_the_feed_continues_when_its_disk_is_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_RETRY_S", 0.01)
    candles = random_walk(3)
    with open_database(path) as db:
        feed, listener = ScriptedFeed([ClosedCandle(candle, is_live=True) for candle in candles]), Listener()
        lose_open_files(path)
        asyncio.run(MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), listener).run())
        assert [each.passing for each in listener.statuses] == [PassingFault.AWAY]
        assert listener.closed == candles == CandleStore(db).load(MARKET)
    while database._lost:
        database._lost.pop().close()


def test_a_status_comes_after_all_earlier_candles(path: Path) -> None:
    seen: list[int] = []

    class Counting(Listener):
        def on_status(self, status: FeedStatus) -> None:
            seen.append(len(self.closed))

    with open_database(path) as db:
        run(ScriptedFeed([*history(random_walk(3)), FeedStatus(FeedState.LIVE, "Live.", 0)]), db, Counting())
    assert seen == [3]


@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=6), st.lists(st.booleans(), min_size=14))
def test_order_and_repetition_change_nothing(order: list[int], repeated: list[int], live: list[bool]) -> None:
    candles = without(random_walk(9), 4)
    script: list[FeedEvent | Exception] = [
        ClosedCandle(candles[index], is_live) for index, is_live in zip([*order, *repeated], live, strict=False)
    ]
    db = empty_tables()
    run(ScriptedFeed(script), db)
    assert CandleStore(db).load(MARKET) == candles
    db.conn.close()


def test_the_feed_continues_after_the_stored_candles(path: Path) -> None:
    candles = random_walk(4)
    with open_database(path) as db:
        run(ScriptedFeed(history(candles[:3])), db)
        feed = ScriptedFeed(history(candles[3:]))
        run(feed, db)
        assert feed.after_ms == candles[2].open_time_ms
        assert CandleStore(db).load(MARKET) == candles


def test_a_feed_gets_the_stored_candles_and_the_known_gaps(path: Path) -> None:
    candles = random_walk(700)
    script = [*history(candles[:600]), MissingCandles(candles[600].open_time_ms, 3), *history(candles[603:])]
    with open_database(path) as db:
        run(ScriptedFeed(script), db)
        feed = ScriptedFeed([])
        run(feed, db)
    newest = without(candles, 600, 601, 602)[-256:]
    assert feed.known == StoredCandles(newest, [candle.open_time_ms for candle in candles[600:603]])


def test_a_rejected_candle_leaves_a_gap_and_is_reported(path: Path) -> None:
    candles = random_walk(4)
    broken = dataclasses.replace(candles[1], high=math.nan)
    with open_database(path) as db:
        listener = run(ScriptedFeed(history([candles[0], broken, *candles[2:]])), db)
        assert CandleStore(db).load(MARKET) == without(candles, 1)
    assert [each.reason for each in listener.rejected] == [RejectionReason.NOT_FINITE.value]


@pytest.mark.parametrize("kind", list(FeedKind))
def test_a_broken_first_time_does_not_move_the_grid(path: Path, kind: FeedKind) -> None:
    candles = random_walk(3)
    in_seconds = dataclasses.replace(candles[0], open_time_ms=candles[0].open_time_ms // 1000 + 7)
    with open_database(path) as db:
        listener = run(ScriptedFeed(history([in_seconds, *candles]), kind=kind), db)
        assert CandleStore(db).load(MARKET) == candles
    assert [each.reason for each in listener.rejected] == [RejectionReason.TIME_UNIT.value]


def test_an_exchange_uses_the_epoch_grid_below_a_day(path: Path) -> None:
    candles = random_walk(3)
    off = dataclasses.replace(candles[0], open_time_ms=candles[0].open_time_ms - 59_000)
    with open_database(path) as db:
        run(ScriptedFeed(history([off, *candles])), db)
        assert CandleStore(db).load(MARKET) == candles


@pytest.mark.parametrize(("interval", "first_ms"), [("1w", 1_704_067_200_000), ("1d", 1_704_038_400_000)])
def test_days_weeks_and_files_use_their_own_grid(path: Path, interval: str, first_ms: int) -> None:
    week = Market("htx", "BTC/USDT", Interval.parse(interval))
    weeks = random_walk(3, start_ms=first_ms, interval=week.interval)
    off = dataclasses.replace(weeks[1], open_time_ms=weeks[1].open_time_ms - 3_600_000)
    shifted = random_walk(3, start_ms=1_704_067_200_000 + 17_000)
    with open_database(path) as db:
        run(ScriptedFeed(history([weeks[0], off, *weeks[1:]]), market=week), db)
        run(ScriptedFeed(history(shifted), kind=FeedKind.REPLAY), db)
        assert CandleStore(db).load(week) == weeks
        assert CandleStore(db).load(MARKET) == shifted


def test_forming_candles_are_checked_and_never_stored(path: Path) -> None:
    first, second = random_walk(2)
    broken = dataclasses.replace(second, low=-1.0)
    with open_database(path) as db:
        listener = run(
            ScriptedFeed([ClosedCandle(first, is_live=True), FormingCandle(broken), FormingCandle(second)]), db
        )
        assert CandleStore(db).load(MARKET) == [first]
    assert listener.forming == [second]


@pytest.mark.parametrize(
    ("error", "said"),
    [(FeedError("The exchange is closed for maintenance."), "maintenance"), (KeyError("close"), "unexpectedly")],
)
def test_a_failed_feed_is_explained_and_loses_nothing(path: Path, error: Exception, said: str) -> None:
    candles = random_walk(3)
    feed = ScriptedFeed([*history(candles), error])
    with open_database(path) as db:
        listener = run(feed, db)
        assert CandleStore(db).load(MARKET) == candles
    assert listener.closed == candles
    assert listener.statuses[-1].state is FeedState.FAILED
    assert said in listener.statuses[-1].sentence
    assert feed.is_closed


def test_a_storage_error_is_reported_as_one(path: Path) -> None:
    with open_database(path):
        pass
    with open_database(path, readonly=True) as db:
        feed = ScriptedFeed(history(random_walk(3)))
        listener = run(feed, db)
    assert listener.closed == []
    assert [status.state for status in listener.statuses] == [FeedState.FAILED]
    assert "read-only" in listener.statuses[0].sentence
    assert feed.is_closed


def test_a_feed_that_fails_to_close_raises_nothing(path: Path) -> None:
    class Stuck(ScriptedFeed):
        async def aclose(self) -> None:
            raise OSError("the socket is gone")

    with open_database(path) as db:
        assert run(Stuck(history(random_walk(2))), db).statuses == []


def test_cancelling_closes_the_feed_and_propagates(path: Path) -> None:
    async def cancel(db: Database) -> ScriptedFeed:
        feed = ScriptedFeed([], waits=True)
        task = asyncio.create_task(
            MarketPipeline(feed, CandleStore(db), HoleStore(db), ManualClock(), Listener()).run()
        )
        await feed.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return feed

    with open_database(path) as db:
        assert run_virtually(lambda loop: cancel(db)).is_closed


def test_a_correction_replaces_the_stored_candle_and_is_reported_once(path: Path) -> None:
    candles = random_walk(5)
    right = dataclasses.replace(candles[2], high=candles[2].high * 1.01)
    correction = CorrectedCandle(right, candles[2])
    with open_database(path) as db:
        listener = run(ScriptedFeed([*history(candles), correction, correction]), db)
        assert CandleStore(db).load(MARKET) == [*candles[:2], right, *candles[3:]]
    assert listener.corrected == [right], "the second one changes nothing"
    assert listener.closed == candles, "it is not a new closed candle: no training on it twice"


def test_feed_reports_are_passed_on(path: Path) -> None:
    reports = [
        MissingCandles(60_000, 3),
        RejectedMessage(1, "not a number", "{}"),
        FeedVitals(1, "binance", messages=4),
    ]
    with open_database(path) as db:
        assert run(ScriptedFeed(list(reports)), db).said == reports


@pytest.mark.parametrize("wrong", [{"close": math.nan}, {"high": 1.0}, {"volume": -1.0}, {"open_time_ms": 7}])
def test_an_invalid_correction_is_reported_and_changes_nothing(path: Path, wrong: dict[str, float]) -> None:
    candles = random_walk(3)
    correction = CorrectedCandle(dataclasses.replace(candles[1], **wrong), candles[1])
    with open_database(path) as db:
        listener = run(ScriptedFeed([*history(candles), correction]), db)
        assert CandleStore(db).load(MARKET) == candles
    assert listener.corrected == [] and len(listener.rejected) == 1
    assert listener.statuses == []


def test_rejected_candles_are_reported_with_their_text(path: Path) -> None:
    candles = random_walk(3)
    bad = dataclasses.replace(candles[1], close=math.nan)
    with open_database(path) as db:
        listener = run(ScriptedFeed([*history([candles[0], bad]), FormingCandle(bad), *history(candles[2:])]), db)
    assert [each.reason for each in listener.rejected] == ["not a number"] * 2
    assert all(str(bad.open_time_ms) in each.raw for each in listener.rejected)


def test_the_fallback_venue_of_a_failed_feed_is_passed_on(path: Path) -> None:
    with open_database(path) as db:
        (status,) = run(ScriptedFeed([FeedError("Not here.", "kraken")]), db).statuses
    assert (status.state, status.next_venue) == (FeedState.FAILED, "kraken")
