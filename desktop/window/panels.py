"""The panels of the window's docks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStyle, QStyleOptionDockWidget, QStylePainter

from core.logs.reading import LogBook
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.dialogs.setting_texts import with_change
from desktop.jobs.panel import JobsPanel
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.events.panel import EventsPanel
from desktop.panels.gradients.panel import GradientsPanel
from desktop.panels.loss import LossPanel
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.panel_base import Panel
from desktop.ui.theme import Theme
from desktop.ui.translation import translate


class Panels(QObject):
    """The panels of all docks. Those that show settings follow and change them."""

    def __init__(
        self,
        state: RunState,
        theme: Theme,
        source: CheckpointSource,
        settings: SettingsStore,
        logs: LogBook,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self.curves = RunCurves(state, self)
        self.loss = LossPanel(state, theme, self.curves)
        self.gradients = GradientsPanel(state, theme, settings.current, self.curves)
        self.accuracy = AccuracyPanel(state, theme)
        self.checkpoints = CheckpointsPanel(source, theme)
        self.events = EventsPanel(state, logs, theme)
        self.markets = MarketsPanel(state, theme, settings.current.watchlist.markets)
        self.jobs = JobsPanel(state, theme)
        self._follow_settings()

    def titled(self) -> dict[ActionId, tuple[str, Panel]]:
        """Title and panel, by the action that shows it."""
        return {
            ActionId.SHOW_LOSS: (translate("Window", "Loss"), self.loss),
            ActionId.SHOW_GRADIENTS: (translate("Window", "Gradients"), self.gradients),
            ActionId.SHOW_ACCURACY: (translate("Window", "Accuracy"), self.accuracy),
            ActionId.SHOW_CHECKPOINTS: (translate("Window", "Checkpoints"), self.checkpoints),
            ActionId.SHOW_EVENTS: (translate("Window", "Events"), self.events),
            ActionId.SHOW_MARKETS: (translate("Window", "Markets"), self.markets),
            ActionId.SHOW_JOBS: (translate("Window", "Jobs"), self.jobs),
        }

    def _follow_settings(self) -> None:
        settings = self._settings
        settings.changed.connect(self._show_settings)
        self._show_settings(settings.current)
        self.gradients.card.change_requested.connect(
            lambda change: settings.change(with_change(settings.current, change))
        )
        self.checkpoints.arranged.connect(lambda browser: settings.change(replace(settings.current, browser=browser)))
        models = self.accuracy.details.models
        models.ghosts_requested.connect(lambda names: settings.change_chart(expert_ghosts=names))
        self.markets.markets_changed.connect(
            lambda markets: settings.change(
                replace(settings.current, watchlist=replace(settings.current.watchlist, markets=markets))
            )
        )

    def _show_settings(self, settings: Settings) -> None:
        self.gradients.card.show_settings(settings)
        self.markets.show_markets(settings.watchlist.markets)
        self.checkpoints.show_settings(settings.browser)
        self.accuracy.details.models.show_ticks(settings.chart.expert_ghosts)


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
    """Docks by the action that shows them. panels: title and panel. A hidden panel is stale when it is shown again."""
    docks: dict[ActionId, QDockWidget] = {}
    for action_id, (title, panel) in panels.items():
        dock = Dock(title, window)
        dock.setObjectName(f"dock_{action_id.key.removeprefix('show_')}")
        dock.setWidget(panel)
        dock.visibilityChanged.connect(panel.mark_stale)
        docks[action_id] = dock
    return docks
