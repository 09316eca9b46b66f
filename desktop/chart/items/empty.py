"""The sentence that stands where there is no candle yet."""

from __future__ import annotations

import pyqtgraph
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.items.item import Shown
from desktop.plain_text import with_whole_figures

_MARGIN_PX = 24
_Z = 1e6


class EmptyItem(pyqtgraph.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """In the middle of the chart, over everything; nothing once there is a candle."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown, self._text = shown, ""
        self.setZValue(_Z)

    @property
    def text(self) -> str:
        return self._text

    def say(self, text: str) -> None:
        """Stand there from now on."""
        self._text = text
        self.update()

    def boundingRect(self) -> QRectF:
        view = self.getViewWidget()
        return QRectF() if view is None else QRectF(view.rect())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        style = self._shown.style
        if style is None or not self._shown.model.is_empty:
            return
        area, palette = self.boundingRect(), style.palette
        painter.fillRect(area, palette.background)
        painter.setPen(palette.muted_text)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        room = area.adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX)
        painter.drawText(room, flags, with_whole_figures(self._text))
