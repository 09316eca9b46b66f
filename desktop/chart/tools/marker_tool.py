"""A click on a marker opens what it stands for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from desktop.chart.data.markers import Marker
from desktop.chart.data.model import ChartModel
from desktop.chart.items.markers import MarkersLayer
from desktop.chart.tools.tool import ChartPoint


class MarkerTool:
    """Takes a press on a marker; one that is let go elsewhere opens nothing."""

    def __init__(self, layer: MarkersLayer, model: ChartModel, on_open: Callable[[Marker], object]) -> None:
        self._layer, self._model, self._on_open = layer, model, on_open
        self._pressed: Marker | None = None

    def press(self, at: ChartPoint) -> bool:
        self._pressed = self._marker_at(at)
        return self._pressed is not None

    def move(self, at: ChartPoint) -> None:
        """Nothing moves with it."""

    def release(self, at: ChartPoint) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is not None and self._marker_at(at) is pressed:
            self._on_open(pressed)

    def cancel(self) -> None:
        self._pressed = None

    def double_click(self, at: ChartPoint) -> bool:
        return self._marker_at(at) is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.PointingHandCursor if self._marker_at(at) is not None else None

    def _marker_at(self, at: ChartPoint) -> Marker | None:
        return self._layer.marker_at(at.frame, self._model, at.pixel) if at.is_on_prices else None
