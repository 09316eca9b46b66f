"""The tooltip of a menu's entry covers no other entry."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.menus import Menu


def test_a_tooltip_is_beside_the_menu(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    menu = Menu("Chart", window)
    for name in ("One", "Two", "Three"):
        menu.addAction(name).setToolTip(f"What {name} does")
    menu.popup(window.mapToGlobal(QPoint(0, 0)))
    entry = menu.actionGeometry(menu.actions()[0]).center()
    QApplication.sendEvent(menu, QHelpEvent(QEvent.Type.ToolTip, entry, menu.mapToGlobal(entry)))
    assert QToolTip.text() == "What One does"
    (tip,) = (each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))
    assert not tip.geometry().intersects(QRect(menu.mapToGlobal(QPoint(0, 0)), menu.size()))
    QToolTip.hideText()
    menu.close()
