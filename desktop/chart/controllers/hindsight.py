"""Past forecasts on the chart: its two layers, their actions and settings, and the reading in small pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from core.events import ForecastScored, Severity, TrainerReady
from core.settings import Settings
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.chart.controllers.reading import Reading
from desktop.chart.data.past_forecasts import PastReader
from desktop.chart.items.error_strip import ErrorStripLayer
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.panes.layer import Layer
from desktop.chart.widget import ChartWidget
from desktop.state import RunState
from desktop.translation import translate
from desktop.window import MainWindow


class Hindsight(QObject):
    """Feeds the chart's past forecasts from the run that is watched. The settings own what is shown."""

    def __init__(
        self, window: MainWindow, chart: ChartWidget, state: RunState, open_reader: Callable[[str], PastReader]
    ) -> None:
        super().__init__(window)
        self._window, self._chart, self._state, self._open_reader = window, chart, state, open_reader
        self._past = chart.model.past
        self._run_id: str | None = None
        self._layers: dict[Layer, bool] = {}
        self._hindsight, self._errors = HindsightLayer(), ErrorStripLayer()
        self._reading = Reading(self._past, state.clock, chart.layers_changed, self._give_up, self)
        self._wire()
        self._show(window.settings)

    def _wire(self) -> None:
        actions, state = self._window.actions_of_window, self._state
        actions.wire(
            {
                ActionId.HINDSIGHT: lambda: self._change(hindsight=actions[ActionId.HINDSIGHT].isChecked()),
                ActionId.ERROR_STRIP: lambda: self._change(error_strip=actions[ActionId.ERROR_STRIP].isChecked()),
                ActionId.HINDSIGHT_HORIZON: self._next_horizon,
            }
        )
        self._window.settings_shown.connect(self._show)
        state.run_changed.connect(self._on_run)
        state.ready.connect(self._on_ready)
        state.scored.connect(self._on_scored)
        state.forecast_changed.connect(self._on_forecast)
        state.checkpoints_changed.connect(self._past.forget_kept)
        self._chart.series_changed.connect(self._show_layers)

    def _change(self, **changes: object) -> None:
        settings = self._window.settings
        self._window.change_settings(replace(settings, chart=replace(settings.chart, **changes)))  # type: ignore[arg-type]

    def _next_horizon(self) -> None:
        """Also shows what it changes, where nothing was shown yet."""
        chosen, horizons = self._window.settings.chart, self._window.settings.model.horizons
        is_shown = chosen.hindsight or chosen.error_strip
        following = self._past.horizon % horizons + 1 if is_shown else self._past.horizon
        self._change(hindsight_horizon=following, hindsight=chosen.hindsight or not is_shown)

    @Slot(object)
    def _show(self, settings: Settings) -> None:
        chosen, actions = settings.chart, self._window.actions_of_window
        actions[ActionId.HINDSIGHT].setChecked(chosen.hindsight)
        actions[ActionId.ERROR_STRIP].setChecked(chosen.error_strip)
        self._past.set_horizon(min(chosen.hindsight_horizon, settings.model.horizons))
        self._show_layers()
        self._chart.layers_changed()

    @Slot()
    def _show_layers(self) -> None:
        """At another interval there are no errors: the strip's room is the candles', and the chart says why."""
        chosen, is_own = self._window.settings.chart, self._chart.model.other_interval is None
        self._show_layer(self._hindsight, is_shown=chosen.hindsight)
        self._show_layer(self._errors, is_shown=chosen.error_strip and is_own)

    def _show_layer(self, layer: Layer, *, is_shown: bool) -> None:
        if self._layers.get(layer, False) == is_shown:
            return
        self._layers[layer] = is_shown
        (self._chart.add_layer if is_shown else self._chart.remove_layer)(layer)

    @Slot()
    def _on_run(self) -> None:
        self._begin(self._state.run_id)

    @Slot(object)
    def _on_ready(self, ready: TrainerReady) -> None:
        if ready.run_id != self._run_id:
            self._begin(ready.run_id)

    def _begin(self, run_id: str | None) -> None:
        self._run_id = run_id
        reader = None if run_id is None else self._open_reader(run_id)
        self._past.begin(reader, self._state.interval_ms)
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
            self._past.remember(self._state.forecast)
        self._show_layers()

    def _give_up(self, error: StorageError) -> None:
        self._past.begin(None, self._state.interval_ms)
        self._window.tell(
            translate("Chart", "Past forecasts could not be read. {0}").format(error),
            Severity.WARNING,
            key="past forecasts",
        )
