"""The Markets dock in the whole window: its requests, when prices are wanted, and that nothing is cut."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import SystemClock
from core.domain.watchlist import WatchedMarket
from core.market.feeds.ticker_poller import PollTimes
from core.settings.tree import Settings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.market_services import MarketServices
from desktop.ui.theme import Mode
from tests.desktop import feed_scenario, watch_scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.window.pictures import cut_texts, in_both_themes, keep_picture, make_dressed, settle
from tests.support.loopback_tickers import LoopbackTickers

ROWS = watch_scenario.markets()


def settings(**market: object) -> Settings:
    defaults = Settings(watchlist=WatchlistSettings(markets=ROWS))
    return replace(defaults, market=replace(defaults.market, **market))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after"), [("auto", "auto"), ("live", "live"), ("simulate", "live"), ("replay", "live")]
)
def test_a_click_on_a_row_chooses_its_market(qtbot: QtBot, make_bench: MakeBench, before: str, after: str) -> None:
    bench = make_bench(settings=settings(feed=before))
    bench.window.show_dock(ActionId.SHOW_MARKETS)
    feed_scenario.connected(bench.state)
    with qtbot.waitSignals([bench.market_choice.chosen, bench.shell.settings.changed]):
        watch_scenario.click_row(bench.window.panels.markets, 3)
    market = bench.shell.settings.current.market
    assert (market.feed, market.venue, market.symbol, market.interval) == (after, "kraken", "ETH/EUR", "1h")


def test_the_list_is_kept_in_the_settings_and_follows_them(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench(settings=settings())
    window = bench.window
    bench.state.markets.set_universe(())
    window.show_dock(ActionId.SHOW_MARKETS)
    window.panels.markets.table.selectRow(0)
    with qtbot.waitSignal(window.shell.settings.changed) as stored, qtbot.assertNotEmitted(bench.market_choice.chosen):
        window.panels.markets.actions_of_panel[ActionId.WATCH_REMOVE].trigger()
    assert stored.args[0].watchlist.markets == ROWS[1:]
    only = WatchedMarket("okx", "BTC/USDT", "1h")
    window.shell.settings.change(replace(window.shell.settings.current, watchlist=WatchlistSettings(markets=(only,))))
    assert [row.market for row in window.panels.markets.model.rows] == [only.market]


def test_prices_are_wanted_while_the_dock_is_in_front(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench(settings=settings())
    window = bench.window
    feed_scenario.connected(bench.state)
    assert window.panels.markets.wants_prices
    for action, is_wanted in (
        (ActionId.SHOW_LOSS, False),
        (ActionId.SHOW_MARKETS, True),
    ):
        window.show_dock(action)
        qtbot.waitUntil(lambda is_wanted=is_wanted: window.panels.markets.wants_prices is is_wanted)
    window.docks[ActionId.SHOW_MARKETS].close()
    qtbot.waitUntil(lambda: not window.panels.markets.wants_prices)
    window.show_dock(ActionId.SHOW_MARKETS)
    window.docks[ActionId.SHOW_MARKETS].setFloating(True)
    qtbot.waitUntil(lambda: window.panels.markets.wants_prices)


@pytest.mark.venue
def test_prices_come_from_the_exchange_and_symbols_are_found_there(
    qtbot: QtBot,
    make_bench: MakeBench,
    exchange: LoopbackTickers,
    tmp_path: Path,
) -> None:
    rows = (WatchedMarket("binance", "BTC/USDT"), WatchedMarket("binance", "NO/SUCH"))
    bench = make_bench(settings=Settings(watchlist=WatchlistSettings(markets=rows)))
    window, panel, table = bench.window, bench.window.panels.markets, bench.window.panels.markets.model
    watching = MarketServices(
        bench.shell.settings,
        panel,
        bench.state,
        DataFolder(tmp_path),
        SystemClock(),
        exchange.urls,
        times=PollTimes(every_s=0.2),
    )
    try:
        feed_scenario.connected(bench.state)
        window.show_dock(ActionId.SHOW_MARKETS)
        qtbot.waitUntil(lambda: table.index(0, 3).data() not in (None, "–"))
        assert table.index(0, 2).data() == "64,000.00"
        qtbot.waitUntil(lambda: "no such market" in table.rows[1].state_words)
        with qtbot.waitActive(window):
            window.activateWindow()
        with qtbot.waitSignal(watching.lists.ready):
            panel.adder.search.setFocus()
        qtbot.keyClicks(panel.adder.search, "eth")
        qtbot.keyClick(panel.adder._completer.popup(), Qt.Key.Key_Return)
        assert window.shell.settings.current.watchlist.markets == (*rows, WatchedMarket("binance", "ETH/USDT", "1m"))
        assert not panel.adder._completer.popup().isVisible()
        qtbot.waitUntil(lambda: table.index(2, 2).data() == "3,200.00")
        exchange.answer(451)
        bench.clock.advance_ms(60_000)
        qtbot.waitUntil(lambda: "451" in panel.note.text())
        assert (DataFolder(tmp_path).symbols / "binance.json").exists()
    finally:
        asyncio.run(watching.close())


@in_both_themes
def test_nothing_is_cut(make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int]) -> None:
    bench: Bench = make_dressed(make_bench, mode, size)
    bench.shell.settings.change(replace(bench.shell.settings.current, watchlist=WatchlistSettings(markets=ROWS)))
    fill(bench)
    feed_scenario.eventful(bench.state)
    bench.window.show_dock(ActionId.SHOW_MARKETS)
    watch_scenario.fill_quotes(bench.state)
    settle(qtbot, bench)
    QApplication.sendPostedEvents()
    keep_picture(bench.window, f"markets-{mode}-{size[0]}x{size[1]}")
    assert bench.window.panels.markets.is_on_screen and bench.window.panels.markets.wants_prices
    assert cut_texts(bench.window.panels.markets) == []
    assert not bench.window.panels.markets.table.horizontalScrollBar().isVisible()
