"""The composed window over exchanges that the test plays: another one, another try, and one that refuses."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle, Market
from core.domain.clock import Clock, SystemClock
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import (
    CorrectedCandle,
    FeedState,
    FormingCandle,
)
from core.market.feeds.market_check import Objection
from core.market.feeds.trouble import VenueError
from core.market.symbols import SymbolCache, SymbolList
from core.settings.window import WatchlistSettings
from core.training.commands import RescoreCandle
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop import watch_scenario
from tests.desktop.app.played_feed import PlayedFeed
from tests.desktop.finder.typing import type_on
from tests.desktop.played_check import PlayedCheck
from tests.desktop.whole_window import IdleWorker, context, run_window, until
from tests.support.candles import MINUTE, random_walk

ROWS = (WatchedMarket("binance", "BTC/USDT", "1m"), WatchedMarket("binanceus", "BTC/USDT", "1m"))
LISTED = ("BTC/USDC", "BTC/USDT", "ETH/BTC", "ETH/USDT")
CANDLES = random_walk(30)


Feeds = list[PlayedFeed]


@pytest.fixture(autouse=True)
def feeds(monkeypatch: pytest.MonkeyPatch) -> Feeds:
    """All that were made, the newest last."""
    made: Feeds = []

    def make(market: Market, clock: Clock, **options: object) -> PlayedFeed:
        made.append(PlayedFeed(market, clock, **options))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr("core.market.feeds.auto.ExchangeFeed", make)
    monkeypatch.setattr("desktop.services.quote_feed.QuoteFeed.set_wanted", lambda *_: None)
    return made


def over(root: Path, **market: object) -> Context:
    chosen = context(root, feed="live", venue="binance", symbol="BTC/USDT", interval="1m", file=None, **market)
    for venue in {row.venue for row in ROWS}:
        SymbolCache(chosen.folder.symbols).save(SymbolList(venue, LISTED, SystemClock().now_ms()))
    settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=ROWS))
    return dataclasses.replace(chosen, settings=settings)


def state_of(application: Application) -> FeedState | None:
    return None if application.state.feed is None else application.state.feed.state


async def stored(application: Application, feed: PlayedFeed, candles: list[Candle]) -> None:
    feed.close_candles(*candles)
    await until(lambda: bool(application.series) and application.series[-1] == candles[-1], "the candles")


def test_listed_markets_are_switched_by_clicks_and_keys(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds, played_check: PlayedCheck
) -> None:
    async def story(application: Application) -> None:
        record = application.state.feed_record
        application.window.show_dock(ActionId.SHOW_MARKETS)
        await until(lambda: application.trainer.is_running, "the first market")
        await stored(application, feeds[0], CANDLES)
        first = application.trainer.worker
        watch_scenario.click_row(application.window.panels.markets, 1)
        await until(lambda: record.market == ROWS[1].market and application.trainer.is_running, "the second market")
        assert feeds[0].is_closed and first is not application.trainer.worker and application.series is not None
        assert len(application.series) == 0 and application.settings.current.market.venue == "binanceus"
        watch_scenario.click_row(application.window.panels.markets, 0)
        await until(
            lambda: record.market == ROWS[0].market and application.trainer.is_running, "the first market again"
        )
        assert len(application.series) == len(CANDLES), "its stored candles"
        QTest.keyClick(application.window.panels.markets.table, Qt.Key.Key_Down)
        QTest.keyClick(application.window.panels.markets.table, Qt.Key.Key_Enter)
        await until(lambda: record.market == ROWS[1].market and application.trainer.is_running, "the second again")
        assert [feed.market.venue for feed in feeds] == ["binance", "binanceus", "binance", "binanceus"]

    run_window(qapp, over(tmp_path), story)


def test_typing_on_the_chart_switches_the_market(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds, played_check: PlayedCheck
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.trainer.is_running, "the first market")
        await stored(application, feeds[0], CANDLES)
        application.window.activateWindow()
        later = asyncio.get_running_loop().call_soon  # each key runs Qt's event loop, which no task may do
        later(type_on, application.chart, "15")
        await until(lambda: "15m" in application.chart.model.title, "candles of 15 minutes")
        later(type_on, application.chart, "eth")
        await until(lambda: len(feeds) == 2 and application.trainer.is_running, "another market")
        assert str(feeds[1].market) == "ETH/USDT 1m (binance)" and feeds[0].is_closed
        assert "ETH/USDT" in application.chart.model.title

    run_window(qapp, over(tmp_path), story)


def test_the_forming_candle_and_a_correction_reach_the_chart_and_the_trainer(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.trainer.is_running, "a trainer")
        (worker,) = application.trainer.findChildren(IdleWorker)
        await stored(application, feeds[0], CANDLES)
        forming = dataclasses.replace(CANDLES[-1], open_time_ms=CANDLES[-1].open_time_ms + MINUTE.duration_ms)
        feeds[0].send(FormingCandle(forming))
        await until(lambda: application.chart.model.forming == forming, "the forming candle on the chart")
        before, after = CANDLES[10], dataclasses.replace(CANDLES[10], close=CANDLES[10].high)
        feeds[0].send(CorrectedCandle(after, before))
        await until(lambda: application.series is not None and application.series[10] == after, "the correction")
        assert RescoreCandle(after.open_time_ms, feeds[0].market) in worker.commands()

    run_window(qapp, over(tmp_path), story)


def test_retry_connects_at_once_and_training_continues(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds
) -> None:
    async def story(application: Application) -> None:
        window = application.window
        window.show_feed()
        await until(lambda: application.trainer.is_running, "a market")
        feeds[0].set_state(FeedState.LIVE)
        await stored(application, feeds[0], CANDLES[:20])
        trainer = application.trainer.worker
        feeds[0].hold.record(VenueError("It answers 429.", wait_s=600.0, is_demanded=True))
        feeds[0].set_state(FeedState.RECONNECTING, "It answers 429.")
        await until(lambda: "429" in window.panels.events.feed.sentence.text(), "why, and that it waits")
        await until(window.panels.events.feed.try_again.isVisible, "the button, which comes by itself")
        asked: list[str] = []
        application.market_services.quotes.try_again = asked.append  # type: ignore[method-assign]
        QTest.mouseClick(window.panels.events.feed.try_again, Qt.MouseButton.LeftButton)
        await until(lambda: len(feeds) == 2, "another feed")
        assert feeds[0].is_closed and feeds[1].market == feeds[0].market and asked == ["binance"], "and for prices"
        assert feeds[1].hold.left_s == 0.0, "a retry ignores the requested wait"
        feeds[1].set_state(FeedState.LIVE)
        await stored(application, feeds[1], CANDLES[20:])
        assert application.trainer.worker is trainer and application.trainer.is_running, "the trainer was left alone"
        assert application.series is not None and list(application.series) == CANDLES
        await until(lambda: not window.panels.events.feed.try_again.isVisible(), "the retry button's end")

    run_window(qapp, over(tmp_path), story)


def test_a_mistyped_market_leaves_the_current_one_running(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds, played_check: PlayedCheck
) -> None:
    async def story(application: Application) -> None:
        window, runs = application.window, application.runs
        await until(lambda: application.trainer.is_running, "the first market")
        feeds[0].set_state(FeedState.LIVE)
        await stored(application, feeds[0], CANDLES[:20])
        trainer, asked = application.trainer.worker, window.shell.settings.current.market
        window.shell.settings.change_chart(interval="15m")
        runs.asking.connect(lambda _sentence: window.start_requested.emit())  # it is training: nothing is to happen
        for said, is_certain in (("There is no BTC/USD.", True), ("It is not known.", False)):
            played_check.objections["BTC/USD"] = Objection(said, is_certain)
            application.market_choice.watch(WatchedMarket("binance", "BTC/USD", "1m"))
            await until(lambda said=said: said in window.banner.text.text(), "why not")  # type: ignore[misc]
            assert "still BTC/USDT 1m (binance)" in window.banner.text.text()
            assert window.shell.settings.current.market == asked and state_of(application) is FeedState.LIVE
            assert window.shell.settings.current.chart.interval == "15m"
        await stored(application, feeds[0], CANDLES[20:])
        assert (
            len(feeds) == 1
            and not feeds[0].is_closed
            and application.trainer.worker is trainer
            and application.trainer.is_running
        )

    run_window(qapp, over(tmp_path), story)


def test_a_market_chosen_during_a_check_replaces_the_checked_one(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds, played_check: PlayedCheck
) -> None:
    async def story(application: Application) -> None:
        window = application.window
        await until(lambda: application.trainer.is_running, "the first market")
        window.shell.settings.change_chart(interval="15m")
        played_check.objections["BTC/USD"] = Objection("There is no BTC/USD.", is_certain=True)
        application.market_choice.watch(WatchedMarket("binance", "BTC/USD", "1m"))
        application.market_choice.watch(WatchedMarket("binance", "ETH/USDT", "1m"))
        await until(lambda: len(feeds) == 2 and application.trainer.is_running, "the other market")
        assert feeds[1].market.symbol == "ETH/USDT" and window.shell.settings.current.market.symbol == "ETH/USDT"
        assert window.shell.settings.current.chart.interval == "market"
        assert window.banner.shown is None

    run_window(qapp, over(tmp_path), story)


def test_a_check_is_announced_until_the_exchange_answers(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds, played_check: PlayedCheck
) -> None:
    async def story(application: Application) -> None:
        window, said = application.window, list[str]()
        await until(lambda: application.trainer.is_running, "the first market")
        application.runs.asking.connect(lambda _sentence: said.append(window.banner.text.text()))
        application.market_choice.watch(WatchedMarket("binance", "SOL/USDT", "1m"))
        await until(lambda: len(feeds) == 2 and application.trainer.is_running, "a market that is not in the kept list")
        assert said == ["Checking Binance for SOL/USDT…"] and window.banner.shown is None

    run_window(qapp, over(tmp_path), story)


def test_a_market_that_fails_at_start_shows_the_error_on_the_empty_chart(
    qapp: QApplication, tmp_path: Path, idle_trainer: None, feeds: Feeds
) -> None:
    """Regression: it said “waiting for candles”."""

    async def story(application: Application) -> None:
        await until(lambda: bool(feeds), "a feed")
        feeds[0].set_state(FeedState.FAILED, "Binance has no spot market BTC/USD.")
        await until(lambda: state_of(application) is FeedState.FAILED, "the failure")
        assert application.chart._stage.background.sentence == "Binance has no spot market BTC/USD."

    run_window(qapp, over(tmp_path), story)
