from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCompleter
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Candle, Interval, Market
from core.domain.clock import ManualClock
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.ticker_poller import Quoted
from core.market.feeds.tickers import Quote
from core.market.symbols import SymbolList
from core.settings.tree import MarketSettings
from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.panels.markets import cells
from desktop.panels.markets.model import Column
from desktop.panels.markets.panel import MarketsPanel
from desktop.panels.markets.row import change_colour, worth_colour
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING
from desktop.ui.interface_size import set_font
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario, watch_scenario
from tests.desktop.conftest import shown_panel

MARKETS = watch_scenario.markets()
SAMPLE = Market(FILE_VENUE, "EUR/USD sample", Interval.parse("1h"))


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> MarketsPanel:
    panel = MarketsPanel(state, theme, MARKETS)
    shown_panel(qtbot, panel, 400, 420)
    panel.set_seen(True)
    state.markets.set_universe(())  # the rows are those of the list
    feed_scenario.connected(state)
    watch_scenario.fill_quotes(state)
    panel.refresh()
    return panel


def text(panel: MarketsPanel, row: int, column: int) -> str:
    return str(panel.model.index(row, column).data())


def spoken(panel: MarketsPanel, row: int) -> str:
    role = Qt.ItemDataRole.AccessibleTextRole
    return "; ".join(panel.model.index(row, column).data(role) for column in range(panel.model.columnCount()))


def symbols(panel: MarketsPanel) -> list[str]:
    return [row.market.symbol for row in panel.model.rows]


def centre(panel: MarketsPanel, row: int) -> QPoint:
    return panel.table.visualRect(panel.model.index(row, Column.MARKET)).center()


def click(qtbot: QtBot, panel: MarketsPanel, row: int) -> None:
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=centre(panel, row))


def shown_columns(panel: MarketsPanel) -> tuple[Column, ...]:
    return tuple(column for column in Column if not panel.table.isColumnHidden(column))


def test_a_row_shows_price_change_and_their_reliability(panel: MarketsPanel) -> None:
    assert (text(panel, 0, Column.LAST), text(panel, 0, Column.CHANGE)) == ("64,561.31", "+1.23 %")
    assert text(panel, 1, Column.CHANGE) == "−3.41 %"
    assert "live" in spoken(panel, 1) and "on the chart" in spoken(panel, 0) and "live" in spoken(panel, 0)
    assert "4 min ago" in spoken(panel, 3), "an old price is shown with its age"
    assert text(panel, 4, Column.LAST) == text(panel, 4, Column.CHANGE) == MISSING and "waiting" in spoken(panel, 4)
    assert "no such market" in spoken(panel, 5)
    tooltip = panel.model.index(5, Column.MARKET).data(Qt.ItemDataRole.ToolTipRole)
    assert "Binance has no spot market" in tooltip


def test_a_change_has_the_colour_of_its_direction(panel: MarketsPanel, theme: Theme) -> None:
    risen, fallen = (change_colour(row, theme.palette) for row in panel.model.rows[:2])
    assert (risen, fallen) == (theme.palette.candle(rising=True), theme.palette.candle(rising=False))


def test_an_unresponsive_exchange_is_named_with_the_next_try(panel: MarketsPanel) -> None:
    assert "Kraken cannot be reached" in panel.note.text() and "Retrying in 12 s." in panel.note.text()


@pytest.mark.parametrize(("passed_ms", "words"), [(11_000, "Retrying in 1 s."), (13_000, "Retrying now.")])
def test_the_next_try_comes_nearer(panel: MarketsPanel, clock: ManualClock, passed_ms: int, words: str) -> None:
    clock.advance_ms(passed_ms)
    panel.tick()
    assert words in panel.note.text()


def test_behind_another_tab_prices_wait_for_the_next_refresh(panel: MarketsPanel, state: RunState) -> None:
    panel.hide()
    state.feed_record.add_forming(Candle(scenario.NOW_MS - 30_000, 64_600.0, 64_602.0, 64_600.0, 64_602.0, 1.0))
    assert text(panel, 0, Column.LAST) == "64,561.31" and panel.is_stale
    panel.show()
    panel.refresh_if_seen()
    assert text(panel, 0, Column.LAST) == "64,602.00"


def test_prices_grow_old_without_updates(panel: MarketsPanel, clock: ManualClock) -> None:
    clock.advance_ms(90_000)
    panel.tick()
    assert "1 min ago" in spoken(panel, 1)


def test_the_row_on_the_chart_follows_the_live_feed(panel: MarketsPanel, state: RunState) -> None:
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.RECONNECTING, "…", scenario.NOW_MS))
    panel.refresh()
    assert "reconnecting" in spoken(panel, 0)


def test_the_row_on_the_chart_has_the_charts_last_price(panel: MarketsPanel, state: RunState) -> None:
    """The same price must not be shown as two numbers."""
    record = state.feed_record
    record.add_closed((Candle(scenario.NOW_MS - 90_000, 64_600.0, 64_600.0, 64_600.0, 64_600.25, 1.0),))
    assert text(panel, 0, Column.LAST) == "64,600.25"
    record.add_forming(Candle(scenario.NOW_MS - 30_000, 64_600.0, 64_700.0, 64_600.0, 64_655.5, 1.0))
    assert text(panel, 0, Column.LAST) == "64,655.50", "at once, as the chart has it"
    assert text(panel, 0, Column.CHANGE) == "+1.23 %"
    state.quotes.apply(Quoted("binance", {"BTC/USDT": watch_scenario.quote(64_000.0, 0.01)}, {}))
    panel.refresh()
    assert text(panel, 0, Column.LAST) == "64,655.50", "a poll is older than the chart"
    assert text(panel, 1, Column.LAST) == "3,214.07"


def test_the_row_on_the_chart_has_its_stored_price_where_no_candle_comes(panel: MarketsPanel, state: RunState) -> None:
    """After a restart on a file that has ended."""
    state.feed_record.opened(SAMPLE)
    state.markets.set_universe((SAMPLE,))
    state.markets.add_closed(SAMPLE, (Candle(scenario.NOW_MS - 3_600_000, 1.2, 1.3, 1.1, 1.25, 1.0),))
    panel.refresh()
    assert panel.model.rows[panel.model.place_of(SAMPLE)].last == 1.25


def test_the_price_on_the_chart_holds_while_it_is_live_and_grows_old_when_it_is_not(
    panel: MarketsPanel, state: RunState, clock: ManualClock
) -> None:
    state.feed_record.add_forming(Candle(scenario.NOW_MS - 30_000, 64_600.0, 64_700.0, 64_600.0, 64_655.5, 1.0))
    clock.advance_ms(300_000)
    panel.refresh()
    assert not panel.model.rows[0].is_uncertain, "a quiet market has the price that it had"
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.RECONNECTING, "…", scenario.NOW_MS))
    panel.refresh()
    assert panel.model.rows[0].is_uncertain and panel.model.rows[0].state_words == "reconnecting"


def test_switching_the_chart_switches_the_row_with_the_charts_price(panel: MarketsPanel, state: RunState) -> None:
    state.feed_record.add_forming(Candle(scenario.NOW_MS - 30_000, 64_600.0, 64_700.0, 64_600.0, 64_655.5, 1.0))
    state.feed_record.begin(MarketSettings(symbol="ETH/USDT"))
    state.feed_record.opened(MARKETS[1].market)
    panel.refresh()
    assert (text(panel, 0, Column.LAST), text(panel, 1, Column.LAST)) == ("64,561.31", "3,214.07")


def test_prices_are_wanted_only_while_visible_and_an_exchange_is_on_the_chart(
    qtbot: QtBot, panel: MarketsPanel, state: RunState
) -> None:
    assert panel.wants_prices
    with qtbot.waitSignal(panel.prices_wanted) as wanted:
        panel.set_seen(False)
    assert wanted.args == [False]
    panel.set_seen(True)
    with qtbot.waitSignal(panel.prices_wanted) as wanted:
        state.feed_record.begin(MarketSettings(feed="replay"))
    assert wanted.args == [False]
    state.feed_record.opened(SAMPLE)
    panel.refresh()
    assert not panel.wants_prices and "a replay" in panel.note.text()
    panel.window().showMinimized()
    state.feed_record.opened(feed_scenario.MARKET)
    assert not panel.wants_prices
    with qtbot.waitSignal(panel.prices_wanted) as wanted:
        panel.window().showNormal()
    assert wanted.args == [True]


def test_a_left_click_requests_a_market(qtbot: QtBot, panel: MarketsPanel) -> None:
    with qtbot.waitSignal(panel.market_requested) as asked:
        click(qtbot, panel, 3)
    assert asked.args == [MARKETS[3].market]
    with qtbot.assertNotEmitted(panel.market_requested):
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.RightButton, pos=centre(panel, 2))


def test_a_market_unknown_to_the_exchange_is_not_opened_and_reported(
    qtbot: QtBot, panel: MarketsPanel, state: RunState
) -> None:
    with qtbot.assertNotEmitted(panel.market_requested):
        click(qtbot, panel, 5)
    assert "Binance has no spot market NOSUCH/USDT" in panel.note.text() and "cannot be opened" in panel.note.text()
    panel.table.selectRow(5)
    with qtbot.assertNotEmitted(panel.market_requested):
        panel.actions_of_panel[ActionId.WATCH_OPEN].trigger()
    state.quotes.apply(Quoted("binance", {"NOSUCH/USDT": watch_scenario.quote(1.0, 0.0)}, {}))
    with qtbot.waitSignal(panel.market_requested) as asked:
        click(qtbot, panel, 5)
    assert asked.args == [MARKETS[5].market], "it has it after all"


def test_a_double_click_requests_only_its_market(qtbot: QtBot, panel: MarketsPanel) -> None:
    asked: list[Market] = []
    panel.market_requested.connect(asked.append)
    qtbot.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=centre(panel, 2))
    click(qtbot, panel, 2)
    assert set(asked) == {MARKETS[2].market}


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_arrows_select_and_enter_requests_a_market(qtbot: QtBot, panel: MarketsPanel, key: Qt.Key) -> None:
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.table.setFocus()
    panel.table.selectRow(0)
    with qtbot.assertNotEmitted(panel.market_requested):
        qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.market_requested) as asked:
        qtbot.keyClick(panel.table, key)
    assert asked.args == [MARKETS[1].market]


def test_a_row_is_moved_by_keys_and_back(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.table.setFocus()
    panel.table.selectRow(0)
    with qtbot.waitSignal(panel.markets_changed) as kept:
        qtbot.keyClick(panel.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert kept.args[0][:2] == (MARKETS[1], MARKETS[0])
    assert panel.current() == MARKETS[0].market, "the row that was moved stays the current one"
    qtbot.keyClick(panel.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    with qtbot.assertNotEmitted(panel.markets_changed):
        qtbot.keyClick(panel.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert symbols(panel) == [market.symbol for market in MARKETS]


def drag(panel: MarketsPanel, row: int, to: QPoint, *, is_dropped: bool = True) -> None:
    viewport = panel.table.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, centre(panel, row))
    for share in (0.3, 0.7, 1.0):
        here = QPointF(centre(panel, row)) * (1.0 - share) + QPointF(to) * share
        QTest.mouseMove(viewport, here.toPoint())
    assert panel.table.held_row == row
    if is_dropped:
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, to)


@pytest.mark.parametrize(("row", "target"), [(0, 2), (4, 1), (2, 5)])
def test_a_row_is_dragged_to_its_new_place(qtbot: QtBot, panel: MarketsPanel, row: int, target: int) -> None:
    with qtbot.waitSignal(panel.markets_changed) as kept, qtbot.assertNotEmitted(panel.market_requested):
        drag(panel, row, centre(panel, target))
    assert kept.args[0][target] == MARKETS[row]
    assert panel.table.held_row is None and panel.current() == MARKETS[row].market


def test_a_row_moves_within_the_list_below_markets_that_only_the_run_has(panel: MarketsPanel, state: RunState) -> None:
    state.markets.set_universe(watch_scenario.SIMULATED[:2])
    panel.refresh()
    assert symbols(panel)[:3] == ["SIM-1", "SIM-2", MARKETS[0].symbol]
    drag(panel, 3, centre(panel, 0))
    assert symbols(panel)[2:4] == [MARKETS[1].symbol, MARKETS[0].symbol]
    assert panel.current() == MARKETS[1].market
    assert not panel.actions_of_panel[ActionId.WATCH_UP].isEnabled()
    panel.actions_of_panel[ActionId.WATCH_DOWN].trigger()
    assert symbols(panel)[2:4] == [MARKETS[0].symbol, MARKETS[1].symbol]


def test_a_drop_below_all_rows_is_one_at_the_end(panel: MarketsPanel) -> None:
    drag(panel, 1, centre(panel, 5) + QPoint(0, 60))
    assert symbols(panel)[-1] == MARKETS[1].symbol


def test_escape_ends_a_drag_without_a_move(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.table.setFocus()
    with qtbot.assertNotEmitted(panel.markets_changed), qtbot.assertNotEmitted(panel.market_requested):
        drag(panel, 0, centre(panel, 3), is_dropped=False)
        qtbot.keyClick(panel.table, Qt.Key.Key_Escape)
        QTest.mouseRelease(
            panel.table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, centre(panel, 3)
        )


def test_a_removed_row_can_be_restored(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.table.setFocus()
    panel.table.selectRow(2)
    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    assert len(symbols(panel)) == 5 and "SOL/USDT" in panel.note.text() and "Ctrl+Z" in panel.note.text()
    assert panel.current() == MARKETS[3].market
    with qtbot.waitSignal(panel.markets_changed) as kept:
        qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert kept.args[0] == MARKETS
    assert not panel.actions_of_panel[ActionId.WATCH_UNDO].isEnabled()


def test_an_empty_list_says_what_to_do(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.table.setFocus()
    panel.table.selectRow(0)
    for _ in MARKETS:
        qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    assert symbols(panel) == [] and panel._empty.isVisible() and not panel.wants_prices
    for _ in MARKETS:
        panel.actions_of_panel[ActionId.WATCH_UNDO].trigger()
    assert len(symbols(panel)) == len(MARKETS)


LISTED = SymbolList(
    "binance", ("ADA/USDT", "ETH/BTC", "ETH/USDT", "BETH/USDT", "XRP/USDT"), scenario.NOW_MS - 7_200_000
)


def popup_of(panel: MarketsPanel) -> object:
    completer = panel.adder.findChild(QCompleter)
    assert completer is not None
    return completer.popup()


def test_a_symbol_is_searched_while_typing_and_added_by_enter(qtbot: QtBot, panel: MarketsPanel) -> None:
    with qtbot.waitActive(panel):
        panel.activateWindow()
    with qtbot.waitSignal(panel.adder.symbols_wanted) as wanted:
        panel.adder.search.setFocus()
    assert wanted.args == ["binance"]
    panel.show_symbols(LISTED)
    assert "5 markets of Binance, updated 2 h ago" in panel.note.text()
    panel.adder.interval.setCurrentText("15m")
    qtbot.keyClicks(panel.adder.search, "eth")
    popup = popup_of(panel)
    assert popup.isVisible()  # type: ignore[attr-defined]
    model = popup.model()  # type: ignore[attr-defined]
    shown = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert shown == ["ETH/USDT", "ETH/BTC", "BETH/USDT"]
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.markets_changed) as kept:
        qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert kept.args[0] == (*MARKETS, WatchedMarket("binance", "ETH/BTC", "15m")), "the marked one, and no other"
    assert panel.adder.search.text() == "" and "Added ETH/BTC" in panel.note.text()


def test_a_full_symbol_matches_exactly(qtbot: QtBot, panel: MarketsPanel) -> None:
    """BTC/USD is another market than BTC/USDT, which alone this exchange has."""
    panel.show_symbols(replace(LISTED, symbols=("SOL/USDT", "SOL/USDC")))
    panel.adder.search.setFocus()
    qtbot.keyClicks(panel.adder.search, "sol/usd")
    popup = popup_of(panel)
    assert popup.isVisible() and not popup.currentIndex().isValid()  # type: ignore[attr-defined]
    assert "Binance has no SOL/USD" in panel.note.text()
    with qtbot.assertNotEmitted(panel.markets_changed):
        qtbot.keyClick(popup, Qt.Key.Key_Return)
        qtbot.keyClick(panel.adder.search, Qt.Key.Key_Return)
    assert "Choose one from the list" in panel.note.text()
    qtbot.keyClicks(panel.adder.search, "c")
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert panel.model.rows[-1].market.symbol == "SOL/USDC"


def test_a_symbol_unknown_to_the_exchange_is_not_added(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.show_symbols(LISTED)
    qtbot.keyClicks(panel.adder.search, "zzz")
    assert "no spot market like “zzz”" in panel.note.text()
    with qtbot.assertNotEmitted(panel.markets_changed):
        qtbot.keyClick(panel.adder.search, Qt.Key.Key_Return)


def test_a_market_that_is_there_already_is_not_added_again(qtbot: QtBot, panel: MarketsPanel) -> None:
    panel.show_symbols(LISTED)
    qtbot.keyClicks(panel.adder.search, "ETH/USDT")
    with qtbot.assertNotEmitted(panel.markets_changed):
        qtbot.keyClick(popup_of(panel), Qt.Key.Key_Return)
    assert "already" in panel.note.text()


@pytest.mark.parametrize(("typed", "is_added"), [("dot/usdt", True), ("dot", False)])
def test_without_a_symbol_list_a_full_symbol_is_accepted(
    qtbot: QtBot, panel: MarketsPanel, typed: str, is_added: bool
) -> None:
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.adder.search.setFocus()
    panel.show_no_symbols("binance", "Binance did not answer in time.")
    assert "type a full symbol" in panel.note.text()
    qtbot.keyClicks(panel.adder.search, typed)
    qtbot.keyClick(panel.adder.search, Qt.Key.Key_Return)
    assert ("DOT/USDT" in symbols(panel)) is is_added
    assert is_added or "BASE/QUOTE" in panel.note.text()


def test_an_error_replaces_the_message(qtbot: QtBot, panel: MarketsPanel, clock: ManualClock) -> None:
    panel.table.selectRow(0)
    panel.actions_of_panel[ActionId.WATCH_REMOVE].trigger()
    assert "Removed" in panel.note.text()
    clock.advance_ms(10_000)
    panel.tick()
    assert "Kraken cannot be reached" in panel.note.text()


@pytest.mark.parametrize("width", [230, 300, 400, 500, 600, 900, 1_400])
def test_columns_go_by_importance_where_there_is_no_room_and_fill_the_rest(
    panel: MarketsPanel, state: RunState, width: int
) -> None:
    watch_scenario.run_universe(state, [MARKETS[0].market, MARKETS[1].market])
    panel.refresh()
    panel.resize(max(width, panel.minimumSizeHint().width()), 420)
    shown = shown_columns(panel)
    order = (Column.MARKET, Column.LAST, Column.CHART, Column.LEARNED, Column.SKILL, Column.CHANGE, Column.GAIN)
    assert set(shown) == set((*order, Column.FEED)[: len(shown)])
    assert len(shown) == 8 if width >= 900 else len(shown) < 8
    assert sum(map(panel.table.columnWidth, shown)) == panel.table.viewport().width()


def test_columns_without_a_number_are_the_first_to_go(panel: MarketsPanel, state: RunState) -> None:
    panel.resize(400, 420)
    assert Column.CHANGE in shown_columns(panel) and Column.SKILL not in shown_columns(panel)
    watch_scenario.run_universe(state, [MARKETS[0].market, MARKETS[1].market])
    panel.refresh()
    assert Column.SKILL in shown_columns(panel) and Column.CHANGE not in shown_columns(panel)


@pytest.mark.parametrize("width", [300, 400, 900])
def test_the_text_of_each_state_is_not_cut(
    panel: MarketsPanel, state: RunState, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """It tells how reliable a price is, so it is never shortened."""
    painted: set[str] = set()

    def record(painter: QPainter, place: QRect, line: str, *_: object) -> None:
        painted.add(painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, place.width()))

    monkeypatch.setattr(cells, "write_line", record)
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.RECONNECTING, "…", scenario.NOW_MS))
    panel.resize(width, 420)
    panel.refresh()
    panel.table.grab()
    words = {row.state_words for row in panel.model.rows if not row.is_usual}
    assert words == {"reconnecting", "no such market", "waiting", "4 min ago"}
    assert words <= painted and {row.where for row in panel.model.rows} <= painted


def test_large_text_cuts_no_price(qtbot: QtBot, qapp: QApplication, state: RunState, theme: Theme) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=300))
    panel = MarketsPanel(state, theme, MARKETS)
    shown_panel(qtbot, panel, 1200, 420)
    watch_scenario.fill_quotes(state)
    panel.refresh()
    price = QFontMetrics(panel.table.font()).horizontalAdvance(text(panel, 0, Column.LAST))
    assert price > 160 and panel.table.columnWidth(Column.LAST) >= price


@pytest.fixture
def universe(panel: MarketsPanel, state: RunState) -> MarketsPanel:
    """The panel over a run of ten simulated markets, none of them listed."""
    panel.show_markets(())
    watch_scenario.run_universe(state)
    panel.refresh()
    return panel


def filter_by(qtbot: QtBot, panel: MarketsPanel, text: str) -> None:
    panel.filter.box.clear()
    qtbot.keyClicks(panel.filter.box, text)


def sort_by(panel: MarketsPanel, column: Column) -> None:
    """By a click on its title."""
    header = panel.table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def test_the_runs_markets_are_shown_though_they_are_not_listed(universe: MarketsPanel) -> None:
    assert symbols(universe) == [f"SIM-{number}" for number in range(1, 11)]
    assert universe.note.text() == "", "nothing is paused: their prices come from the run"
    assert (text(universe, 0, Column.SKILL), text(universe, 2, Column.SKILL)) == ("+4.1 %", "+1.0 %")
    assert "2.9 to 5.4" in spoken(universe, 0) and "not proven" in spoken(universe, 2)
    assert text(universe, 3, Column.SKILL) == MISSING and "n = 412" in spoken(universe, 3)
    assert "reconnecting" in spoken(universe, 9) and "simulated" in spoken(universe, 0)
    tooltip = universe.model.index(9, Column.FEED).data(Qt.ItemDataRole.ToolTipRole)
    assert "No message for 30" in tooltip
    universe.table.selectRow(0)
    assert not universe.actions_of_panel[ActionId.WATCH_REMOVE].isEnabled(), "it is not in the list"


def test_only_what_is_proven_has_a_colour(universe: MarketsPanel, theme: Theme) -> None:
    palette = theme.palette
    accuracies = [row.known.accuracy for row in universe.model.rows[:5]]
    colours = [worth_colour(each, palette, is_of_model=False) for each in accuracies]
    assert colours == [palette.good, palette.accent, palette.muted_text, palette.muted_text, palette.bad]
    colours = [worth_colour(each, palette, is_of_model=True) for each in accuracies]
    assert colours == [palette.good, *[palette.muted_text] * 3, palette.bad]


def test_a_market_of_a_file_says_so(universe: MarketsPanel, state: RunState) -> None:
    state.markets.set_universe([SAMPLE])
    universe.refresh()
    row = next(row for row in universe.model.rows if row.market == SAMPLE)
    assert row.where == "File · 1h" and row.tooltip().startswith("EUR/USD sample, 1h candles, File: ")


def test_a_price_of_the_run_is_its_feeds(universe: MarketsPanel, state: RunState) -> None:
    market = watch_scenario.SIMULATED[1]
    forming = watch_scenario.candles_of(1)[-1]
    state.markets.set_forming(market, replace(forming, close=forming.close + 1.003))
    universe.refresh_if_seen()
    assert text(universe, 1, Column.LAST) == f"{forming.close + 1.003:,.2f}", "with the decimals of closed candles"


@pytest.mark.parametrize(
    ("typed", "found"), [("sim-1", ["SIM-1", "SIM-10"]), ("RECONN", ["SIM-10"]), ("simulated 1m 7", ["SIM-7"])]
)
def test_the_filter_shows_matching_markets(qtbot: QtBot, universe: MarketsPanel, typed: str, found: list[str]) -> None:
    filter_by(qtbot, universe, typed)
    assert symbols(universe) == found
    qtbot.keyClick(universe.filter.box, Qt.Key.Key_Escape)
    assert len(symbols(universe)) == 10


def test_a_filter_without_a_match_says_so(qtbot: QtBot, universe: MarketsPanel) -> None:
    filter_by(qtbot, universe, "zzz")
    assert universe._empty.isVisible() and "No market matches “zzz”" in universe._empty.text()


def test_enter_leads_from_the_filter_to_the_market(qtbot: QtBot, panel: MarketsPanel) -> None:
    with qtbot.waitActive(panel):
        panel.activateWindow()
    filter_by(qtbot, panel, "ethusdt")
    qtbot.keyClick(panel.filter.box, Qt.Key.Key_Return)
    assert panel.table.hasFocus()
    with qtbot.waitSignal(panel.market_requested) as asked:
        qtbot.keyClick(panel.table, Qt.Key.Key_Enter)
    assert asked.args == [MARKETS[1].market]


def test_a_filter_moves_no_row_and_removes_the_right_one(qtbot: QtBot, panel: MarketsPanel) -> None:
    filter_by(qtbot, panel, "binance")
    panel.table.selectRow(2)
    assert not panel.actions_of_panel[ActionId.WATCH_UP].isEnabled(), "rows between are hidden"
    panel.actions_of_panel[ActionId.WATCH_REMOVE].trigger()
    panel.filter.box.clear()
    assert symbols(panel) == [each.symbol for each in MARKETS if each != MARKETS[2]]


def test_a_title_sorts_up_then_down_then_not_at_all(universe: MarketsPanel) -> None:
    universe.resize(1_000, 420)
    own = symbols(universe)
    sort_by(universe, Column.SKILL)
    assert symbols(universe)[:2] == ["SIM-5", "SIM-10"] and symbols(universe)[-2:] == ["SIM-4", "SIM-9"]
    sort_by(universe, Column.SKILL)
    assert symbols(universe)[:4] == ["SIM-1", "SIM-2", "SIM-6", "SIM-7"]
    assert symbols(universe)[-2:] == ["SIM-4", "SIM-9"], "nothing is known of them yet"
    sort_by(universe, Column.SKILL)
    assert symbols(universe) == own


def test_the_menu_sorts_columns_that_are_hidden_too(universe: MarketsPanel) -> None:
    universe.resize(300, 420)
    assert universe.table.isColumnHidden(Column.FEED)
    by_name = {action.text(): action for action in universe.filter.sort.menu().actions()}
    by_name["Feed"].trigger()
    assert symbols(universe)[0] == "SIM-10" and by_name["Feed"].isChecked()
    by_name["Market"].trigger()
    by_name["Market"].trigger()
    assert symbols(universe)[:2] == ["SIM-10", "SIM-9"], "numbers by their value"
    by_name["Own order"].trigger()
    assert symbols(universe)[0] == "SIM-1"


def test_the_chart_has_no_order(universe: MarketsPanel) -> None:
    sort_by(universe, Column.CHART)
    assert universe.table.horizontalHeader().sortIndicatorSection() == -1 and symbols(universe)[0] == "SIM-1"


def test_the_selected_market_stays_selected_in_another_order(universe: MarketsPanel) -> None:
    universe.table.selectRow(8)
    chosen = universe.current()
    sort_by(universe, Column.LAST)
    assert universe.current() == chosen and universe.table.currentIndex().row() != 8


def test_rows_that_change_places_keep_the_widths_of_the_columns(universe: MarketsPanel) -> None:
    table, rows = universe.table, list(universe.model.rows)
    standing = replace(rows[0].standing, quote=Quote(123_456_789_012.5, 0))
    universe.model.show_one(replace(rows[0], standing=standing))
    widest = table.columnWidth(Column.LAST)
    universe.model.show_one(rows[0])
    universe.model.show([*rows[1:], rows[0]])
    assert symbols(universe)[-1] == rows[0].symbol and table.columnWidth(Column.LAST) == widest
    universe.model.show(rows[1:])
    assert table.columnWidth(Column.LAST) < widest, "other markets are measured again"


def test_an_empty_note_leaves_its_room_to_the_rows(universe: MarketsPanel, clock: ManualClock) -> None:
    QApplication.processEvents()
    height, place = universe.table.height(), universe.adder.y()
    universe.table.selectRow(0)
    universe.actions_of_panel[ActionId.WATCH_LEARN].trigger()
    QApplication.processEvents()
    assert universe.note.isVisible() and universe.table.height() < height
    assert universe.adder.y() == place, "its list of matches lies where it is"
    clock.advance_ms(60_000)
    universe.tick()
    QApplication.processEvents()
    assert not universe.note.isVisible() and universe.table.height() == height


def test_the_switch_is_kept_with_the_list(qtbot: QtBot, panel: MarketsPanel) -> None:
    place = panel.table.visualRect(panel.model.index(2, Column.LEARNED)).center()
    with qtbot.waitSignal(panel.markets_changed) as kept, qtbot.assertNotEmitted(panel.market_requested):
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [each.is_learned for each in kept.args[0]] == [False, False, True, False, False, False]
    assert "15m" in panel.note.text() and "together with an opened market" in spoken(panel, 2)
    panel.table.setFocus()
    with qtbot.waitSignal(panel.markets_changed) as kept:
        qtbot.keyClick(panel.table, Qt.Key.Key_Space)
    assert not any(each.is_learned for each in kept.args[0])
    qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert panel.model.rows[2].is_wanted, "as any change of the list it can be undone"


def test_a_market_that_is_switched_on_joins_or_the_reason_is_given(panel: MarketsPanel, state: RunState) -> None:
    listed = [replace(each, is_learned=True) for each in MARKETS]
    panel.show_markets((*listed, WatchedMarket("simulated", "SIM-2", "1m", is_learned=True)))

    def words() -> list[str]:
        panel.refresh()
        return [row.learning_words for row in panel.model.rows]

    joins, other_kind = "It joins the model now.", "exchanges' markets or simulated ones, not both"
    assert words()[1] == joins and "15m" in words()[2] and other_kind in words()[-1]
    record = state.feed_record
    record.begin(MarketSettings(feed="simulate", venue="simulated", symbol="SIM-1", interval="1m"))
    record.opened(Market("simulated", "SIM-1", Interval.parse("1m")))
    assert words()[-1] == joins and other_kind in words()[1]
    record.begin(MarketSettings())
    record.opened(SAMPLE)
    assert all("shows a replay" in each for each in words()), "also in place of an exchange that does not answer"
    record.begin(MarketSettings(feed="stored"))
    record.opened(feed_scenario.MARKET)
    assert all("shows a replay" in each for each in words())


def test_a_market_that_only_the_run_has_has_no_switch_of_its_own(qtbot: QtBot, universe: MarketsPanel) -> None:
    universe.table.selectRow(0)
    with qtbot.assertNotEmitted(universe.markets_changed):
        universe.actions_of_panel[ActionId.WATCH_LEARN].trigger()
    assert "Only listed markets have a switch" in universe.note.text()
    assert universe.model.rows[0].learning_words in universe.note.text()


def test_a_simulated_market_is_added_without_asking_anybody(qtbot: QtBot, panel: MarketsPanel) -> None:
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.adder.venue.setCurrentIndex(panel.adder.venue.findData("simulated"))
    with qtbot.assertNotEmitted(panel.adder.symbols_wanted):
        panel.adder.search.setFocus()
    qtbot.keyClicks(panel.adder.search, "sim-7")
    qtbot.keyClick(popup_of(panel), Qt.Key.Key_Return)
    assert panel.current() == watch_scenario.SIMULATED[6]
    qtbot.keyClicks(panel.adder.search, "zzz")
    assert "SIM-1 to SIM-200" in panel.note.text()


def test_a_simulated_market_outside_the_run_is_not_running_rather_than_paused(
    panel: MarketsPanel, state: RunState
) -> None:
    """No exchange is asked for it, so nothing of it could be paused."""
    joining, outside = watch_scenario.SIMULATED[:2]
    panel.show_markets(tuple(WatchedMarket("simulated", each.symbol, "1m") for each in (joining, outside)))
    state.markets.set_universe([joining])
    panel.refresh()
    assert [row.state_words for row in panel.model.rows] == ["waiting", "not running"]
    assert "only while it is open or learned from" in panel.model.rows[1].tooltip()
    assert panel.note.text() == ""


def test_the_price_cell_has_the_change_where_it_has_no_column(
    panel: MarketsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []
    monkeypatch.setattr(cells, "write_line", lambda _painter, _place, line, *_rest: painted.append(line))
    panel.resize(300, 420)
    panel.table.grab()
    assert panel.table.isColumnHidden(Column.CHANGE) and "+1.23 %" in painted


def test_the_opened_market_is_switched_on_whatever_the_list_says(panel: MarketsPanel, state: RunState) -> None:
    """Another that is switched off is off at once, though the trainer has yet to hear of it."""
    opened, other = MARKETS[0], MARKETS[1]
    watch_scenario.run_universe(state, [opened.market, other.market, MARKETS[2].market])
    state.markets.set_opened({opened.market})
    panel.refresh()
    assert [row.is_learned for row in panel.model.rows[:2]] == [True, False]
    assert "it was opened" in spoken(panel, 0)
    panel.show_markets((opened, replace(other, is_learned=True), *MARKETS[2:]))
    assert panel.model.rows[1].is_learned and "next candle" in spoken(panel, 1)
