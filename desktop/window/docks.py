"""The docks of the panels."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStyle, QStyleOptionDockWidget, QStylePainter

from desktop.actions import ActionId
from desktop.ui.panel_base import Panel


class Dock(QDockWidget):
    """Draws its title in its current font: Qt uses the font from when the dock was made."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.isFloating():
            super().paintEvent(event)
            return
        option = QStyleOptionDockWidget()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_DockWidgetTitle, option)
        painter.end()


def in_docks(window: QMainWindow, panels: Mapping[ActionId, tuple[str, Panel]]) -> dict[ActionId, QDockWidget]:
    """By the action that shows it. panels: title and panel. A hidden panel is stale when it is shown again."""
    docks: dict[ActionId, QDockWidget] = {}
    for action_id, (title, panel) in panels.items():
        dock = Dock(title, window)
        dock.setObjectName(f"dock_{action_id.key.removeprefix('show_')}")
        dock.setWidget(panel)
        dock.visibilityChanged.connect(panel.mark_stale)
        docks[action_id] = dock
    return docks
