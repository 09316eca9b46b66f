"""What a tick or the mouse changes: ghosts, the forming candle, the last price, labels and the crosshair."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen

from desktop.chart.items.candles import paint_forming
from desktop.chart.items.forecast import ForecastLayer
from desktop.chart.items.item import ChartItem, Shown
from desktop.chart.labels.last_price import LastPriceLine
from desktop.chart.labels.overlay import Overlay
from desktop.chart.painting.text import Box, paint_box
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer

_FORECAST_Z, _FORMING_Z, _LAST_PRICE_Z, _LAYERS_Z, _LABELS_Z = 10.0, 20.0, 30.0, 40.0, 50.0
_CROSSHAIR_Z, _WORDS_Z = 60.0, 80.0


class ForecastItem(ChartItem):
    """Ghosts with their bands, and the divider before them."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, _FORECAST_Z, box)
        self._layer = ForecastLayer()

    def forget(self) -> None:
        """Paint anew next time."""
        self._layer.forget()

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        if self.shown.is_kept:
            self._layer.paint(painter, frame, self.shown.model, self.shown.wanted)
        else:
            self._layer.paint_alone(painter, frame, self.shown.model)


class FormingCandleItem(ChartItem):
    """The candle that is still open."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, _FORMING_Z, box)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        paint_forming(painter, frame, self.shown.model)


class LastPriceItem(ChartItem):
    """A dotted line at the last price."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, _LAST_PRICE_Z, box)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        _paint_last_price_line(painter, frame, overlay.last_price_line)


class LiveLayerItem(ChartItem):
    """What a layer shows of the forming candle, or of what mouse and keys have hold of."""

    def __init__(self, shown: Shown, layer: Layer, box: PaneBox) -> None:
        super().__init__(shown, _LAYERS_Z, box)
        self._layer, self._pane_name = layer, box.pane_name

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        self._layer.paint_live(painter, frame, frame.pane(self._pane_name), self.shown.model)


class PlotLabelsItem(ChartItem):
    """Words of layers over the prices."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, _LABELS_Z, box)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        for label in overlay.plot_labels:
            if self.shown.wanted.intersects(label.area):
                painter.save()
                label.paint(painter)
                painter.restore()


class CrosshairItem(ChartItem):
    """Through the candle and the price under the cursor, across all panes."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown, _CROSSHAIR_Z)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        if overlay.cross is None:
            return
        painter.setClipRect(frame.layout.plot, Qt.ClipOperation.IntersectClip)
        pen = QPen(frame.palette.crosshair, frame.pixel)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([4.0, 4.0])
        painter.setPen(pen)
        painter.drawLine(overlay.cross.x(), 0, overlay.cross.x(), frame.layout.plot_bottom)
        painter.drawLine(0, overlay.cross.y(), frame.layout.plot_right, overlay.cross.y())


class WordsItem(ChartItem):
    """Readouts, tooltip, and the labels on the axes that move."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown, _WORDS_Z)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        label = overlay.forecast_label
        if label is not None and self._is_wanted(label):
            painter.save()
            painter.setClipRect(frame.price_pane.rect, Qt.ClipOperation.IntersectClip)
            paint_box(painter, label, frame.fonts)
            painter.restore()
        for words in (*overlay.pane_readouts, overlay.readout):
            if self._is_wanted(words):
                # Cut to its pane, also where the words are longer: what lies beyond is not painted anew with it.
                painter.save()
                painter.setClipRect(words.rect, Qt.ClipOperation.IntersectClip)
                paint_box(painter, words, frame.fonts)
                painter.restore()
        for box in (*overlay.on_axes, overlay.note, overlay.tooltip):
            if box is not None and self._is_wanted(box):
                paint_box(painter, box, frame.fonts)

    def _is_wanted(self, box: Box) -> bool:
        rect: QRect = box.rect
        return bool(box.rows) and self.shown.wanted.intersects(rect)


def _paint_last_price_line(painter: QPainter, frame: Frame, line: LastPriceLine | None) -> None:
    """A dotted line across the plot."""
    if line is None:
        return
    pen = QPen(line.colour, frame.pixel)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([1.0, 3.0])
    painter.setPen(pen)
    painter.drawLine(0, line.row, frame.layout.plot_right, line.row)
