"""The watched run's record on the chart: past forecasts and market regimes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from core.domain.events import ForecastScored, Severity
from core.settings.tree import Settings
from core.storage.errors import StorageError
from core.storage.record_reader import RecordReader
from desktop.actions import ActionId
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.panes.layer import Layer
from desktop.chart.widget import ChartWidget
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui.translation import translate

_TURN_S = 0.004
"""Longest read per event-loop turn: painting keeps the rest of its 16 ms."""


class ChartPast(QObject):
    """Feeds the chart from events, and reads requested blocks in small pieces between frames. The settings own what is
    shown."""

    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        state: RunState,
        source: CheckpointSource,
        open_reader: Callable[[str], RecordReader],
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._state, self._open_reader = shell, chart, state, open_reader
        self._past, self._regimes = chart.model.past, chart.model.regimes
        self._past.nearest_checkpoint = source.nearest
        self._layers: dict[str, Layer] = {
            "hindsight": HindsightLayer(),
            "regimes": RegimeLayer(),
        }
        """Layers by the setting that shows them."""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._read)
        self._past.on_wanted = self._regimes.on_wanted = self._timer.start
        self._wire()
        self._show(shell.settings.current)

    def _wire(self) -> None:
        shell, state = self._shell, self._state
        shell.actions.wire({ActionId.HINDSIGHT_HORIZON: self._next_horizon})
        shell.settings.changed.connect(self._show)
        state.record_changed.connect(self._on_record)
        state.scored.connect(self._on_scored)
        state.forecast_changed.connect(self._on_forecast)
        self._chart.series_changed.connect(self._show_layers)

    def _next_horizon(self) -> None:
        """Choose the next horizon, and show past forecasts if they are hidden."""
        chosen, horizons = self._shell.settings.current.chart, self._shell.settings.current.model.horizons
        following = self._past.horizon % horizons + 1 if chosen.hindsight else self._past.horizon
        self._shell.settings.change_chart(hindsight_horizon=following, hindsight=True)

    @Slot(object)
    def _show(self, settings: Settings) -> None:
        self._past.set_horizon(min(settings.chart.hindsight_horizon, settings.model.horizons))
        self._show_layers()
        self._chart.layers_changed()

    @Slot()
    def _show_layers(self) -> None:
        chosen = self._shell.settings.current.chart
        for name, layer in self._layers.items():
            self._chart.show_layer(layer, is_shown=getattr(chosen, name))

    @Slot()
    def _on_record(self) -> None:
        run_id = self._state.run_id
        reader = None if run_id is None else self._open_reader(run_id)
        self._past.begin(reader, self._state.interval_ms)
        self._regimes.begin(reader)
        self._show_layers()
        self._chart.layers_changed()

    @Slot(object)
    def _on_scored(self, scored: ForecastScored) -> None:
        before = self._past.version
        self._past.add(scored)
        if self._past.version != before:
            self._chart.layers_changed()

    @Slot()
    def _on_forecast(self) -> None:
        if self._state.forecast is not None:
            self._regimes.add(self._state.forecast)
        self._show_layers()
        self._chart.layers_changed()

    @Slot()
    def _read(self) -> None:
        """Read outside of painting and mouse handling; results appear with the next frame."""
        clock = self._state.clock
        until = clock.monotonic_s() + _TURN_S
        try:
            while (self._past.load_next() or self._regimes.load_next()) and clock.monotonic_s() < until:
                pass
        except StorageError as error:
            self._past.begin(None, self._state.interval_ms)
            self._regimes.begin(None)
            words = translate("Chart", "Past forecasts could not be read. {0}").format(error)
            self._shell.banner.notify(words, Severity.WARNING, key="past forecasts")
        self._chart.layers_changed()
        if self._past.is_waiting or self._regimes.is_waiting:
            self._timer.start()
