"""The cached picture of everything that only a new view or a closed candle changes, and the text of an empty chart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import CachedPixels
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.picture import Picture
from desktop.ui.plain_text import with_whole_figures

_MARGIN_PX = 24


class Background(ChartItem):
    """The cached picture of the `kept` items on the background, or a text if there is no candle. Lies below all other
    items."""

    z = -1e6

    surface: Picture

    def __init__(self, kept: Callable[[], Iterable[ChartItem]]) -> None:
        """kept: the items to cache, from back to front."""
        super().__init__()
        self._kept = kept
        self.pixels = CachedPixels()
        self.sentence = ""
        self.paints = 0
        """Number of paints of the closed candles; tests limit it."""

    def boundingRect(self) -> QRectF:
        view = self.getViewWidget()
        return QRectF() if view is None else QRectF(view.rect())

    def set_text(self, sentence: str) -> None:
        """Set the text shown while there is no candle."""
        self.sentence = sentence
        self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        style = self.surface.style
        if style is None or not self.surface.model.is_empty:
            super().paint(painter, option, widget)
            return
        area, palette = self.boundingRect(), style.palette
        painter.fillRect(area, palette.background)
        painter.setPen(palette.muted_text)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        room = area.adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX)
        painter.drawText(room, flags, with_whole_figures(self.sentence))

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if not self.surface.is_cached:
            painter.fillRect(self.area(frame), frame.palette.background)
            return
        key = self.surface.cached_key
        if not self.pixels.is_of(key):
            self.paints += 1
            self.pixels.renew(key, self.area(frame), frame.palette.background, partial(self._paint, frame=frame))
        self.pixels.draw(painter, self.surface.wanted)

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        for item in self._kept():
            painter.save()
            painter.setClipRect(item.area(frame))
            item.draw_in(painter, frame)
            painter.restore()
