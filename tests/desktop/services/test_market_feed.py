"""Replaying a user's file in the window."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval, Market
from core.domain.clock import SystemClock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.history.candle_file import read_candle_file
from core.market.history.insides import joined
from core.settings.tree import MarketSettings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from desktop.app.composition import Application
from desktop.services.market_feed import MarketFeeds
from tests.desktop.whole_window import CandleGate, context, run_window, until
from tests.support.candles import MINUTE, random_walk, write_csv


@pytest.mark.usefixtures("idle_trainer")
@pytest.mark.parametrize(("rows", "behind"), [(300, 150), (1_200, 1_000)])
def test_a_replay_begins_with_candles_behind_it_and_candles_to_come(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, rows: int, behind: int
) -> None:
    """Regression: it jumped to the file's end, and said that forecasts come in an hour."""
    file = write_csv(tmp_path / "mine.csv", random_walk(rows))

    async def story(application: Application) -> None:
        chart = application.chart
        await until(
            lambda: chart.model.count >= behind and "2 candles per second" in feed_words(application), "a start"
        )
        assert chart.model.count == behind
        gate.release(3)
        await until(lambda: chart.model.count == behind + 3, "the next candles")

    run_window(qapp, context(tmp_path / "data", file=str(file), speed=None, catch_up_candles=1_000), story)


def feed_words(application: Application) -> str:
    status = application.state.feed
    return "" if status is None else status.sentence


@pytest.mark.parametrize("has_minutes", [True, False])
def test_stored_candles_have_insides_if_their_minutes_are_stored(tmp_path: Path, has_minutes: bool) -> None:
    with open_database(tmp_path / "db.sqlite3") as db:
        store, clock, five = CandleStore(db), SystemClock(), Interval.parse("5m")
        minutes = read_candle_file(write_csv(tmp_path / "minutes.csv", random_walk(20)))
        candles = [replace(candle, inside=None) for candle in joined(minutes, five).candles]
        store.save(Market("binance", "BTC/USDT", five), candles)
        if has_minutes:
            store.save(Market("binance", "BTC/USDT", MINUTE), list(minutes.candles))
        feeds = MarketFeeds(store, HoleStore(db), clock, None, RateLimitHolds(clock))
        asyncio.run(_opened(feeds, MarketSettings(feed="stored", venue="binance", symbol="BTC/USDT", interval="5m")))
        assert feeds.has_insides is has_minutes


async def _opened(feeds: MarketFeeds, wanted: MarketSettings) -> None:
    await feeds.build([wanted], None, None, lambda _done, _total: None)
    await feeds.find_insides()
