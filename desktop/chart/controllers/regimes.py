"""The market's regime on the chart: its shade, its key and setting, and the reading in small pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from core.events import Severity, TrainerReady
from core.settings import Settings
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.chart.controllers.reading import Reading
from desktop.chart.data.regimes import RegimeReader
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.widget import ChartWidget
from desktop.state import RunState
from desktop.translation import translate
from desktop.window import MainWindow


class Regimes(QObject):
    """Feeds the chart's regimes from the run that is watched. The settings own whether they are shown."""

    def __init__(
        self, window: MainWindow, chart: ChartWidget, state: RunState, open_reader: Callable[[str], RegimeReader]
    ) -> None:
        super().__init__(window)
        self._window, self._chart, self._state, self._open_reader = window, chart, state, open_reader
        self._track = chart.model.regimes
        self._run_id: str | None = None
        self._layer = RegimeLayer()
        self._is_shown = False
        self._reading = Reading(self._track, state.clock, chart.layers_changed, self._give_up, self)
        window.actions_of_window.wire({ActionId.REGIMES: self._toggle})
        window.settings_shown.connect(self._show)
        state.run_changed.connect(self._on_run)
        state.ready.connect(self._on_ready)
        state.forecast_changed.connect(self._on_forecast)
        self._show(window.settings)

    def _toggle(self) -> None:
        settings = self._window.settings
        is_wanted = self._window.actions_of_window[ActionId.REGIMES].isChecked()
        self._window.change_settings(replace(settings, chart=replace(settings.chart, regimes=is_wanted)))

    @Slot(object)
    def _show(self, settings: Settings) -> None:
        is_shown = settings.chart.regimes
        self._window.actions_of_window[ActionId.REGIMES].setChecked(is_shown)
        if is_shown != self._is_shown:
            self._is_shown = is_shown
            (self._chart.add_layer if is_shown else self._chart.remove_layer)(self._layer)

    @Slot()
    def _on_run(self) -> None:
        self._begin(self._state.run_id)

    @Slot(object)
    def _on_ready(self, ready: TrainerReady) -> None:
        if ready.run_id != self._run_id:
            self._begin(ready.run_id)

    def _begin(self, run_id: str | None) -> None:
        self._run_id = run_id
        self._track.begin(None if run_id is None else self._open_reader(run_id))
        self._chart.layers_changed()

    @Slot()
    def _on_forecast(self) -> None:
        before = self._track.version
        if self._state.forecast is not None:
            self._track.add(self._state.forecast)
        if self._is_shown and self._track.version != before:
            self._chart.layers_changed()

    def _give_up(self, error: StorageError) -> None:
        self._track.begin(None)
        self._window.tell(
            translate("Chart", "The market's past regimes could not be read. {0}").format(error),
            Severity.WARNING,
            key="regimes",
        )
