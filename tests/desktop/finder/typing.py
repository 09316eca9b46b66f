"""Typing on the chart, as a person does: all keys go to the window, whatever opens meanwhile."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.chart.widget import ChartWidget
from desktop.finder.dialog import FinderDialog


def type_letters(chart: ChartWidget, typed: str) -> FinderDialog:
    """One key after the other, with no time between; the box that they opened."""
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
    """To the window of the desktop, as the desktop does: Qt says which widget is meant."""
    QTest.keyClick(chart.window().windowHandle(), key)
