from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.settings import Settings
from desktop.dialogs.welcome import ChoiceRow, WelcomeDialog

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def dialog(qtbot: QtBot) -> WelcomeDialog:
    dialog = WelcomeDialog(Settings())
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitExposed(dialog)
    return dialog


def click(qtbot: QtBot, row: ChoiceRow, text: str) -> None:
    qtbot.mouseClick(row.button(text), LEFT)


def test_three_clicks_choose_a_symbol_an_exchange_and_start(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.symbols, "ETH/USDT")
    click(qtbot, dialog.sources, "Live from Kraken")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.start, LEFT)
    settings, needs_file = chosen.args
    assert (settings.market.venue, settings.market.symbol, settings.market.feed) == ("kraken", "ETH/USDT", "auto")
    assert not needs_file


def test_the_defaults_are_one_key_away(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert chosen.args == [Settings(), False]


def test_a_device_can_be_chosen(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.devices, "CPU")
    assert dialog.settings().training.device == "cpu"


def test_an_invented_market_has_no_symbol(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.sources, "Simulated")
    assert not dialog.symbols.isEnabled()
    assert dialog.settings().market.feed == "simulate"
    click(qtbot, dialog.sources, "Live from Binance")
    assert dialog.symbols.isEnabled()


def test_a_file_is_asked_for_next(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.sources, "A file…")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.start, LEFT)
    assert chosen.args[1] is True


def test_closing_it_keeps_what_there_is(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.sources, "Simulated")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert chosen.args == [Settings(), False]
