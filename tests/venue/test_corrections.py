"""The exchange corrects closed candles or sends them late: the stored candles follow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.support.exchange.server import LoopbackExchange
from tests.support.loopback_exchange import FaultyVenue
from tests.venue.rig import FAST, MARKET, STEP_MS, RecordingListener, a_feed, an_exchange, correct, pipeline_of, watched


async def test_a_candle_corrected_before_it_was_passed_on_is_reported_once(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.exchange.refuse()
        await rig.trouble("cannot be reached")
        await rig.passed(6)
        in_the_break_ms = rig.received.closed[-1].open_time_ms + 3 * STEP_MS
        correct(rig.exchange, in_the_break_ms)
        rig.venue.heal()
        await rig.live(3)
        assert in_the_break_ms in [candle.open_time_ms for candle in rig.received.closed]


async def test_a_later_correction_is_stored_and_reported_once(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(3)
        chosen_ms = rig.received.live[-1].open_time_ms
        correct(rig.exchange, chosen_ms)
        await rig.until(lambda: bool(rig.received.corrected), "the correction")
        await rig.live(3)
        assert rig.received.corrected == [rig.exchange.truth(chosen_ms)]


async def test_a_correction_during_a_break_is_found_after_it(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(3)
        rig.exchange.refuse()
        correct(rig.exchange, rig.received.closed[-1].open_time_ms)
        await rig.trouble("cannot be reached")
        rig.venue.heal()
        await rig.until(lambda: bool(rig.received.corrected), "the correction")
        await rig.live(2)


async def test_corrections_while_closed_are_found_at_the_next_start(tmp_path: Path) -> None:
    """Also of a candle that lies far behind those that every back-fill asks for again."""

    async def one_run(exchange: LoopbackExchange, is_over: Callable[[RecordingListener], bool]) -> RecordingListener:
        received = RecordingListener()
        with open_database(tmp_path / "candles.sqlite3") as db:
            async with FaultyVenue(exchange) as venue, asyncio.timeout(60.0):
                feed = a_feed(venue.urls, catch_up=30)
                running = asyncio.create_task(pipeline_of(feed, CandleStore(db), received).run())
                while not is_over(received):  # noqa: ASYNC110 - some of what is waited for sets no event
                    await asyncio.sleep(0.1)
                await feed.aclose()
                await running
        return received

    exchange = an_exchange()
    first = await one_run(exchange, lambda received: len(received.live) >= 3)
    assert not first.corrected
    changed_ms = [first.closed[number].open_time_ms for number in (4, -2, -1)]
    for open_time_ms in changed_ms:
        correct(exchange, open_time_ms)
    second = await one_run(exchange, lambda received: len(received.live) >= 3 and len(received.corrected) >= 3)
    assert sorted(candle.open_time_ms for candle in second.corrected) == changed_ms
    closed = [candle.open_time_ms for candle in (*first.closed, *second.closed)]
    assert closed == list(range(closed[0], closed[-1] + STEP_MS, STEP_MS)), "each once and in order"
    with open_database(tmp_path / "candles.sqlite3", readonly=True) as db:
        assert CandleStore(db).load(MARKET) == [exchange.truth(open_time_ms) for open_time_ms in closed]


async def test_a_delayed_answer_is_as_old_as_its_request(tmp_path: Path) -> None:
    """Its last row was open when it was written, whatever the time is when it comes."""

    patient = replace(FAST, request_s=5.0, patience_s=5.0)
    async with watched(tmp_path, times=patient) as rig:
        rig.exchange.answers_late_s = 1.3  # longer than a candle and the grace after it
        await rig.until(lambda: len(rig.received.closed) >= 10, "history")
        rig.venue.heal()
        closed = list(rig.received.closed)
        assert closed == [rig.exchange.truth(candle.open_time_ms) for candle in closed], "an open candle was passed on"
