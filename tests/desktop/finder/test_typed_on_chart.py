"""Typing on the chart, with all keys sent to the window: the search opens, and Return takes the first match."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.settings.tree import MarketSettings, Settings
from core.settings.window import WatchlistSettings
from desktop.actions import ActionId
from desktop.finder.dialog import FinderDialog
from desktop.finder.finder import Finder
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.finder.typing import press, type_letters, type_on

LISTED = ("ETH/BTC", "ETHFI/USDT", "ETH/USDT", "1INCH/USDT", "DOGE/USDT")
SETTINGS = Settings(watchlist=WatchlistSettings(markets=()))


class Typing:
    """A running window whose chart has keyboard focus; the exchange's symbols arrive on request."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.known, self.asked = bench, LISTED, list[str]()
        stored = (Market("kraken", "XMR/EUR", Interval.parse("1h")),)
        self.finder = Finder(
            bench.shell,
            bench.theme,
            bench.source,
            bench.market_choice,
            lambda _venue: self.known,
            lambda: stored,
            ask=self.asked.append,
        )
        bench.chart.typed.connect(self.finder.open_markets)
        fill(bench)
        self.chosen: list[MarketSettings] = []
        bench.market_choice.chosen.connect(self.chosen.append)
        bench.window.activateWindow()
        assert QTest.qWaitForWindowActive(bench.window, 60_000)
        bench.chart.setFocus()

    def type(self, typed: str) -> FinderDialog:
        return type_letters(self.bench.chart, typed)


@pytest.fixture
def typing(make_chart_bench: MakeBench) -> Typing:
    return Typing(make_chart_bench(settings=SETTINGS))


@pytest.fixture
def typing_in_whole_window(make_bench: MakeBench) -> Typing:
    """With menus, whose letters are keys too."""
    return Typing(make_bench(settings=SETTINGS))


def shown(box: FinderDialog) -> list[str]:
    return [box.model.index(row, 0).data() for row in range(box.model.rowCount())]


def test_typing_eth_opens_eth_usdt(typing_in_whole_window: Typing) -> None:
    typing = typing_in_whole_window
    type_on(typing.bench.chart, "eth")
    (market,) = typing.chosen
    assert (market.symbol, market.venue) == ("ETH/USDT", "binance")
    assert QApplication.activePopupWidget() is None
    assert QApplication.focusWidget() is typing.bench.chart, "the next letters go to the chart again"


@pytest.mark.parametrize(
    ("typed", "symbol"), [("ethfi", "ETHFI/USDT"), ("ethbtc", "ETH/BTC"), ("doge", "DOGE/USDT"), ("xmr", "XMR/EUR")]
)
def test_a_listed_or_stored_market_is_found_in_any_spelling(typing: Typing, typed: str, symbol: str) -> None:
    type_on(typing.bench.chart, typed)
    assert [market.symbol for market in typing.chosen] == [symbol]


def test_the_search_has_all_letters_and_offers_only_markets_and_intervals(typing: Typing) -> None:
    box = typing.type("sto")
    assert box.line.text() == "sto"
    press(typing.bench.chart, Qt.Key.Key_Backspace)
    press(typing.bench.chart, Qt.Key.Key_Backspace)
    assert box.line.text() == "s"
    intervals = {"1 minute", "5 minutes", "15 minutes", "1 hour", "4 hours", "1 day", "Market's interval"}
    assert all("/" in name or name in intervals for name in shown(box)) and "15 minutes" in shown(box)
    press(typing.bench.chart, Qt.Key.Key_Escape)
    assert QApplication.activePopupWidget() is None and not typing.chosen
    assert QApplication.focusWidget() is typing.bench.chart


def test_a_letter_triggers_no_action(typing_in_whole_window: Typing) -> None:
    typing = typing_in_whole_window
    window = typing.bench.window
    fired: list[str] = []
    for action in window.shell.actions.actions():
        action.triggered.connect(lambda _checked=False, action=action: fired.append(action.objectName()))
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789":
        box = typing.type(letter)
        assert box.line.text() == letter
        box.reject()
    assert fired == []


def test_shortcuts_for_chart_places_are_alt_shift_letter_and_unique(typing_in_whole_window: Typing) -> None:
    typing = typing_in_whole_window
    registry = typing.bench.shell.actions
    keys = [each.info.shortcut for each in registry.ids() if each.info.shortcut]
    assert len(keys) == len(set(keys))
    at_a_place = [each.info for each in registry.ids() if each.info.menu[0] == "&Chart" and each.info.section == 3]
    own = {info.shortcut for info in at_a_place if info.shortcut}
    with_letters = {key for key in own if len(key.split("+")[-1]) == 1 and not key.startswith("Ctrl+")}
    assert with_letters >= {f"Alt+Shift+{letter}" for letter in "ANMLHXR"}
    assert all(key.startswith("Alt+Shift+") for key in with_letters)
    hindsight = registry[ActionId.HINDSIGHT]
    both = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
    seen: list[bool] = []
    hindsight.triggered.connect(lambda is_on: seen.append(is_on))
    QTest.keyClick(typing.bench.window.windowHandle(), Qt.Key.Key_H, both)
    assert seen == [True] and QApplication.activePopupWidget() is None, "and not the menu Help of Alt+H"


def test_symbols_that_arrive_while_the_search_is_open_are_offered(typing: Typing) -> None:
    typing.known = ()
    box = typing.type("eth")
    assert typing.asked == ["binance"] and "ETHFI/USDT" not in shown(box)
    assert shown(box)[0] == "ETH/USDT", "the market dialog's suggestions, before the exchange has answered"
    typing.known = LISTED
    typing.finder.update_symbols()
    assert "ETHFI/USDT" in shown(box) and shown(box)[0] == "ETH/USDT"
    box.reject()


def test_no_exchange_is_contacted_during_a_replay(make_chart_bench: MakeBench) -> None:
    typing = Typing(
        make_chart_bench(settings=replace(SETTINGS, market=MarketSettings(feed="replay", file="rates.csv")))
    )
    typing.type("e").reject()
    assert typing.asked == []


def test_digits_offer_intervals_first_and_impossible_ones_are_not_opened(typing: Typing, qtbot: QtBot) -> None:
    actions = typing.bench.shell.actions
    seen: list[str] = []
    for action_id in (ActionId.INTERVAL_15M, ActionId.INTERVAL_4H, ActionId.INTERVAL_1D, ActionId.INTERVAL_MARKET):
        actions[action_id].triggered.connect(lambda _checked, name=action_id.key: seen.append(name))
    for typed in ("15", "240", "4h", "1d", "0"):
        type_on(typing.bench.chart, typed)
    assert seen == ["interval_15m", "interval_4h", "interval_4h", "interval_1d", "interval_market"]
    actions[ActionId.INTERVAL_15M].setEnabled(False)
    type_on(typing.bench.chart, "15")
    box = QApplication.activePopupWidget()
    assert isinstance(box, FinderDialog) and shown(box)[0] == "15 minutes" and len(seen) == 5
    assert "15 minutes" in box.note.text() and box.note.isVisible(), "it says why"
    box.reject()
    box = typing.type("1inch")
    assert shown(box) == ["1INCH/USDT"]
    box.reject()


def test_a_market_with_another_quote_is_not_opened(typing: Typing) -> None:
    """Regression: Return turned ETH/USD into ETH/USDT."""
    box = typing.type("eth/usd")
    assert shown(box)[0] == "ETH/USDT" and "No market named ETH/USD here." in box.note.text()
    press(typing.bench.chart, Qt.Key.Key_Return)
    assert not typing.chosen and box.isVisible()
    press(typing.bench.chart, Qt.Key.Key_Down)
    press(typing.bench.chart, Qt.Key.Key_Return)
    assert [market.symbol for market in typing.chosen] == ["ETH/USDT"]


def test_a_full_symbol_is_opened(typing: Typing) -> None:
    box = typing.type("eth/usdt")
    assert not box.note.isVisible()
    press(typing.bench.chart, Qt.Key.Key_Return)
    assert [market.symbol for market in typing.chosen] == ["ETH/USDT"]
