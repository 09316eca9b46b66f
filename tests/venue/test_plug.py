"""A network outage while the real window runs: afterwards chart and database equal an undisturbed run."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle
from core.domain.events import ForecastMode
from core.market.feeds.base import FeedState
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from desktop.app.composition import Application
from tests.desktop.whole_window import run_window, until
from tests.support.exchange.clock import wall_ms
from tests.support.fault_proxy import Refuse
from tests.support.loopback_exchange import FaultyVenue, loopback_thread
from tests.support.waiting import wait_until
from tests.venue.rig import MARKET, STEP_MS, RecordingListener, a_feed, pipeline_of
from tests.venue.windows import CATCH_UP, context, wall_exchange

pytestmark = pytest.mark.venue

_BEFORE, _AFTER = 4, 6
"""Live candles before the plug is pulled, and after it is in again."""
_STARTS_WITHIN_S = 90.0
"""The trainer, on a machine that has much else to do."""
_LONGEST_WAIT_S = 60.0
"""Between two tries, at most."""


class Undisturbed(AbstractAsyncContextManager["Undisturbed"]):
    """The exchange behind the line, and a second run beside it that is not on that line."""

    def __init__(self, venue: FaultyVenue, root: Path) -> None:
        self.venue, self.database = venue, root / "undisturbed.sqlite3"
        self.received = RecordingListener()

    async def __aenter__(self) -> Undisturbed:
        await self.venue.__aenter__()
        self._db = open_database(self.database)
        self._feed = a_feed(self.venue.exchange.urls, catch_up=CATCH_UP)
        self._running = asyncio.create_task(pipeline_of(self._feed, CandleStore(self._db), self.received).run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._feed.aclose()
        await self._running
        self._db.close()
        await self.venue.__aexit__()


def stored(database: Path) -> list[Candle]:
    db = open_database(database, readonly=True)
    try:
        return CandleStore(db).load(MARKET)
    finally:
        db.close()


def live_targets(root: Path) -> list[int]:
    """Opening times of the candles whose one-step forecast was live."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        scores = RecordReader(db, RunStore(db).list()[0].run_id).scores()
        return [score.target_open_time_ms for score in scores if score.mode is ForecastMode.LIVE]
    finally:
        db.close()


@pytest.mark.timeout(400)
def test_the_feed_recovers_after_a_network_outage(qapp: QApplication, tmp_path: Path) -> None:
    out_s = 120 if os.environ.get("GHOSTCANDLE_SOAK") else 5
    venue, clock = FaultyVenue(wall_exchange()), wall_ms
    beside = Undisturbed(venue, tmp_path)
    on_chart: list[Candle] = []
    pulled_ms = healed_ms = 0

    with loopback_thread(beside) as control:

        async def story(application: Application) -> None:
            nonlocal pulled_ms, healed_ms
            state = application.state

            def is_live() -> bool:
                return state.feed is not None and state.feed.state is FeedState.LIVE

            def count() -> int:
                return 0 if application.series is None else len(application.series)

            await until(lambda: is_live() and state.trainer is not None, "live candles and a trainer", _STARTS_WITHIN_S)
            begun = count()
            await until(lambda: count() >= begun + _BEFORE, "candles before the plug is pulled")
            control(lambda: venue.proxy.put(Refuse()))
            pulled_ms, pulled_at = clock(), count()
            await until(lambda: state.feed is not None and "cannot be reached" in state.feed.sentence, "the word of it")
            await until(lambda: clock() >= pulled_ms + out_s * 1000, "the end of the outage", out_s + 60.0)
            assert count() <= pulled_at + 1, "a candle was invented while nobody could be asked"
            tries = state.feed_record.tries
            assert tries, "nobody counted the tries that failed"
            control(venue.heal)
            healed_ms = clock()
            await until(is_live, "the market to be back", _LONGEST_WAIT_S + 60.0)
            assert (state.feed_record.tries or 0) > tries, "the one that succeeded"
            back, newest, last = count(), application.chart.model.newest, state.feed_record.last_price
            assert newest is not None and last is not None and last.last == newest.close, "two last prices"
            await until(lambda: count() >= back + _AFTER, "candles after the plug is in again")
            series, drawn = application.series, application.chart.model.series
            assert series is not None and drawn is series
            on_chart.extend(series[index] for index in range(len(series)))

        run_window(qapp, context(tmp_path / "data", venue.urls), story, out_s + 250.0)
        newest_ms = on_chart[-1].open_time_ms
        closed = beside.received.closed
        wait_until(lambda: bool(closed) and closed[-1].open_time_ms >= newest_ms, "the undisturbed run", timeout_s=60.0)

    first_ms = on_chart[0].open_time_ms
    undisturbed = [candle for candle in stored(beside.database) if first_ms <= candle.open_time_ms <= newest_ms]
    disturbed = [c for c in stored(DataFolder(tmp_path / "data").database) if c.open_time_ms <= newest_ms]
    assert [candle.open_time_ms for candle in on_chart] == list(range(first_ms, newest_ms + 1, STEP_MS)), "a hole"
    assert len([candle for candle in on_chart if pulled_ms <= candle.open_time_ms < healed_ms]) >= out_s - 1
    assert on_chart[-len(undisturbed) :] == undisturbed, "the chart differs from that of an undisturbed run"
    assert disturbed == on_chart, "the database differs from the chart"
    assert beside.received.sentences(FeedState.RECONNECTING) == "", "the other run was to be undisturbed"
    during = [
        time_ms for time_ms in live_targets(tmp_path / "data") if pulled_ms < time_ms - STEP_MS < healed_ms - STEP_MS
    ]
    assert during == [], "a forecast of the break counts as live"
