"""Chart settings, the Chart menu and the chart itself: makes the three agree."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from core.market import time_zones
from core.settings import Settings
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.style import CandleStyle
from desktop.chart.widget import ChartWidget
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.zone import ZoneDialog
from desktop.window import MainWindow

_STYLES = {f"style_{style.value}": style for style in CandleStyle}
_ZONES = {f"zone_{name.lower()}": name for name in time_zones.OWN_NAMES}
_SCALES = {f"scale_{kind.value}": kind for kind in ScaleKind}


class ChartAppearance(QObject):
    """The settings are the owner; actions ask the window to change them, and what the window then shows comes here."""

    def __init__(self, window: MainWindow, chart: ChartWidget) -> None:
        super().__init__(window)
        self._window, self._chart = window, chart
        self._venue = ""
        self._wire()
        window.settings_shown.connect(self._show)
        self._show(window.settings)

    def set_venue(self, venue: str) -> None:
        """Another market: what "exchange" means as a time zone follows."""
        self._venue = venue
        self._show(self._window.settings)

    def open_zones(self) -> ZoneDialog:
        """Ask for a zone by its name."""
        dialog = ZoneDialog(self._window.settings.chart.time_zone, self._window)
        dialog.chosen.connect(lambda name: self._change(time_zone=name))
        dialog.finished.connect(lambda _result: self._show(self._window.settings))
        open_dialog(dialog)
        return dialog

    def _wire(self) -> None:
        actions = self._window.actions_of_window
        slots = {
            ActionId.GO_TO_NEWEST: self._chart.go_to_newest,
            ActionId.FIT_PRICES: self._chart.fit_prices,
            ActionId.SHOW_VOLUME: lambda: self._change(show_volume=actions[ActionId.SHOW_VOLUME].isChecked()),
            ActionId.SHOW_BANDS: lambda: self._change(show_bands=actions[ActionId.SHOW_BANDS].isChecked()),
        }
        for name, style in _STYLES.items():
            slots[ActionId(name)] = lambda style=style: self._change(candles=style.value)
        for name, zone in _ZONES.items():
            slots[ActionId(name)] = lambda zone=zone: self._change(time_zone=zone)
        slots[ActionId.ZONE_OTHER] = self.open_zones
        for name, kind in _SCALES.items():
            slots[ActionId(name)] = lambda kind=kind: self._change(scale=kind.value)
        actions.wire(slots)

    def _change(self, **changes: object) -> None:
        settings = self._window.settings
        self._window.change_settings(replace(settings, chart=replace(settings.chart, **changes)))  # type: ignore[arg-type]

    def _show(self, settings: Settings) -> None:
        chosen = settings.chart
        actions = self._window.actions_of_window
        actions[ActionId(f"style_{chosen.candles}")].setChecked(True)
        actions[ActionId(f"scale_{chosen.scale}")].setChecked(True)
        zone = f"zone_{chosen.time_zone.lower()}"
        actions[ActionId(zone) if zone in _ZONES else ActionId.ZONE_OTHER].setChecked(True)
        actions[ActionId.SHOW_VOLUME].setChecked(chosen.show_volume)
        actions[ActionId.SHOW_BANDS].setChecked(chosen.show_bands)
        self._chart.restyle(
            candles=CandleStyle(chosen.candles),
            scale=ScaleKind(chosen.scale),
            shows_volume=chosen.show_volume,
            shows_bands=chosen.show_bands,
            time_zone=time_zones.find(chosen.time_zone, self._venue),
        )
