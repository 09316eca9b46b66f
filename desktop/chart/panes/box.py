"""A pane as pyqtgraph knows it: a view whose x are candle indices and whose y are the pane's values."""

from __future__ import annotations

import math

import pyqtgraph
from PySide6.QtCore import QRectF, Signal

from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane import Pane

_HALF_PX = 0.5
"""The middle of a device pixel from its edge: whole indices and prices lie there."""


class PaneBox(pyqtgraph.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Any pyqtgraph item that is added scrolls and zooms with the chart. On a logarithmic scale y is the base-10
    logarithm of the value, as everywhere in pyqtgraph."""

    items_changed = Signal()
    """An item was added or taken away."""

    def __init__(self) -> None:
        super().__init__(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self.disableAutoRange()

    def itemsChanged(self) -> None:
        super().itemsChanged()
        self.items_changed.emit()

    def place(self, frame: Frame, pane: Pane) -> None:
        """Take the place and the ranges that this frame gives the pane."""
        ratio = frame.ratio
        area = QRectF(0.0, pane.top / ratio, pane.right / ratio, max(pane.bottom - pane.top, 1) / ratio)
        if area != self.geometry():
            self.setGeometry(area)
        half = _HALF_PX / frame.spacing
        self.setRange(xRange=(frame.left - half, frame.right - half), yRange=_edges(pane), padding=0.0)
        self.updateMatrix()  # now: what is painted next asks for it


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
