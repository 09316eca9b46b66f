"""Alerts of a market that is not on the chart: triggering by the listed prices, and notices about unwatched
ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.price_lines import Direction, LineKind, PriceLine
from core.domain.watchlist import WatchedMarket
from core.market.feeds.ticker_poller import Quoted
from core.market.feeds.tickers import Quote
from core.settings.tree import MarketSettings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder
from desktop.chart.controllers.composition import ChartEnsemble, ChartTools
from desktop.notifications.alerts_elsewhere import AlertsElsewhere
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.database import WindowDatabase
from desktop.ui.banner import Notice
from tests.desktop import scenario
from tests.desktop.chart.controllers.tools import MARKET, OTHER, ToolBench, opened
from tests.desktop.conftest import Bench, MakeBench

LISTED = (WatchedMarket("binance", "BTC/USDT", "15m"), WatchedMarket("binance", "ETH/USDT"))
FILE = Market(FILE_VENUE, "EUR/USD sample", scenario.MINUTE)


@dataclass
class Two:
    """Chart and markets in one window, with user input for both."""

    tool_bench: ToolBench
    elsewhere: AlertsElsewhere
    panel: MarketsPanel

    @property
    def tools(self) -> ChartTools:
        return self.tool_bench.tools

    @property
    def bench(self) -> Bench:
        return self.tool_bench.bench

    @property
    def newest(self) -> Candle:
        return self.tool_bench.newest


def alerts_elsewhere(bench: Bench, database: WindowDatabase, panel: MarketsPanel) -> AlertsElsewhere:
    return AlertsElsewhere(bench.shell, bench.state, database, bench.window.messages, panel, bench.market_choice.watch)


@pytest.fixture
def bench(make_chart_bench: MakeBench, qtbot: QtBot, tmp_path: Path) -> Iterator[Two]:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    with opened(make_chart_bench, folder.root) as tool_bench:
        database, whole = WindowDatabase(folder), tool_bench.bench
        database.open()
        panel = MarketsPanel(whole.state, whole.theme, whole.shell.settings.current.watchlist.markets)
        qtbot.addWidget(panel)
        made = Two(tool_bench, alerts_elsewhere(whole, database, panel), panel)
        whole.shell.settings.changed.connect(lambda settings: panel.show_markets(settings.watchlist.markets))
        panel.markets_changed.connect(lambda markets: list_markets(made, *markets))
        made.bench.state.feed_record.opened(MARKET)
        made.elsewhere.show_market(MARKET)
        list_markets(made, *LISTED)
        yield made
        database.close()


def list_markets(bench: Two, *markets: WatchedMarket) -> None:
    settings = bench.bench.shell.settings.current
    bench.bench.shell.settings.change(replace(settings, watchlist=WatchlistSettings(markets=markets)))


def leave(bench: Two, market: Market = OTHER) -> None:
    bench.bench.clock.advance_ms(1_000)
    bench.bench.state.feed_record.opened(market)
    bench.tools.show_market(market, None)
    bench.elsewhere.show_market(market)


def price(bench: Two, last: float, symbol: str = "BTC/USDT", ago_ms: int = 0) -> None:
    """In the next round."""
    bench.bench.clock.advance_ms(5_000)
    quote = Quote(last, bench.bench.clock.now_ms() - ago_ms)
    bench.bench.state.quotes.apply(Quoted("binance", {symbol: quote}, {}))


def said(bench: Two) -> str:
    shown = bench.bench.window.banner.shown
    return "" if shown is None else shown.text


def notice(bench: Two) -> Notice:
    shown = bench.bench.window.banner.shown
    assert shown is not None
    return shown


def back(bench: Two) -> tuple[PriceLine, ...]:
    """The lines of the first market, after switching back to it."""
    bench.tools.show_market(MARKET, bench.newest)
    bench.elsewhere.show_market(MARKET)
    return bench.tools.lines.things


def test_it_triggers_once_at_the_listed_price_and_its_banner_opens_the_market(bench: Two) -> None:
    line_price = bench.newest.close + 4
    bench.tools.lines.add(LineKind.ALERT, line_price)
    leave(bench)
    price(bench, line_price - 1)
    price(bench, line_price + 1, "ETH/USDT")
    assert said(bench) == ""
    price(bench, line_price + 1)
    assert said(bench).startswith("Alert: BTC/USDT rose to "), "and not late: it has just been reported"
    chosen: list[MarketSettings] = []
    bench.bench.market_choice.chosen.connect(chosen.append)
    bench.bench.window.banner.action.click()
    assert [(each.venue, each.symbol, each.interval) for each in chosen] == [("binance", "BTC/USDT", "15m")]
    crossed_at_ms = bench.bench.clock.now_ms()
    bench.bench.window.banner.dismiss()
    price(bench, line_price - 1)
    price(bench, line_price + 1)
    assert said(bench) == ""
    (line,) = back(bench)
    assert (line.is_armed, line.crossed_at_ms) == (False, crossed_at_ms)


def test_the_charts_market_is_checked_by_its_candles_only(bench: Two) -> None:
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    price(bench, bench.newest.close + 5)
    assert said(bench) == ""
    leave(bench)
    price(bench, bench.newest.close + 5, ago_ms=7_000)
    assert said(bench) == "", "reported while its candles were followed"
    price(bench, bench.newest.close + 5)
    assert "rose to" in said(bench)


def test_note_text_written_after_leaving_is_reported(bench: Two) -> None:
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    (line,) = bench.tools.lines.things
    leave(bench)
    bench.tools.placed_store._database.lines.put("binance", "BTC/USDT", replace(line, text="Sell"))
    price(bench, bench.newest.close + 5)
    assert said(bench).endswith("Sell")


def test_a_crossing_without_polling_triggers_at_the_next_price(bench: Two) -> None:
    """Two alerts at one price produce one message, and lower ones stay armed."""
    for away in (4, 4, -4):
        bench.tools.lines.add(LineKind.ALERT, bench.newest.close + away)
    leave(bench)
    bench.bench.clock.advance_ms(3_600_000)
    price(bench, bench.newest.close + 50)
    assert "(2 alerts)" in said(bench)
    assert [line.is_armed for line in back(bench)] == [False, False, True]


def test_prices_are_polled_while_an_alert_needs_them(bench: Two) -> None:
    panel = bench.panel
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    assert not panel.wants_prices, "its market is on the chart"
    leave(bench)
    assert panel.wants_prices
    list_markets(bench, LISTED[1])
    assert not panel.wants_prices, "off the list"
    list_markets(bench, *LISTED)
    assert panel.wants_prices
    price(bench, bench.newest.close + 5)
    assert not panel.wants_prices, "it has gone off"


def test_leaving_a_market_reports_its_unwatched_alerts_once(bench: Two) -> None:
    list_markets(bench, LISTED[1])
    for count, sentence in (
        (1, "1 alert on BTC/USDT is not watched while ETH/USDT is shown."),
        (2, "2 alerts on BTC/USDT are not watched while ETH/USDT is shown."),
    ):
        bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 3 + count)
        leave(bench)
        assert said(bench) == sentence
        bench.bench.window.banner.dismiss()
        leave(bench, replace(OTHER, interval=type(OTHER.interval).parse("1h")))
        assert said(bench) == "", "once"
        back(bench)


def test_the_notices_button_adds_the_market_to_the_list(bench: Two) -> None:
    list_markets(bench, LISTED[1])
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    leave(bench)
    QTest.mouseClick(bench.bench.window.banner.action, Qt.MouseButton.LeftButton)
    assert bench.bench.shell.settings.current.watchlist.markets == (
        LISTED[1],
        WatchedMarket("binance", "BTC/USDT", "1m"),
    )
    assert bench.panel.wants_prices and said(bench) == ""
    price(bench, bench.newest.close + 5)
    assert "rose to" in said(bench)


def test_missing_prices_during_a_replay_are_reported(bench: Two) -> None:
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    leave(bench, FILE)
    assert said(bench) == "1 alert on BTC/USDT is not watched while EUR/USD sample is shown."
    assert notice(bench).action == "" and not bench.panel.wants_prices


def test_removing_a_market_from_the_list_leaves_its_alerts_unwatched(bench: Two) -> None:
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    list_markets(bench, LISTED[1])
    assert said(bench) == "", "its candles are followed"
    list_markets(bench, *LISTED)
    leave(bench)
    assert said(bench) == ""
    list_markets(bench, LISTED[1])
    assert said(bench) == "1 alert on BTC/USDT is not watched while ETH/USDT is shown."
    bench.bench.window.banner.action.click()
    assert LISTED[0] in bench.bench.shell.settings.current.watchlist.markets


def test_watched_and_disabled_alerts_are_not_reported(bench: Two) -> None:
    bench.tools.lines.add(LineKind.ALERT, bench.newest.close + 4)
    leave(bench)
    assert said(bench) == ""
    (line,) = back(bench)
    bench.tools.lines.arm(line, is_armed=False)
    list_markets(bench, LISTED[1])
    leave(bench)
    assert said(bench) == ""


def test_the_composed_chart_receives_the_listed_prices(make_bench: MakeBench, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    database, made = WindowDatabase(folder), make_bench()
    database.open()
    window, past = made.window, database.record
    messages, elsewhere = window.messages, alerts_elsewhere(made, database, window.panels.markets)
    charting = ChartEnsemble(
        made.shell, made.chart, made.state, made.source, messages, database, folder, past, made.theme
    )
    line = PriceLine(100.0, LineKind.ALERT, direction=Direction.UP, is_armed=True)
    database.lines.put(MARKET.venue, MARKET.symbol, line)
    charting.show_market(OTHER)
    elsewhere.show_market(OTHER)
    assert charting.bar.interval.text() == str(OTHER.interval)
    made.state.quotes.apply(Quoted("binance", {"BTC/USDT": Quote(101.0, made.clock.now_ms())}, {}))
    assert window.banner.shown is not None and "BTC/USDT rose to 100" in window.banner.shown.text
    charting.cancel_reading()
    assert charting.wait_for_reading()
    database.close()
