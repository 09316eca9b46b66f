"""Menus whose tooltips do not cover their entries."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QMenu, QWidget

_POINTER_PX = 16
"""Qt puts a tooltip so far below the place that it is given."""


class Menu(QMenu):
    """Its tooltips appear beside it: below the pointer they would cover the next entry."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            entry = self.actionGeometry(self.actionAt(event.pos()))
            beside = self.mapToGlobal(QPoint(self.width(), entry.top() - _POINTER_PX))
            return super().event(QHelpEvent(event.type(), event.pos(), beside))
        return super().event(event)
