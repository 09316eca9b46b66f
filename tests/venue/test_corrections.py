"""The exchange changes its mind about candles that have closed, or tells them late: what is stored follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.clock import SystemClock
from core.events import EventBatch, ForecastScored
from core.headless import HeadlessRun
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.reader import RecordReader
from core.storage.runs import RunStore
from desktop.app import Application
from tests.core.training import rigs
from tests.support.exchange.server import LoopbackExchange
from tests.support.loopback_exchange import FaultyVenue, loopback_thread
from tests.venue.rig import FAST, MARKET, STEP_MS, Heard, a_feed, an_exchange, pipeline_of, watched
from tests.venue.windows import context, open_window, until

pytestmark = pytest.mark.venue


def correct(exchange: LoopbackExchange, open_time_ms: int) -> None:
    """The exchange has another close and volume for this candle from now on."""
    candle = exchange.truth(open_time_ms)
    assert candle is not None
    close = round((candle.high + candle.low) / 2.0, 8)
    exchange.corrected[open_time_ms] = replace(candle, close=close, volume=round(candle.volume * 1.5, 8))


def test_a_candle_that_is_corrected_before_it_was_told_is_told_once_as_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched(tmp_path) as rig:
            await rig.live(2)
            rig.exchange.refuse()
            await rig.trouble("cannot be reached")
            await rig.passed(6)
            in_the_break_ms = rig.heard.closed[-1].open_time_ms + 3 * STEP_MS
            correct(rig.exchange, in_the_break_ms)
            rig.venue.heal()
            await rig.live(3)
            assert in_the_break_ms in [candle.open_time_ms for candle in rig.heard.closed]

    asyncio.run(scenario())


def test_a_correction_of_a_candle_that_was_passed_on_is_stored_and_told_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched(tmp_path) as rig:
            await rig.live(3)
            chosen_ms = rig.heard.live[-1].open_time_ms
            correct(rig.exchange, chosen_ms)
            await rig.until(lambda: bool(rig.heard.corrected), "the correction")
            await rig.live(3)
            assert rig.heard.corrected == [rig.exchange.truth(chosen_ms)]

    asyncio.run(scenario())


def test_a_correction_during_a_break_is_found_after_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched(tmp_path) as rig:
            await rig.live(3)
            rig.exchange.refuse()
            correct(rig.exchange, rig.heard.closed[-1].open_time_ms)
            await rig.trouble("cannot be reached")
            rig.venue.heal()
            await rig.until(lambda: bool(rig.heard.corrected), "the correction")
            await rig.live(2)

    asyncio.run(scenario())


def test_corrections_made_while_the_program_was_closed_are_found_at_its_next_start(tmp_path: Path) -> None:
    """Also of a candle that lies far behind those that every back-fill asks for again."""

    async def one_run(exchange: LoopbackExchange, is_over: Callable[[Heard], bool]) -> Heard:
        heard = Heard()
        with open_database(tmp_path / "candles.sqlite3") as db:
            async with FaultyVenue(exchange) as venue, asyncio.timeout(60.0):
                feed = a_feed(venue.urls, catch_up=30)
                running = asyncio.create_task(pipeline_of(feed, CandleStore(db), heard).run())
                while not is_over(heard):  # noqa: ASYNC110 - some of what is waited for sets no event
                    await asyncio.sleep(0.02)
                await feed.aclose()
                await running
        return heard

    async def scenario() -> None:
        exchange = an_exchange()
        first = await one_run(exchange, lambda heard: len(heard.live) >= 3)
        assert not first.corrected
        changed_ms = [first.closed[number].open_time_ms for number in (4, -2, -1)]
        for open_time_ms in changed_ms:
            correct(exchange, open_time_ms)
        second = await one_run(exchange, lambda heard: len(heard.live) >= 3 and len(heard.corrected) >= 3)
        assert sorted(candle.open_time_ms for candle in second.corrected) == changed_ms
        told = [candle.open_time_ms for candle in (*first.closed, *second.closed)]
        assert told == list(range(told[0], told[-1] + STEP_MS, STEP_MS)), "each once and in order"
        with open_database(tmp_path / "candles.sqlite3", readonly=True) as db:
            assert CandleStore(db).load(MARKET) == [exchange.truth(open_time_ms) for open_time_ms in told]

    asyncio.run(scenario())


def test_an_answer_that_was_long_on_its_way_is_as_old_as_its_question(tmp_path: Path) -> None:
    """Its last row was open when it was written, whatever the time is when it comes."""

    async def scenario() -> None:
        patient = replace(FAST, request_s=5.0, patience_s=5.0)
        async with watched(tmp_path, exchange=an_exchange(speed=1.0), times=patient) as rig:
            rig.exchange.answers_late_s = 1.3  # longer than a candle and the grace after it
            await rig.until(lambda: len(rig.heard.closed) >= 10, "history")
            rig.venue.heal()
            told = list(rig.heard.closed)
            assert told == [rig.exchange.truth(candle.open_time_ms) for candle in told], "an open candle was passed on"

    asyncio.run(scenario())


@pytest.mark.parametrize("is_closed", [False, True], ids=["while it runs", "while it is closed"])
def test_the_forecasts_of_a_corrected_candle_are_scored_again(tmp_path: Path, is_closed: bool) -> None:
    """From the exchange's second thought to the second version of the score, all of it real."""
    rescored: list[ForecastScored] = []
    scored_ms: list[int] = []

    def look(batch: EventBatch) -> None:
        events = [event for event in batch.events if isinstance(event, ForecastScored)]
        scored_ms.extend(event.target_open_time_ms for event in events if event.horizon == 1 and event.version == 1)
        rescored.extend(event for event in events if event.version > 1)

    async def scenario() -> None:
        spec = rigs.spec(tmp_path, market=MARKET)
        async with FaultyVenue(an_exchange(speed=2.0)) as venue, asyncio.timeout(60.0):

            def a_run() -> tuple[HeadlessRun, asyncio.Task[None]]:
                run = HeadlessRun(a_feed(venue.urls), spec, SystemClock(), look, lambda status: None)
                return run, asyncio.create_task(run.run())

            run, running = a_run()
            while len(scored_ms) < 5:  # noqa: ASYNC110 - told on another thread
                await asyncio.sleep(0.02)
            if is_closed:
                run.stop()
                await running
            correct(venue.exchange, scored_ms[-1])
            if is_closed:
                run, running = a_run()
            while not rescored:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.02)
            run.stop()
            await running

    asyncio.run(scenario())
    target_ms = rescored[0].target_open_time_ms
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    reader = RecordReader(db, RunStore(db).list()[0].run_id)
    versions = reader.score_versions(target_ms)
    stored = next(candle for candle in CandleStore(db).load(MARKET) if candle.open_time_ms == target_ms)
    db.close()
    assert [score.version for score in versions] == [1, 2]
    assert stored.close == rescored[0].actual_close
    assert len(scored_ms) == len(set(scored_ms)), "no candle was taken twice, so none was learned from again"


@pytest.mark.slow
def test_the_window_draws_a_corrected_candle_and_its_new_score(qapp: QApplication, tmp_path: Path) -> None:
    venue = FaultyVenue(an_exchange(speed=1.0))
    with loopback_thread(venue) as control:

        async def story(application: Application) -> None:
            scored: list[ForecastScored] = []
            application.state.scored.connect(scored.append)
            await until(lambda: sum(event.horizon == 1 for event in scored) >= 35, "live candles to be scored")
            target_ms = max(event.target_open_time_ms for event in scored)
            control(lambda: correct(venue.exchange, target_ms))
            again = [(1, 2), (2, 2), (3, 2)]

            def is_scored_again() -> bool:
                return [(event.horizon, event.version) for event in scored if event.version > 1] == again

            await until(is_scored_again, "the new version of the scores", 60.0)
            series = application.series
            assert series is not None
            index = series.index_at(target_ms)
            assert index is not None and series[index] == venue.exchange.truth(target_ms)

        open_window(qapp, context(tmp_path / "data", venue.urls), story, 120.0)
