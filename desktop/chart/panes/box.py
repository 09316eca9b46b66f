"""A pane's pyqtgraph view: x are candle indices, y the pane's values."""

from __future__ import annotations

import math
from typing import Any

import pyqtgraph
from PySide6.QtCore import QRectF, Signal

from desktop.chart.axes.price_scale import PriceRange, ScaleKind
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

    def set_log(self, *, is_log: bool) -> None:
        """Set whether y is the logarithm of a value."""
        if is_log == self.is_log:
            return
        self.setLogMode("y", is_log)
        for item in self.foreign_items:
            _set_log_mode(item, is_log=is_log)

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
        self.set_log(is_log=pane.shown.kind is ScaleKind.LOG)
        half = _HALF_PX / frame.spacing
        self.setRange(xRange=(frame.left - half, frame.right - half), yRange=_edges(pane), padding=0.0)
        self.updateMatrix()  # now: the next paint needs it


def _set_log_mode(item: Any, *, is_log: bool) -> None:
    if hasattr(item, "setLogMode"):
        item.setLogMode(False, is_log)


def _edges(pane: Pane) -> tuple[float, float]:
    """The values at the pane's lower and upper edge."""
    low, high = (
        (pane.inner_bottom - 1 - edge + _HALF_PX) / pane.height for edge in (max(pane.bottom, pane.top + 1), pane.top)
    )
    return _value(pane.shown, low), _value(pane.shown, high)


def _value(shown: PriceRange, share: float) -> float:
    if shown.kind is ScaleKind.LOG:
        bottom = math.log10(shown.low)
        return bottom + share * (math.log10(shown.high) - bottom)
    return shown.low + share * shown.span
