"""Each panel in a dock of its own."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QDockWidget, QMainWindow

from desktop.actions import ActionId
from desktop.panels.base import Panel


def in_docks(window: QMainWindow, panels: Mapping[ActionId, tuple[str, Panel]]) -> dict[ActionId, QDockWidget]:
    """By the action that shows it; panels: title and panel. A panel that was hidden is stale when it is shown again."""
    docks = {}
    for action_id, (title, panel) in panels.items():
        dock = QDockWidget(title, window)
        dock.setObjectName(f"dock_{action_id.value.removeprefix('show_')}")
        dock.setWidget(panel)
        dock.visibilityChanged.connect(panel.mark_stale)
        docks[action_id] = dock
    return docks
