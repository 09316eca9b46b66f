"""Ghosts of single experts beside those of their combination, as the leaderboard's ticks ask for them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from core.settings.tree import Settings
from core.training.online.forecast_events import expert_ghosts
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.chart.widget import ChartWidget
from desktop.panels.accuracy.names import expert_name
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.translation import translate


class ExpertGhosts(QObject):
    """Owns the layer. Which experts are drawn is a setting; what is drawn came with the newest committed forecast."""

    def __init__(self, chart: ChartWidget, state: RunState, settings: SettingsStore, parent: QObject) -> None:
        super().__init__(parent)
        self._chart, self._state = chart, state
        self._names: tuple[str, ...] = ()
        self.layer = PreviewLayer(translate("Chart", "Alone:"))
        chart.add_layer(self.layer)
        state.forecast_changed.connect(self._draw)
        settings.changed.connect(self._show_settings)
        self._show_settings(settings.current)

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        if settings.chart.expert_ghosts != self._names:
            self._names = settings.chart.expert_ghosts
            self._draw()

    @Slot()
    def _draw(self) -> None:
        previews = self._previews()
        if previews or self.layer.shown:
            self.layer.show_previews(previews)
            self._chart.layers_changed()

    def _previews(self) -> list[Preview]:
        made, market = self._state.forecast, self._state.market
        if made is None or market is None:
            return []
        drawn = ((name, expert_ghosts(made, name, market.interval)) for name in self._names)
        return [
            Preview(expert_name(name), replace(made, ghosts=ghosts), colour)
            for colour, (name, ghosts) in enumerate(drawn)
            if ghosts
        ]
