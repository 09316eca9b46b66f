"""The base of the chart's items: they lie in a pyqtgraph view and draw on whole device pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import pyqtgraph
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QRegion, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from desktop.chart.data.model import ChartModel
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame, Pane


class Surface:
    """The target that items are painted on, and its state during a paint."""

    def __init__(self, model: ChartModel) -> None:
        self.model = model
        self.wanted = QRegion()
        """The device pixels being painted: clipped text costs as much as visible text."""
        self.is_cached = False
        """Whether closed candles, grid and studies come from the cached picture."""
        self._frame: Frame | None = None
        self._transform: QTransform | None = None

    @property
    def frame(self) -> Frame | None:
        """The geometry of the last build; None without candles."""
        return None if self.model.is_empty else self._frame

    @contextmanager
    def painted_in(self, areas: QRegion, ratio: float) -> Iterator[None]:
        """Context for painting these logical areas on the screen with one painter; cached pictures are used."""
        self.wanted, self.is_cached, self._transform = _device_region(areas, ratio), True, None
        try:
            yield
        finally:
            self.is_cached, self._transform = False, None

    def use_device_pixels(self, painter: QPainter, item: QGraphicsItem, ratio: float) -> None:
        """Switch the painter to device pixels, exact at any zoom and on any screen. Computed once per painter for all
        items."""
        if self._transform is not None:
            painter.setWorldTransform(self._transform)
            return
        back, _ = item.sceneTransform().inverted()
        painter.setWorldTransform(back * painter.worldTransform())
        painter.scale(1 / ratio, 1 / ratio)
        to_device = painter.deviceTransform()
        painter.translate(round(to_device.dx()) - to_device.dx(), round(to_device.dy()) - to_device.dy())
        if self.is_cached:
            self._transform = painter.worldTransform()


def _device_region(areas: QRegion, ratio: float) -> QRegion:
    wanted = QRegion()
    for area in cast("Iterable[QRect]", areas):
        left, top = math.floor(area.left() * ratio), math.floor(area.top() * ratio)
        width, height = math.ceil(area.width() * ratio) + 1, math.ceil(area.height() * ratio) + 1
        wanted += QRect(left, top, width, height)
    return wanted


class ChartItem(pyqtgraph.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """Draws in its pane, or over the whole chart without one. Subclasses implement `draw`."""

    pane: str | None = None
    z = 0.0
    """Higher values are painted over lower ones."""
    is_cached = False
    """Whether only a new view or a closed candle changes it: then it is drawn into the shared cached picture, and
    separately only without one, as in an exported file."""
    surface: Surface
    """Set by the chart, before it adds the item to its scene."""

    def __init__(self) -> None:
        super().__init__()
        self.box: PaneBox | None = None
        self.setZValue(self.z)

    def area(self, frame: Frame) -> QRect:
        """Its area in device pixels."""
        return QRect(0, 0, frame.layout.width, frame.layout.height) if self.pane is None else frame.pane(self.pane).rect

    def boundingRect(self) -> QRectF:
        if self.box is not None:
            return QRectF(self.box.viewRect())
        frame = self.surface.frame
        if frame is None:
            return QRectF()
        return QRectF(0, 0, frame.layout.width / frame.ratio, frame.layout.height / frame.ratio)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        surface, frame = self.surface, self.surface.frame
        if frame is None or (self.is_cached and surface.is_cached):
            return
        painter.save()
        surface.use_device_pixels(painter, self, frame.ratio)
        if self.pane is not None:  # its view clips half a logical pixel wider
            painter.setClipRect(self.area(frame), Qt.ClipOperation.IntersectClip)
        self.draw_in(painter, frame)
        painter.restore()

    def draw_in(self, painter: QPainter, frame: Frame) -> None:
        """Draw with a painter whose units are device pixels of the whole chart."""
        pane = frame.price_pane if self.pane is None else frame.pane(self.pane)
        self.draw(painter, frame, pane, self.surface.model)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Draw. The painter's units are device pixels of the whole chart; it is clipped to the pane."""
        raise NotImplementedError
