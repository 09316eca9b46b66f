"""A pane of its own for items that are not the chart's: its scale fits what they say of themselves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import PaneScale
from desktop.chart.panes.pane import Pane


class OpenPane:
    """Holds a place among the panes. What is in it are the items of its box, which pyqtgraph paints."""

    pane_scale = PaneScale()

    def __init__(self, name: str) -> None:
        self.pane = name
        self.box: PaneBox | None = None

    def key(self, model: ChartModel) -> Hashable:
        return None

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        items = [] if self.box is None else self.box.addedItems
        found = [edges for item in items if (edges := _bounds(item, frame_first, frame_stop)) is not None]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Nothing: its items do."""

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Nothing: its items do."""

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.pane, frame.palette.muted_text),),)


def _bounds(item: Any, first: int, stop: int) -> tuple[float, float] | None:
    """Of a pyqtgraph item, among the candles in view."""
    if not hasattr(item, "dataBounds"):
        return None
    low, high = item.dataBounds(1, orthoRange=(first - 0.5, stop + 0.5))
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return float(low), float(high)
