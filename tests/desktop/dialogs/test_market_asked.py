"""The market dialog checks the typed symbol with the exchange before it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.domain.clock import SystemClock
from core.market.feeds.market_check import Objection
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.venue import ExchangeUrls
from core.market.symbols import SymbolCache
from core.settings.tree import MarketSettings
from desktop.dialogs.market import MarketDialog
from desktop.services.loop_thread import LoopThread
from desktop.services.market_check import MarketCheck, MarketQuestion
from tests.desktop.played_check import PlayedCheck
from tests.support.loopback_tickers import LoopbackTickers

OK = QDialogButtonBox.StandardButton.Ok
UNKNOWN = Objection("Binance has no spot market BTC/USD. Did you mean BTC/USDT?", is_certain=True)
UNANSWERED = Objection("Binance did not answer in time.", is_certain=False)
MakeCheck = Callable[[ExchangeUrls | None], MarketCheck]


@pytest.fixture
def thread(qapp: object) -> Iterator[LoopThread]:
    thread = LoopThread("asking")
    yield thread
    assert thread.close()


@pytest.fixture
def make_check(thread: LoopThread, tmp_path: Path) -> MakeCheck:

    def make(urls: ExchangeUrls | None) -> MarketCheck:
        clock = SystemClock()
        check = MarketCheck(SymbolCache(tmp_path), clock, urls, thread, RateLimitHolds(clock), lambda _market: False)
        check.is_watching = lambda: True
        return check

    return make


@pytest.fixture
def check(make_check: MakeCheck, played_check: PlayedCheck) -> MarketCheck:
    return make_check(None)


@pytest.fixture
def dialog(qtbot: QtBot, check: MarketCheck) -> MarketDialog:
    return opened(qtbot, check)


def opened(qtbot: QtBot, check: MarketCheck) -> MarketDialog:
    dialog = MarketDialog(MarketSettings(feed="live"), ask=check.ask)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def watch(qtbot: QtBot, dialog: MarketDialog, symbol: str) -> None:
    dialog.symbol.setCurrentText(symbol)
    qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)


def see_a_refusal_then_choose(qtbot: QtBot, dialog: MarketDialog) -> None:
    chosen: list[MarketSettings] = []
    dialog.chosen.connect(chosen.append)
    watch(qtbot, dialog, "BTC/USD")
    assert not dialog.buttons.button(OK).isEnabled() and dialog._message.text() == "Checking Binance for BTC/USD…"
    qtbot.waitUntil(lambda: dialog._message.text() == UNKNOWN.sentence)
    assert dialog.isVisible() and not chosen and not dialog.buttons.button(OK).isEnabled()
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")
    assert [market.symbol for market in chosen] == ["BTC/USDT"] and not dialog.isVisible()


def test_a_symbol_unknown_to_the_exchange_is_refused_in_the_dialog(
    qtbot: QtBot, dialog: MarketDialog, played_check: PlayedCheck
) -> None:
    played_check.objections["BTC/USD"] = UNKNOWN
    see_a_refusal_then_choose(qtbot, dialog)


@pytest.mark.venue
def test_an_exchange_on_real_sockets_is_asked(qtbot: QtBot, make_check: MakeCheck, exchange: LoopbackTickers) -> None:
    see_a_refusal_then_choose(qtbot, opened(qtbot, make_check(exchange.urls)))


def test_an_interval_that_the_exchange_refuses_is_refused_in_the_dialog(
    qtbot: QtBot, dialog: MarketDialog, played_check: PlayedCheck
) -> None:
    """Regression: it was accepted, the running market ended, and the sample replaced it."""
    played_check.objections["BTC/USDT"] = Objection("Binance has no candles of 5m.", is_certain=True)
    dialog.interval.setCurrentText("5m")
    with qtbot.assertNotEmitted(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")
        qtbot.waitUntil(lambda: dialog._message.text() == "Binance has no candles of 5m.")
    assert dialog.isVisible() and not dialog.buttons.button(OK).isEnabled()
    dialog.interval.setCurrentText("1m")
    assert dialog.buttons.button(OK).isEnabled()


def test_an_unanswered_check_is_reported_and_can_be_repeated(
    qtbot: QtBot, dialog: MarketDialog, played_check: PlayedCheck
) -> None:
    played_check.objections["ETH/USDT"] = UNANSWERED
    watch(qtbot, dialog, "ETH/USDT")
    qtbot.waitUntil(lambda: UNANSWERED.sentence in dialog._message.text())
    assert dialog.isVisible() and dialog.buttons.button(OK).isEnabled()
    del played_check.objections["ETH/USDT"]
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "ETH/USDT")


def test_typing_cancels_the_check(qtbot: QtBot, dialog: MarketDialog, played_check: PlayedCheck) -> None:
    played_check.objections["BTC/USD"] = UNKNOWN
    watch(qtbot, dialog, "BTC/USD")
    dialog.symbol.setCurrentText("ETH/USDT")
    assert not dialog._message.isVisible() and dialog.buttons.button(OK).isEnabled()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        watch(qtbot, dialog, "ETH/USDT")
    assert chosen.args[0].symbol == "ETH/USDT"


def test_without_a_running_market_an_unanswered_check_is_accepted(
    qtbot: QtBot, dialog: MarketDialog, check: MarketCheck, played_check: PlayedCheck
) -> None:
    check.is_watching = lambda: False
    played_check.objections["BTC/USDT"] = UNANSWERED
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "BTC/USDT")


def test_an_automatic_market_is_accepted_without_an_answer_as_the_sample_replaces_it(
    qtbot: QtBot, dialog: MarketDialog, played_check: PlayedCheck
) -> None:
    """Regression: "Automatic: live, otherwise the sample" was refused offline."""
    played_check.objections |= {"ETH/USDT": UNANSWERED, "BTC/USD": UNKNOWN}
    dialog.feed.setCurrentIndex(dialog.feed.findData("auto"))
    watch(qtbot, dialog, "BTC/USD")
    qtbot.waitUntil(lambda: dialog._message.text() == UNKNOWN.sentence)
    with qtbot.waitSignal(dialog.chosen):
        watch(qtbot, dialog, "ETH/USDT")


def test_closing_the_dialog_during_the_check_chooses_nothing(
    qtbot: QtBot, dialog: MarketDialog, check: MarketCheck
) -> None:
    watch(qtbot, dialog, "BTC/USDT")
    with qtbot.assertNotEmitted(dialog.chosen):
        dialog.reject()
        qtbot.waitUntil(lambda: not check.findChildren(MarketQuestion))
