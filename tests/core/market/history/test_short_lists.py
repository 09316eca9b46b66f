"""Exchanges whose lists do not go back as far as requested: what they do not list is not taken for missing.

On virtual time, through ccxt's own objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain.candle import Candle, Interval
from core.domain.spans import TimeSpan
from core.market.feeds.base import ClosedCandle, FeedState, MissingCandles, StoredCandles
from core.market.feeds.exchange import ExchangeFeed
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.support.exchange.scripted import Reply, ScriptedExchange
from tests.support.feeds import RecordedEvents, Silent, record_events
from tests.support.virtual_network import loop_time

MINUTE = Interval.parse("1m")
STEP_MS = MINUTE.duration_ms
Times = Callable[[int], bool]


def open_ms() -> int:
    """The opening time of the candle that is open."""
    return MINUTE.open_time_ms(loop_time().now_ms())


def candle(open_time_ms: int) -> Candle:
    price = 100.0 + open_time_ms // STEP_MS % 7
    return Candle(open_time_ms, price, price + 2.0, price - 1.0, price + 1.0, 5.0)


def rows(first_ms: int, stop_ms: int, traded: Times) -> list[list[Any]]:
    """Binance's rows, ascending, of the minutes with trades."""
    each = (candle(time_ms) for time_ms in range(first_ms, stop_ms, STEP_MS) if traded(time_ms))
    return [[c.open_time_ms, *map(str, (c.open, c.high, c.low, c.close, c.volume))] for c in each]


def always(_: int) -> bool:
    return True


def newest_only(count: int, traded: Times = always) -> ScriptedExchange:
    """WEEX: its newest candles, whatever is requested; `count` is no number that the program knows."""

    def answer(request: web.Request) -> Any:
        stop_ms = open_ms() + STEP_MS
        return rows(stop_ms - 20_000 * STEP_MS, stop_ms, traded)[-count:]

    return ScriptedExchange("weex", answer, {"BTC/USDT": "BTCUSDT"})


def from_start(traded: Times = always, since_ms: int = 0) -> ScriptedExchange:
    """Binance US: the first thousand from the requested time on, of a market that opened at `since_ms`."""

    def answer(request: web.Request) -> Any:
        first_ms = max(since_ms, -(-int(request.query["startTime"]) // STEP_MS) * STEP_MS)
        return rows(first_ms, open_ms() + STEP_MS, traded)[:1000]

    return ScriptedExchange("binanceus", answer, {"BTC/USDT": "BTCUSDT"})


def gate(limit: int, words: str) -> ScriptedExchange:
    """Refuses what lies more than `limit` candles back."""

    def answer(request: web.Request) -> Any:
        first_ms = int(request.query["from"]) * 1000
        if first_ms < open_ms() - limit * STEP_MS:
            return Reply({"label": "INVALID_PARAM_VALUE", "message": words}, 400)
        stop_ms = min(int(request.query["to"]) * 1000, open_ms()) + STEP_MS
        return [[str(r[0] // 1000), "1", r[4], r[2], r[3], r[1], r[5], "true"] for r in rows(first_ms, stop_ms, always)]

    return ScriptedExchange("gate", answer, {"BTC/USDT": "BTC_USDT"})


@contextmanager
def database(path: Path) -> Iterator[Any]:
    with open_database(path / "candles.sqlite3") as db:
        yield db


async def fill(exchange: ScriptedExchange, db: Any, first: int, **options: bool) -> BackfillReport:
    """Backfill the last `first` candles."""
    market, stop_ms = exchange.market(), open_ms() - STEP_MS
    venue = partial(exchange.open_venue, market)
    job = Backfill(market, CandleStore(db), HoleStore(db), HistoryWriter(db), loop_time(), venue, Silent())
    return await job.run(stop_ms - first * STEP_MS, stop_ms, **options)


def holes(exchange: ScriptedExchange, db: Any) -> list[TimeSpan]:
    return HoleStore(db).of_exchange(exchange.market(), TimeSpan(0, 2**62))


@pytest.mark.parametrize("count", [90, 450], ids=["few", "more than ccxt lets through at once"])
async def test_a_list_of_the_newest_candles_leaves_no_hole_recorded(count: int, tmp_path: Path) -> None:
    exchange = newest_only(count)
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 900)
            assert report.stored == count - 2, "the open one and the last one are not requested"
            assert (report.absent, report.out_of_reach) == (0, 900 - count + 2)
            again = await fill(exchange, db, 900)
        assert again.out_of_reach == again.left == 900 - count + 2 and holes(exchange, db) == []


async def test_a_quiet_minute_within_a_list_of_the_newest_candles_is_missing(tmp_path: Path) -> None:
    quiet_ms = open_ms() - 30 * STEP_MS
    exchange = newest_only(90, lambda time_ms: time_ms != quiet_ms)
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 60)
        assert (report.absent, report.out_of_reach) == (1, 0)
        assert holes(exchange, db) == [TimeSpan(quiet_ms, quiet_ms + STEP_MS)]


async def test_a_quiet_beginning_is_missing_if_the_exchange_lists_earlier_candles(tmp_path: Path) -> None:
    quiet_ms = range(open_ms() - 60 * STEP_MS, open_ms() - 40 * STEP_MS, STEP_MS)
    for exchange in (from_start(lambda time_ms: time_ms not in quiet_ms), newest_only(90, lambda t: t not in quiet_ms)):
        path = tmp_path / exchange.venue
        path.mkdir()
        with database(path) as db:
            async with exchange.running():
                report = await fill(exchange, db, 50)
                again = await fill(exchange, db, 50)
        assert (report.absent, report.out_of_reach, again.requests) == (11, 0, 0)


async def test_candles_before_a_young_market_are_out_of_reach_and_asked_for_again(tmp_path: Path) -> None:
    exchange = from_start(since_ms=open_ms() - 40 * STEP_MS)
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 100)
            again = await fill(exchange, db, 100)
        assert (report.stored, report.absent, report.out_of_reach) == (39, 0, 61)
        assert (again.wanted, again.requests) == (61, 2) and holes(exchange, db) == []


async def test_windows_that_lack_stored_candles_are_out_of_reach(tmp_path: Path) -> None:
    """Bitget's requests have an end. Here it answers those that end long ago with nothing."""

    def answer(request: web.Request) -> Any:
        first_ms, stop_ms = int(request.query["startTime"]), int(request.query["endTime"])
        listed = rows(max(first_ms, open_ms() - 150 * STEP_MS), min(stop_ms, open_ms()), always)
        return {"code": "00000", "msg": "success", "data": [[str(row[0]), *row[1:]] for row in listed]}

    exchange = ScriptedExchange("bitget", answer, {"BTC/USDT": "BTCUSDT"})
    with database(tmp_path) as db:
        CandleStore(db).save(exchange.market(), [candle(open_ms() - number * STEP_MS) for number in (702, 701)])
        async with exchange.running():
            report = await fill(exchange, db, 700)
        assert (report.stored, report.absent, report.out_of_reach) == (149, 0, 550)
        assert holes(exchange, db) == []


async def watched(
    exchange: ScriptedExchange, after: int | None = None, catch_up: int = 300, *, is_given: bool = True
) -> RecordedEvents:
    """after: the newest stored candle, so many candles ago. is_given: the feed is given it, beside its time."""
    async with exchange.running():
        feed = ExchangeFeed(exchange.market(), loop_time(), catch_up)
        if after is None:
            return await record_events(feed, until=is_live)
        newest = candle(open_ms() - after * STEP_MS)
        known = StoredCandles([newest], []) if is_given else None
        return await record_events(feed, until=is_live, after_ms=newest.open_time_ms, known=known)


def is_live(received: RecordedEvents) -> bool:
    return FeedState.LIVE in received.states


def missing(received: RecordedEvents) -> int:
    return sum(event.count for event in received.events if isinstance(event, MissingCandles))


async def test_a_pause_longer_than_the_list_is_reported_in_words_only() -> None:
    received = await watched(newest_only(90), after=250)
    assert len(received.closed) == 89 and missing(received) == 0
    sentence = received.sentence(FeedState.CATCHING_UP)
    assert "newest 90 candles" in sentence and "160 candles before them cannot be fetched" in sentence


@pytest.mark.parametrize("is_given", [True, False])
async def test_a_pause_within_the_list_with_a_quiet_beginning_is_a_hole(is_given: bool) -> None:
    quiet_ms = range(open_ms() - 60 * STEP_MS, open_ms() - 40 * STEP_MS, STEP_MS)
    received = await watched(newest_only(90, lambda time_ms: time_ms not in quiet_ms), after=61, is_given=is_given)
    assert missing(received) == 20 and len(received.closed) == 40


async def test_a_first_start_reports_how_many_candles_the_list_lacks() -> None:
    received = await watched(newest_only(90))
    assert len(received.closed) == 89
    assert "211 candles" in received.sentence(FeedState.CATCHING_UP)


WORDS = ["Candlestick too long ago. Maximum 10000 points ago are allowed", "Candlestick too long ago"]


async def test_gates_limit_is_not_exceeded_by_the_feed() -> None:
    exchange = gate(10_000, WORDS[0])
    received = await watched(exchange, after=11_520)
    assert 9_900 < len(received.closed) <= 10_000 and missing(received) == 0
    assert "skipped" in received.sentence(FeedState.CATCHING_UP)


@pytest.mark.parametrize("words", WORDS, ids=["with a number", "without a number"])
async def test_a_refusal_of_old_candles_is_no_end_for_the_feed(words: str) -> None:
    """A smaller limit than the known one."""
    exchange = gate(2_000, words.replace("10000", "2000"))
    received = await watched(exchange, after=4_000)
    assert len(received.closed) > 500 and missing(received) == 0
    assert [event.candle.open_time_ms for event in received.events if isinstance(event, ClosedCandle)][-1] > 0


@pytest.mark.parametrize("words", WORDS, ids=["with a number", "without a number"])
async def test_a_refusal_of_old_candles_is_no_end_for_a_backfill(words: str, tmp_path: Path) -> None:
    exchange = gate(2_000, words.replace("10000", "2000"))
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 3_000)
        assert report.stored > 500 and report.stored + report.out_of_reach == 3_000 and report.absent == 0
        assert holes(exchange, db) == []


async def test_candles_beyond_gates_limit_are_not_requested_by_a_backfill(tmp_path: Path) -> None:
    exchange = gate(10_000, WORDS[0])
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 11_000)
    assert report.stored > 9_900 and report.stored + report.out_of_reach == 11_000
    assert report.requests == len([each for each in exchange.requests if "candlesticks" in each]) == 10


async def test_bitopros_missing_candles_are_not_invented(tmp_path: Path) -> None:
    """ccxt fills them with copies of a later candle."""

    def answer(request: web.Request) -> Any:
        quiet_ms = [open_ms() - number * STEP_MS for number in (21, 20)]
        listed = rows(int(request.query["from"]) * 1000, open_ms(), lambda time_ms: time_ms not in quiet_ms)
        names = ("timestamp", "open", "high", "low", "close", "volume")
        return {"data": [dict(zip(names, row, strict=True)) for row in listed]}

    exchange = ScriptedExchange("bitopro", answer, {"BTC/USDT": "btc_usdt"})
    with database(tmp_path) as db:
        async with exchange.running():
            report = await fill(exchange, db, 20)
        stored = CandleStore(db).load(exchange.market())
    assert (report.stored, report.absent) == (18, 2)
    assert all(each == candle(each.open_time_ms) for each in stored), json.dumps(report.requests)
