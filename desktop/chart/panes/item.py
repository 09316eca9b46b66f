"""A pane's pyqtgraph view, and the base of the items in it, which draw on whole device pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pyqtgraph
from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QRegion, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import Frame, Pane
from desktop.ui.plots import own_children

_HALF_PX = 0.5
"""Offset of a device pixel's middle from its edge: whole indices and prices are there."""


class PaneBox(pyqtgraph.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Any pyqtgraph item that is added scrolls and zooms with the chart. On a logarithmic scale y is the base-10
    logarithm of the value, as everywhere in pyqtgraph. Items with `setLogMode`, such as `PlotDataItem`, are notified
    and take plain values on every scale; the owner of any other item must reposition it on the chart's `style_changed`,
    at the logarithm while the chart's `style_shown.scale` is logarithmic."""

    items_changed = Signal()
    """An item was added or removed."""

    def __init__(self) -> None:
        super().__init__(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self.disableAutoRange()
        self.foreign_items: list[Any] = []
        """Items added from outside the chart. Read only."""
        self.placed = QRectF(self.viewRect())
        """`viewRect` since the last `place`. Read only."""
        self.is_open = False
        """Whether anyone outside the chart has it. Until then it keeps its first ranges: the chart's own items need
        none, and new ones would take a tenth of a pan."""

    @property
    def is_log(self) -> bool:
        """Whether y is the logarithm of a value."""
        return bool(self.state["logMode"][1])

    def addItem(self, item: Any, ignoreBounds: bool = False) -> None:  # noqa: N803 - pyqtgraph's name
        self.foreign_items.append(item)
        _set_log_mode(item, is_log=self.is_log)
        super().addItem(item, ignoreBounds)

    def removeItem(self, item: Any) -> None:
        if item in self.foreign_items:
            self.foreign_items.remove(item)
        super().removeItem(item)
        own_children(item)

    def add_own(self, item: Any) -> None:
        """Add an item of the chart, which is excluded from automatic ranges."""
        super().addItem(item, ignoreBounds=True)

    def close(self) -> None:
        for item in tuple(self.foreign_items):  # their owners keep them beyond the view
            self.removeItem(item)
        super().close()

    def itemsChanged(self) -> None:
        super().itemsChanged()
        self.items_changed.emit()

    def place(self, frame: Frame, pane: Pane) -> None:
        """Take the geometry and ranges that this frame gives the pane."""
        ratio = frame.ratio
        area = QRectF(0.0, pane.top / ratio, pane.right / ratio, max(pane.bottom - pane.top, 1) / ratio)
        if area != self.geometry():
            self.setGeometry(area)
        is_log = pane.shown.kind is ScaleKind.LOG
        if is_log != self.is_log:
            self.setLogMode("y", is_log)
            for item in self.foreign_items:
                _set_log_mode(item, is_log=is_log)
        if not self.is_open:
            return
        half = _HALF_PX / frame.spacing
        edges = (max(pane.bottom, pane.top + 1), pane.top)
        low, high = (_value(pane.shown, (pane.inner_bottom - 1 - edge + _HALF_PX) / pane.height) for edge in edges)
        is_auto = any(self.state["autoRange"])  # disabling it again takes most of the time
        ranges = {"xRange": (frame.left - half, frame.right - half), "yRange": (low, high)}
        self.setRange(**ranges, padding=0.0, disableAutoRange=is_auto)
        self.updateMatrix()  # now: the next paint needs it
        self.placed = QRectF(self.viewRect())


def _set_log_mode(item: Any, *, is_log: bool) -> None:
    if hasattr(item, "setLogMode"):
        item.setLogMode(False, is_log)


def _value(shown: PriceRange, share: float) -> float:
    if shown.kind is ScaleKind.LOG:
        bottom = math.log10(shown.low)
        return bottom + share * (math.log10(shown.high) - bottom)
    return shown.low + share * shown.span


class Surface:
    """The target that items are painted on, and its state during a paint."""

    def __init__(self, model: ChartModel) -> None:
        self.model = model
        self.wanted = QRegion()
        """The device pixels being painted: clipped text costs as much as visible text."""
        self.is_cached = False
        """Whether closed candles, grid and indicators come from the cached picture."""
        self._frame: Frame | None = None
        self._transform: QTransform | None = None

    @property
    def frame(self) -> Frame | None:
        """The geometry of the last build; None without candles."""
        return None if self.model.is_empty else self._frame

    @contextmanager
    def painted_in(self, areas: QRegion, ratio: float) -> Iterator[None]:
        """Context for painting these logical areas on the screen with one painter; cached pictures are used."""
        self.wanted, self.is_cached, self._transform = QRegion(), True, None
        for area in cast("Iterable[QRect]", areas):
            left, top = math.floor(area.left() * ratio), math.floor(area.top() * ratio)
            width, height = math.ceil(area.width() * ratio) + 1, math.ceil(area.height() * ratio) + 1
            self.wanted += QRect(left, top, width, height)
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


class ChartItem(pyqtgraph.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """Draws in its pane, or over the whole chart without one. Subclasses implement `draw`."""

    pane: str | None = None
    z = 0.0
    """Higher values are painted over lower ones."""
    is_cached = False
    """Whether only a new view or a closed candle changes it: then it is part of the picture of the closed candles, and
    not an item of the scene, which would cost some 20 µs with each paint."""
    surface: Surface
    """Set by the chart, before the item is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.box: PaneBox | None = None
        self.setZValue(self.z)

    def area(self, frame: Frame) -> QRect:
        """The item's area in device pixels."""
        return QRect(0, 0, frame.layout.width, frame.layout.height) if self.pane is None else frame.pane(self.pane).rect

    def boundingRect(self) -> QRectF:
        if self.box is not None:
            return self.box.placed
        frame = self.surface.frame
        if frame is None:
            return QRectF()
        return QRectF(0, 0, frame.layout.width / frame.ratio, frame.layout.height / frame.ratio)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        surface, frame = self.surface, self.surface.frame
        if frame is None:
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
