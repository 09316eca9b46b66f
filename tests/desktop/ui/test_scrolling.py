"""Pages that scroll down."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.scrolling import DownScrolling
from tests.support.cut_numbers import evenness


def test_a_plot_at_the_end_of_a_page_is_shown_whole(qtbot: QtBot, qapp: QApplication) -> None:
    inside, plot = QWidget(), pg.PlotWidget()
    plot.setFixedHeight(120)
    plot.setRange(xRange=(0.0, 1.0), yRange=(0.0, 1.0))
    stack = QVBoxLayout(inside)
    stack.setContentsMargins(0, 0, 0, 0)
    stack.addSpacing(300)
    stack.addWidget(plot)
    page = DownScrolling(inside, "Page")
    qtbot.addWidget(page)
    page.resize(300, 260)
    with qtbot.waitExposed(page):
        page.show()
    bar = page.verticalScrollBar()
    bar.setValue(bar.maximum())
    for _ in range(10):
        qapp.processEvents()
    view = page.viewport()
    assert bar.value() == bar.maximum() > 0
    assert evenness(page.grab(QRect(0, view.height() - 10, view.width(), 1))) < 0.6, "its lower labels"
