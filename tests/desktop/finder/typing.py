"""Typing on the chart like a user: all keys are sent to the window, whatever opens meanwhile."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.chart.widget import ChartWidget
from desktop.finder.dialog import FinderDialog


def type_letters(chart: ChartWidget, typed: str) -> FinderDialog:
    """Press the keys without a pause; returns the dialog that opened."""
    chart.setFocus()
    for letter in typed:
        press(chart, Qt.Key(ord(letter.upper())))
    box = QApplication.activePopupWidget()
    assert isinstance(box, FinderDialog)
    return box


def type_on(chart: ChartWidget, typed: str) -> None:
    """The letters, then Return."""
    type_letters(chart, typed)
    press(chart, Qt.Key.Key_Return)


def press(chart: ChartWidget, key: Qt.Key) -> None:
    """Send to the native window, as the desktop does: Qt chooses the widget."""
    QTest.keyClick(chart.window().windowHandle(), key)
