"""Labels, the last price's line and the crosshair: the axes' labels, and all that ticks and the mouse change."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import Label, paint_labels, time_labels
from desktop.chart.labels.overlay import Overlay
from desktop.chart.painting.primitives import dashed_pen
from desktop.chart.painting.text import Box, paint_box
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.picture import Picture


class LabelItem(ChartItem):
    """Draws its part of the labels."""

    surface: Picture

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if self.surface.overlay is not None:
            self.draw_labels(painter, frame, self.surface.overlay)

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        raise NotImplementedError

    def is_wanted(self, box: Box) -> bool:
        return bool(box.rows) and self.surface.wanted.intersects(box.rect)


class LastPriceItem(LabelItem):
    """A dotted line at the last price, across the plot."""

    pane, z = PRICE_PANE, 30.0

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        line = overlay.last_price_line
        if line is not None:
            painter.setPen(dashed_pen(line.colour, frame.pixel, [1.0, 3.0]))
            painter.drawLine(0, line.row, frame.layout.plot_right, line.row)


class PlotLabelsItem(LabelItem):
    """Text of layers over the prices."""

    pane, z = PRICE_PANE, 50.0

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        for label in overlay.plot_labels:
            if self.surface.wanted.intersects(label.area):
                painter.save()
                label.paint(painter)
                painter.restore()


class CrosshairItem(LabelItem):
    """Through the candle and the price under the cursor, across all panes."""

    z = 60.0

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        if overlay.cross is None:
            return
        painter.setClipRect(frame.layout.plot, Qt.ClipOperation.IntersectClip)
        painter.setPen(dashed_pen(frame.palette.crosshair, frame.pixel, [4.0, 4.0]))
        painter.drawLine(overlay.cross.x(), 0, overlay.cross.x(), frame.layout.plot_bottom)
        painter.drawLine(0, overlay.cross.y(), frame.layout.plot_right, overlay.cross.y())


class AxisLabelsItem(LabelItem):
    """The values beside each pane, and below the panes the times and the time zone; kept until their key changes."""

    z = 70.0

    def __init__(self) -> None:
        super().__init__()
        self._labels: Sequence[Label] = ()
        self._key: object = None

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        key = self.surface.labels_key
        if self._key != key:
            panes = (frame.price_pane, *frame.panes)
            values = [label for pane in panes for label in self.surface.value_labels(frame, pane)]
            times = time_labels(frame, self.surface.model, self.surface.time_marks(frame))
            self._labels, self._key = [*values, *times], key
        paint_labels(painter, frame, self._labels, [box.rect for box in overlay.on_axes], self.surface.wanted)


class TextItem(LabelItem):
    """Readouts, tooltip, and the moving labels on the axes."""

    z = 80.0

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        label = overlay.forecast_label
        cut = [] if label is None else [(label, frame.price_pane.rect)]
        # Clipped to their panes even if the text is longer: pixels beyond are not repainted with it.
        cut += [(words, words.rect) for words in (*overlay.pane_readouts, overlay.readout)]
        for words, area in cut:
            if self.is_wanted(words):
                painter.save()
                painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
                paint_box(painter, words, frame.fonts)
                painter.restore()
        for box in (*overlay.on_axes, overlay.note, overlay.tooltip):
            if box is not None and self.is_wanted(box):
                paint_box(painter, box, frame.fonts)
