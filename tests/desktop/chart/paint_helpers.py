"""What a chart paints, as arrays of pixels, and the mouse over it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QColor, QImage, QPaintEvent, QRegion
from PySide6.QtTest import QTest

from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import settle
from tests.desktop.chart.support import point_over

NOISE = 2
"""Levels of a channel: Qt antialiases a line slightly differently at a clip edge."""


def pixels(image: QImage) -> NDArray[np.uint32]:
    """Shape (height, width); one RGB number a pixel."""
    converted = image.convertToFormat(QImage.Format.Format_RGB32)
    raw = np.frombuffer(converted.constBits(), dtype=np.uint32)
    rows = raw.reshape(converted.height(), converted.bytesPerLine() // 4)
    return rows[:, : converted.width()] & np.uint32(0xFFFFFF)


def channels(image: QImage) -> NDArray[np.uint8]:
    """Shape (height, width, 3): blue, green and red."""
    shown = pixels(image)
    return shown.view(np.uint8).reshape(*shown.shape, 4)[..., :3]


def picture(chart: ChartWidget) -> NDArray[np.uint32]:
    """The widget painted as a whole."""
    return pixels(chart.grab().toImage())


def screen(chart: ChartWidget) -> NDArray[np.uint32]:
    """The screen's pixels after partial repaints."""
    return pixels(chart.screen().grabWindow(chart.winId()).toImage())


def rgb_of(colour: QColor) -> int:
    """A colour as it is in `pixels`."""
    return colour.rgb() & 0xFFFFFF


def columns_with(shown: NDArray[np.uint32], colour: QColor) -> set[int]:
    return set(np.flatnonzero((shown == rgb_of(colour)).any(axis=0)).tolist())


class PaintedRegion(QObject):
    """Remembers the logical pixels of the newest paint event."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.newest = QRegion()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.newest = QRegion(event.region())
        return False


def hover_at(chart: ChartWidget, at: QPoint) -> None:
    """Move the mouse to a logical point."""
    QTest.mouseMove(chart.viewport(), at + QPoint(1, 0))  # Qt sends no event if an earlier test left the cursor there
    QTest.mouseMove(chart.viewport(), at)
    settle(chart)


def hover(chart: ChartWidget, index: int, price: float) -> None:
    """Move the mouse over a candle at a price."""
    hover_at(chart, point_over(chart, index, price))
