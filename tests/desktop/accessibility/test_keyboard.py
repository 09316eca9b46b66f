"""Keys other than Tab: floating a panel, and arrow keys in a choice."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.dialogs.welcome import WelcomeDialog
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench

_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def test_a_key_floats_and_docks_a_panel(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_bench(scenario.checkpoints())
    window = bench.window
    window.show_dock(ActionId.SHOW_CHECKPOINTS)
    dock, table = window.docks[ActionId.SHOW_CHECKPOINTS], window.panels.checkpoints.table
    window.activateWindow()
    table.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(table.hasFocus)
    for is_afloat in (True, False):
        QTest.keyClick(table, Qt.Key.Key_F, _CONTROL_SHIFT)
        qtbot.waitUntil(lambda: QApplication.focusWidget() is table)
        assert dock.isFloating() is is_afloat
    bench.chart.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(bench.chart, Qt.Key.Key_F, _CONTROL_SHIFT)
    assert window.banner.shown is not None and "No panel has keyboard focus" in window.banner.shown.text


def test_arrow_keys_move_through_a_choice(qtbot: QtBot) -> None:
    dialog = WelcomeDialog(Settings())
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    first = dialog.symbols.button("BTC/USDT")
    first.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(first.hasFocus)
    for wanted in ("ETH/USDT", "SOL/USDT", "XRP/USDT"):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right)
        assert dialog.symbols.value == wanted
