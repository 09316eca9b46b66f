"""The watchlist leaves an exchange alone where asking is of no use, until the user or the feed knows better."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.clock import SystemClock
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.ticker_poller import PollTimes
from core.market.watchlist import WatchedMarket
from core.settings import Settings, WatchlistSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app import Application
from desktop.watch.watching import Watching
from tests.desktop import feed_scenario
from tests.desktop.conftest import MakeBench
from tests.desktop.living import context, live, until
from tests.support.loopback_exchange import loopback_thread
from tests.support.loopback_tickers import LoopbackTickers
from tests.support.priced_exchange import PricedExchange

pytestmark = pytest.mark.venue

ROWS = (WatchedMarket("binance", "BTC/USDT", "1s"),)


def test_it_asks_again_when_the_feed_goes_live(
    qtbot: QtBot, make_bench: MakeBench, exchange: LoopbackTickers, tmp_path: Path
) -> None:
    bench = make_bench(settings=Settings(watchlist=WatchlistSettings(markets=ROWS)))
    times = PollTimes(every_s=0.2)
    watching = Watching(bench.window, bench.state, DataFolder(tmp_path), SystemClock(), exchange.urls, times)
    quotes = bench.state.quotes
    try:
        feed_scenario.connected(bench.state)
        exchange.answer(451)
        bench.window.show_dock(ActionId.SHOW_WATCHLIST)
        qtbot.waitUntil(lambda: quotes.trouble("binance") is not None, timeout=15_000)
        exchange.resume()
        bench.state.apply(FeedStatus(FeedState.RECONNECTING, "Cut.", 1))
        qtbot.wait(500)
        assert quotes.trouble("binance") is not None, "it is left alone for a quarter of an hour"
        bench.state.apply(FeedStatus(FeedState.LIVE, "Live.", 2))
        qtbot.waitUntil(lambda: quotes.trouble("binance") is None, timeout=15_000)
    finally:
        assert watching.quotes.close() and watching.lists.close()


@pytest.mark.parametrize("status", [451, 418], ids=["not served", "shut out for ten minutes"])
def test_it_asks_again_when_the_user_wants_another_try(qapp: QApplication, tmp_path: Path, status: int) -> None:
    served = PricedExchange(speed=2.0)

    async def story(application: Application) -> None:
        window, quotes = application.window, application.state.quotes
        application.state.feed_changed.disconnect(
            application.watching._on_feed
        )  # else the feed's being live would do it
        window.show_dock(ActionId.SHOW_WATCHLIST)
        control(lambda: served.answer(status, retry_after_s=600))
        control(served.cut)
        await until(lambda: quotes.trouble("binance") is not None, "the watchlist's trouble")
        window.show_dock(ActionId.SHOW_FEED)
        await until(window.feed.try_again.isVisible, "the feed's trouble")
        window.show_dock(ActionId.SHOW_WATCHLIST)
        control(served.resume)
        assert quotes.trouble("binance") is not None
        QTest.mouseClick(window.feed.try_again, Qt.MouseButton.LeftButton)
        await until(lambda: quotes.trouble("binance") is None, "prices")

    with loopback_thread(served) as control:
        chosen = context(tmp_path, feed="live", venue="binance", symbol="BTC/USDT", interval="1s", file=None)
        settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=ROWS))
        live(qapp, dataclasses.replace(chosen, settings=settings, urls=served.urls), story)
