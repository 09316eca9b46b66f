"""Whether the chart shows at which prices how much was traded: the settings own it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from core.settings import Settings
from desktop.actions import ActionId
from desktop.chart.items.volume_profile import VolumeProfileLayer
from desktop.chart.widget import ChartWidget
from desktop.window import MainWindow


class ChartVolumeProfile(QObject):
    """The action, the setting and the layer."""

    def __init__(self, window: MainWindow, chart: ChartWidget) -> None:
        super().__init__(window)
        self._window, self._chart = window, chart
        self._layer, self._is_shown = VolumeProfileLayer(), False
        window.actions_of_window.wire({ActionId.VOLUME_PROFILE: self._toggle})
        window.settings_shown.connect(self._show)
        self._show(window.settings)

    def _toggle(self) -> None:
        settings = self._window.settings
        is_wanted = self._window.actions_of_window[ActionId.VOLUME_PROFILE].isChecked()
        self._window.change_settings(replace(settings, chart=replace(settings.chart, volume_profile=is_wanted)))

    @Slot(object)
    def _show(self, settings: Settings) -> None:
        is_shown = settings.chart.volume_profile
        self._window.actions_of_window[ActionId.VOLUME_PROFILE].setChecked(is_shown)
        if is_shown != self._is_shown:
            self._is_shown = is_shown
            (self._chart.add_layer if is_shown else self._chart.remove_layer)(self._layer)
