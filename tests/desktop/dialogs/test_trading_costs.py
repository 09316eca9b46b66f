"""Costs of one exchange, and those of all without own ones."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from core.settings.paper import PaperSettings, TradeCosts
from desktop.dialogs.trading_costs import TradingCostsDialog, ask_trading_costs
from desktop.ui.inputs import DecimalSpinBox
from tests.desktop.conftest import Bench, MakeBench

OWN = PaperSettings(venues={"kraken": TradeCosts(fee_bp=25.0)})


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench([])


def type_fee(qtbot: QtBot, dialog: TradingCostsDialog, text: str) -> None:
    box = dialog.form.editor("fee_bp").widget
    assert isinstance(box, DecimalSpinBox)
    box.selectAll()
    qtbot.keyClicks(box, text)


def test_an_exchange_keeps_its_own_costs(qtbot: QtBot, bench: Bench) -> None:
    dialog = ask_trading_costs(bench.shell, "binance")
    assert "Binance" in dialog.windowTitle()
    type_fee(qtbot, dialog, "7.5")
    dialog.accept()
    paper = bench.shell.settings.current.paper
    assert paper.of("binance").fee_bp == 7.5 and paper.of("kraken").fee_bp == 4.0
    again = ask_trading_costs(bench.shell, "binance")
    assert again.form.editor("fee_bp").get() == 7.5
    again.common.click()
    assert bench.shell.settings.current.paper.venues == {}


def test_a_number_out_of_range_is_refused_in_words(qtbot: QtBot) -> None:
    dialog = TradingCostsDialog(OWN, "kraken")
    qtbot.addWidget(dialog)
    dialog.show()
    type_fee(qtbot, dialog, "5000")
    dialog.accept()
    assert dialog.result() != QDialog.DialogCode.Accepted and "from 0 to 1000" in dialog.message.text().replace(",", "")
    type_fee(qtbot, dialog, "5")
    assert dialog.message.isHidden()
