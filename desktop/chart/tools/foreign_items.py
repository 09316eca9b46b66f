"""Passes mouse events to movable pyqtgraph items from outside the chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtWidgets import QGraphicsSceneMouseEvent

from desktop.chart.tools.tool import ChartPoint, Tool

_LEFT = Qt.MouseButton.LeftButton


class ForeignItemTool(Tool):
    """Takes a press if an item accepts drags or clicks on hover, as all movable pyqtgraph items do. Meanwhile the view
    passes the events to pyqtgraph."""

    def __init__(self, scene: Any, is_needed: Callable[[], bool]) -> None:
        """is_needed: whether there is such an item at all, because asking each on hover takes time."""
        self._scene, self._is_needed = scene, is_needed
        self._is_over, self._position = False, QPointF()

    def press(self, at: ChartPoint) -> bool:
        self.hover(at)
        return self._is_over

    def move(self, at: ChartPoint) -> None:
        self._position = at.position

    def release(self, at: ChartPoint) -> None:
        return

    def cancel(self) -> None:
        """Treat the button as released at the last mouse position."""
        self._scene.mouseReleaseEvent(_event(QEvent.Type.GraphicsSceneMouseRelease, self._position, _LEFT))

    def double_click(self, at: ChartPoint) -> bool:
        """Ignored, but the view does not reset."""
        return self._is_over

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.PointingHandCursor if self._is_over else None

    def hover(self, at: ChartPoint) -> None:
        self._is_over, self._position = False, at.position
        if self._is_needed():
            self._scene.sendHoverEvents(_event(QEvent.Type.GraphicsSceneMouseMove, at.position))
            asked = self._scene.lastHoverEvent
            self._is_over = _LEFT in asked.dragItems() or _LEFT in asked.clickItems()

    def leave(self) -> None:
        if self._is_over:
            self._is_over = False
            self._scene.leaveEvent(QEvent(QEvent.Type.Leave))


def _event(
    kind: QEvent.Type, position: QPointF, button: Qt.MouseButton = Qt.MouseButton.NoButton
) -> QGraphicsSceneMouseEvent:
    """An event for pyqtgraph's scene at a logical position of the view, which is the scene's."""
    event = QGraphicsSceneMouseEvent(kind)
    event.setScenePos(QPointF(position.toPoint()))
    event.setButton(button)
    return event
