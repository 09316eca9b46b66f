"""All layers, from the one that changes least to the one that changes with the mouse."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPen, QRegion

from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.primitives import draw_parts
from desktop.chart.drawing.text import paint_box
from desktop.chart.framing.frame import Frame
from desktop.chart.labels.overlay import Overlay
from desktop.chart.layers.axes import AxisLabels
from desktop.chart.layers.base import BaseLayer
from desktop.chart.layers.candles import paint_forming
from desktop.chart.layers.forecast import ForecastLayer
from desktop.chart.layers.layer import LayerSet
from desktop.chart.layers.live import paint_last_price_line


class LayerStack:
    """Paints a frame. Layers that cost something keep their picture until what it shows has changed."""

    def __init__(self, layers: LayerSet) -> None:
        self._layers = layers
        self.base = BaseLayer(layers)
        self._forecast = ForecastLayer()
        self._axis_labels = AxisLabels()

    def forget(self) -> None:
        """Paint everything anew next time: another series, style or font."""
        self.base.forget()
        self._forecast.forget()
        self._axis_labels.forget()

    def paint(
        self, painter: QPainter, frame: Frame, overlay: Overlay, model: ChartModel, areas: Iterable[QRect]
    ) -> None:
        """Back to front. The painter's units are device pixels; `areas` are the logical ones to paint, and it is
        clipped to them."""
        wanted = QRegion()
        for area in areas:
            left, top = math.floor(area.left() * frame.ratio), math.floor(area.top() * frame.ratio)
            width, height = math.ceil(area.width() * frame.ratio) + 1, math.ceil(area.height() * frame.ratio) + 1
            wanted += QRect(left, top, width, height)
        draw_parts(painter, self.base.pixmap(frame, model), QPoint(0, 0), wanted)
        self._forecast.paint(painter, frame, model, wanted)
        painter.save()
        painter.setClipRect(frame.layout.plot, Qt.ClipOperation.IntersectClip)
        painter.save()
        painter.setClipRect(frame.layout.main, Qt.ClipOperation.IntersectClip)
        paint_forming(painter, frame, model)
        paint_last_price_line(painter, frame, overlay.last_price_line)
        painter.restore()
        self._paint_live(painter, frame, model)
        _paint_plot_labels(painter, frame, overlay, wanted)
        _paint_crosshair(painter, frame, overlay)
        painter.restore()
        self._paint_labels(painter, frame, overlay, model, wanted)

    def _paint_live(self, painter: QPainter, frame: Frame, model: ChartModel) -> None:
        for layer in self._layers:
            pane = frame.pane(layer.pane)
            painter.save()
            painter.setClipRect(pane.rect, Qt.ClipOperation.IntersectClip)
            layer.paint_live(painter, frame, pane, model)
            painter.restore()

    def _paint_labels(
        self, painter: QPainter, frame: Frame, overlay: Overlay, model: ChartModel, wanted: QRegion
    ) -> None:
        """Those that touch the `wanted` device pixels: text costs as much where the painter clips it away."""
        labels = (*overlay.axis_tags, overlay.last_price, overlay.price_label, overlay.time_label)
        on_axes = [box for box in labels if box is not None]
        self._axis_labels.paint(painter, frame, model, [box.rect for box in on_axes], wanted)
        for words in (*overlay.pane_readouts, overlay.readout):
            if words.rows and wanted.intersects(words.rect):
                # Cut to its pane, also where the words are longer: what lies beyond is not painted anew with it.
                painter.save()
                painter.setClipRect(words.rect, Qt.ClipOperation.IntersectClip)
                paint_box(painter, words, frame.fonts)
                painter.restore()
        for box in (*on_axes, overlay.note, overlay.tooltip):
            if box is not None and box.rows and wanted.intersects(box.rect):
                paint_box(painter, box, frame.fonts)


def _paint_plot_labels(painter: QPainter, frame: Frame, overlay: Overlay, wanted: QRegion) -> None:
    """Those that touch the `wanted` device pixels."""
    for label in overlay.plot_labels:
        if not wanted.intersects(label.area):
            continue
        painter.save()
        painter.setClipRect(frame.price_pane.rect, Qt.ClipOperation.IntersectClip)
        label.paint(painter)
        painter.restore()


def _paint_crosshair(painter: QPainter, frame: Frame, overlay: Overlay) -> None:
    if overlay.cross is None:
        return
    pen = QPen(frame.palette.crosshair, frame.pixel)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([4.0, 4.0])
    painter.setPen(pen)
    painter.drawLine(overlay.cross.x(), 0, overlay.cross.x(), frame.layout.plot_bottom)
    painter.drawLine(0, overlay.cross.y(), frame.layout.plot_right, overlay.cross.y())
