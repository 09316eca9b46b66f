"""Ghosts of single experts beside those of their combination, as the leaderboard's ticks ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from core.training.online.forecast_events import expert_ghosts
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.chart.widget import ChartWidget
from desktop.panels.accuracy.names import expert_name
from desktop.state.run_state import RunState
from desktop.ui.translation import translate


class ExpertGhosts(QObject):
    """Owns the layer. What it draws came with the newest committed forecast."""

    def __init__(self, chart: ChartWidget, state: RunState, parent: QObject) -> None:
        super().__init__(parent)
        self._chart, self._state = chart, state
        self._names: tuple[str, ...] = ()
        self.layer = PreviewLayer(translate("Chart", "Alone:"))
        chart.add_layer(self.layer)
        state.forecast_changed.connect(self._draw)

    @Slot(object)
    def show(self, names: Sequence[str]) -> None:
        """Draw the ghosts of these experts from now on, in this order; none hides them."""
        self._names = tuple(names)
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
        return [Preview(expert_name(name), replace(made, ghosts=ghosts)) for name, ghosts in drawn if ghosts]
