"""The pyqtgraph axes, with round prices and times as labels."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.labels.axis_labels import Label, paint_labels, time_labels, value_labels
from desktop.chart.panes.frame import Frame
from desktop.chart.picture import Picture

_Z = 70.0


class ChartAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels of one view, recomputed only when it changes."""

    def __init__(self, picture: Picture, orientation: str) -> None:
        super().__init__(orientation, showValues=False)
        self.shown = picture
        self._labels: Sequence[Label] = ()
        self._key: object = None
        self.setZValue(_Z)

    def forget(self) -> None:
        """Drop the cached labels."""
        self._key = None

    def place(self, area: QRectF) -> None:
        """Set the geometry, in logical pixels of the chart."""
        if area == self.geometry():
            return
        if self.orientation == "right":
            self.setWidth(area.width())
        else:
            self.setHeight(area.height())
        self.setGeometry(area)

    def boundingRect(self) -> QRectF:
        return QRectF(self.rect())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        frame, overlay = self.shown.frame, self.shown.overlay
        if frame is None or overlay is None:
            return
        if self._key != self.shown.labels_key:
            self._labels, self._key = self.found(frame), self.shown.labels_key
        painter.save()
        self.shown.use_device_pixels(painter, self, frame.ratio)
        taken = [box.rect for box in overlay.on_axes]
        paint_labels(painter, frame, self._labels, taken, self.shown.wanted)
        painter.restore()

    def found(self, frame: Frame) -> Sequence[Label]:
        """The labels of this frame."""
        raise NotImplementedError


class ValueAxis(ChartAxis):
    """Prices, or the values of a pane below them."""

    def __init__(self, picture: Picture, pane: str) -> None:
        super().__init__(picture, "right")
        self._pane = pane

    def found(self, frame: Frame) -> Sequence[Label]:
        return value_labels(frame, frame.pane(self._pane))


class TimeAxis(ChartAxis):
    """Candle times; the corner shows the time zone."""

    def found(self, frame: Frame) -> Sequence[Label]:
        return time_labels(frame, self.shown.model, self.shown.time_marks(frame))
