"""The axes as pyqtgraph knows them, with round prices and times as their ticks."""

from __future__ import annotations

from typing import Any

import pyqtgraph
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.items.item import Shown
from desktop.chart.labels.axis_labels import Label, paint_labels, time_labels, time_marks, value_labels, value_marks
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame

_Z = 70.0


class ChartAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels of one view; found anew only when that changes."""

    def __init__(self, shown: Shown, orientation: str, box: PaneBox) -> None:
        super().__init__(orientation, showValues=False)
        self.shown, self.pane_name = shown, box.pane_name
        self._labels: tuple[Label, ...] = ()
        self._key: object = None
        self.setZValue(_Z)
        self.linkToView(box)

    def forget(self) -> None:
        """Measure anew next time."""
        self._key = None

    def place(self, area: QRectF) -> None:
        """Take this place, in logical pixels of the chart."""
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
            self._labels, self._key = tuple(self._found(frame)), self.shown.labels_key
        painter.save()
        self.shown.device_pixels.use(painter, self, frame.ratio)
        taken = [box.rect for box in overlay.on_axes]
        paint_labels(painter, frame, self._labels, taken, self.shown.wanted)
        painter.restore()

    def _found(self, frame: Frame) -> list[Label]:
        raise NotImplementedError


class ValueAxis(ChartAxis):
    """Prices, or the values of a pane below them."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, "right", box)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        frame = self.shown.frame
        return [] if frame is None else [(0.0, value_marks(frame, frame.pane(self.pane_name)))]

    def _found(self, frame: Frame) -> list[Label]:
        return value_labels(frame, frame.pane(self.pane_name))


class TimeAxis(ChartAxis):
    """The times of candles; its corner says in which zone they are."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, "bottom", box)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[Any]]]:
        frame = self.shown.frame
        return [] if frame is None else [(0.0, [index for index, _ in time_marks(frame, self.shown.model)])]

    def _found(self, frame: Frame) -> list[Label]:
        return time_labels(frame, self.shown.model)
