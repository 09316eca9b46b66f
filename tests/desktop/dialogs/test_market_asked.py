"""The market dialog checks the typed symbol with the exchange, played on 127.0.0.1, before it closes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.domain.clock import SystemClock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.symbols import SymbolCache
from core.settings.tree import MarketSettings
from desktop.dialogs.market import MarketDialog
from desktop.services.market_check import MarketCheck
from tests.support.loopback_tickers import LoopbackTickers

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def check(qapp: object, exchange: LoopbackTickers, tmp_path: Path) -> Iterator[MarketCheck]:
    clock = SystemClock()
    made = MarketCheck(SymbolCache(tmp_path), clock, exchange.urls, RateLimitHolds(clock), lambda _market: False)
    made.is_watching = lambda: True
    yield made
    assert made.close()


@pytest.fixture
def dialog(qtbot: QtBot, check: MarketCheck) -> MarketDialog:
    dialog = MarketDialog(MarketSettings(), ask=check.ask)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitExposed(dialog)
    return dialog


def watch(qtbot: QtBot, dialog: MarketDialog, symbol: str) -> None:
    dialog.symbol.setCurrentText(symbol)
    qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)


def test_a_symbol_unknown_to_the_exchange_is_refused_in_the_dialog(qtbot: QtBot, dialog: MarketDialog) -> None:
    chosen: list[MarketSettings] = []
    dialog.chosen.connect(chosen.append)
    watch(qtbot, dialog, "BTC/USD")
    assert not dialog.buttons.button(OK).isEnabled() and dialog._message.text() == "Checking Binance for BTC/USD…"
    said = "Binance has no spot market BTC/USD. Did you mean BTC/USDT?"
    qtbot.waitUntil(lambda: dialog._message.text() == said)
    assert dialog.isVisible() and not chosen and not dialog.buttons.button(OK).isEnabled()
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")
    assert [market.symbol for market in chosen] == ["BTC/USDT"] and not dialog.isVisible()


def test_an_interval_that_the_exchange_refuses_is_refused_in_the_dialog(
    qtbot: QtBot, dialog: MarketDialog, exchange: LoopbackTickers
) -> None:
    """Regression: it was accepted, the running market ended, and the sample replaced it."""
    exchange.refused_intervals = {"5m"}
    dialog.interval.setCurrentText("5m")
    with qtbot.assertNotEmitted(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")
        qtbot.waitUntil(lambda: dialog._message.text().startswith("Binance has no candles of 5m. It has 1s, 1m, "))
    assert dialog.isVisible() and not dialog.buttons.button(OK).isEnabled()
    dialog.interval.setCurrentText("1m")
    assert dialog.buttons.button(OK).isEnabled()


def test_an_unanswered_check_is_reported_and_can_be_repeated(
    qtbot: QtBot, dialog: MarketDialog, exchange: LoopbackTickers
) -> None:
    exchange.answer(503)
    watch(qtbot, dialog, "ETH/USDT")
    qtbot.waitUntil(lambda: "not known whether Binance has ETH/USDT" in dialog._message.text())
    assert dialog.isVisible() and dialog.buttons.button(OK).isEnabled()
    exchange.resume()
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "ETH/USDT")


def test_typing_cancels_the_check(qtbot: QtBot, dialog: MarketDialog) -> None:
    watch(qtbot, dialog, "BTC/USD")
    dialog.symbol.setCurrentText("ETH/USDT")
    assert not dialog._message.isVisible() and dialog.buttons.button(OK).isEnabled()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        watch(qtbot, dialog, "ETH/USDT")
    assert chosen.args[0].symbol == "ETH/USDT"


def test_without_a_running_market_an_unanswered_check_is_accepted(
    qtbot: QtBot, dialog: MarketDialog, check: MarketCheck, exchange: LoopbackTickers
) -> None:
    check.is_watching = lambda: False
    exchange.answer(503)
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")


def test_closing_the_dialog_during_the_check_chooses_nothing(
    qtbot: QtBot, dialog: MarketDialog, check: MarketCheck
) -> None:
    watch(qtbot, dialog, "BTC/USDT")
    with qtbot.assertNotEmitted(dialog.chosen):
        dialog.reject()
        qtbot.waitUntil(lambda: not check._threads)
