"""What all of the chart's own items share: they lie in a pyqtgraph view, and draw on whole device pixels."""

from __future__ import annotations

from typing import Protocol

import pyqtgraph
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.overlay import Overlay
from desktop.chart.painting.device_pixels import DevicePixels
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame
from desktop.chart.style import Style


class Shown(Protocol):
    """What an item may know of the picture that is being painted."""

    @property
    def model(self) -> ChartModel: ...

    @property
    def frame(self) -> Frame | None:
        """None while there is no candle."""

    @property
    def style(self) -> Style | None: ...

    @property
    def overlay(self) -> Overlay | None: ...

    @property
    def wanted(self) -> QRegion:
        """The device pixels that are painted now: text costs as much where the painter clips it away."""

    @property
    def kept_key(self) -> object:
        """What the kept picture depends on."""

    @property
    def labels_key(self) -> object:
        """What the labels of the axes depend on."""

    @property
    def device_pixels(self) -> DevicePixels: ...

    @property
    def is_kept(self) -> bool:
        """Whether what closed candles, grid and studies look like is taken from the picture that was kept of them."""


class ChartItem(pyqtgraph.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """Draws in its pane, or over the whole chart where it lies in none. Subclasses implement `draw`."""

    def __init__(self, shown: Shown, z: float, box: PaneBox | None = None) -> None:
        super().__init__()
        self.shown, self._box = shown, box
        self.setZValue(z)

    def boundingRect(self) -> QRectF:
        if self._box is not None:
            return QRectF(self._box.viewRect())
        frame = self.shown.frame
        return (
            QRectF()
            if frame is None
            else QRectF(0, 0, frame.layout.width / frame.ratio, frame.layout.height / frame.ratio)
        )

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        frame, overlay = self.shown.frame, self.shown.overlay
        if frame is None or overlay is None:
            return
        painter.save()
        self.shown.device_pixels.use(painter, self, frame.ratio)
        if self._box is not None:  # which clips to half a logical pixel more
            painter.setClipRect(frame.pane(self._box.pane_name).rect, Qt.ClipOperation.IntersectClip)
        self.draw(painter, frame, overlay)
        painter.restore()

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        """Draw. The painter's units are device pixels of the whole chart; it is clipped to the pane."""
        raise NotImplementedError
