"""Keeps chart settings, the Chart menu and the chart itself consistent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from core.domain import time_zones
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from core.settings.window import ChartSettings
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.forecast import FuturesLayer
from desktop.chart.items.volume_profile import VolumeProfileLayer
from desktop.chart.style import CandleStyle, chosen_style
from desktop.chart.widget import ChartWidget
from desktop.dialogs.date import DateDialog, ZoneDialog
from desktop.dialogs.messages import open_dialog
from desktop.state.shell import Shell
from desktop.ui.formatting import format_time
from desktop.ui.translation import translate

_CHOICES = {
    **{ActionId[f"STYLE_{style.name}"]: ("candles", style.value) for style in CandleStyle},
    **{ActionId[f"ZONE_{name.upper()}"]: ("time_zone", name) for name in time_zones.OWN_NAMES},
    **{ActionId[f"SCALE_{kind.name}"]: ("scale", kind.value) for kind in ScaleKind},
}
"""The setting that each of these actions selects, and its value."""
_SWITCHES = {
    ActionId[name.upper()]: name
    for name, info in all_field_infos(ChartSettings).items()
    if info.annotation is bool and name.upper() in ActionId.__members__
}
"""The setting that each of these actions toggles: the action has its name."""


class ChartAppearance(QObject):
    """The settings store owns the values; actions change it, and its changes are shown here."""

    def __init__(self, shell: Shell, chart: ChartWidget) -> None:
        super().__init__(shell.window)
        self._shell, self._chart = shell, chart
        self._venue = ""
        self._profile, self._futures = VolumeProfileLayer(), FuturesLayer()
        slots: dict[ActionId, Callable[[], object]] = {
            ActionId.GO_TO_NEWEST: chart.go_to_newest,
            ActionId.GO_TO_DATE: self.open_date,
            ActionId.FIT_PRICES: chart.fit_prices,
            ActionId.ZONE_OTHER: self.open_zones,
        }
        change = shell.settings.change_chart
        slots |= {action_id: partial(change, **{name: value}) for action_id, (name, value) in _CHOICES.items()}
        slots |= {action_id: partial(self._switch, action_id) for action_id in _SWITCHES}
        shell.actions.wire(slots)
        shell.settings.changed.connect(self._show)
        self._show(shell.settings.current)

    def set_venue(self, venue: str) -> None:
        """Set the market's exchange, for the exchange's time zone."""
        self._venue = venue
        self._show(self._shell.settings.current)

    def open_zones(self) -> ZoneDialog:
        dialog = ZoneDialog(self._shell.settings.current.chart.time_zone, self._shell.window)
        dialog.chosen.connect(lambda name: self._shell.settings.change_chart(time_zone=name))
        dialog.finished.connect(lambda _result: self._show(self._shell.settings.current))
        return open_dialog(dialog)

    def open_date(self) -> DateDialog | None:
        """Open the dialog for a date to go to, initially the date in the middle of the view. None without a closed
        candle."""
        model, scale, zone = self._chart.model, self._chart.scale, self._chart.style_shown.time_zone
        newest = model.count - 1
        middle = min(max(round((scale.left + scale.right) / 2), 0), newest)
        shown_ms = model.time_at(middle)
        if shown_ms is None:
            self._shell.banner.notify(_no_date_words(is_empty=model.is_empty), key="go to date", is_answer=True)
            return None
        first, last = (format_time(model.time_at(index), zone) for index in (0, newest))
        text = translate("Dialogs", "Candles are available from {0} to {1}.").format(first, last)
        dialog = DateDialog(shown_ms, text, zone, self._chart.go_to_time, self._shell.window)
        return open_dialog(dialog)

    def _switch(self, action_id: ActionId) -> None:
        is_on = self._shell.actions[action_id].isChecked()
        self._shell.settings.change_chart(**{_SWITCHES[action_id]: is_on})

    def _show(self, settings: Settings) -> None:
        chosen = settings.chart
        actions = self._shell.actions
        actions[ActionId.ZONE_OTHER].setChecked(True)  # unless another one is checked below
        for action_id, (setting, value) in _CHOICES.items():
            if str(getattr(chosen, setting)).lower() == value.lower():
                actions[action_id].setChecked(True)
        for action_id, setting in _SWITCHES.items():
            actions[action_id].setChecked(getattr(chosen, setting))
        self._chart.restyle(**chosen_style(chosen, self._venue))
        self._chart.show_layer(self._profile, is_shown=chosen.volume_profile)
        self._chart.show_layer(self._futures, is_shown=chosen.show_chance or chosen.sample_paths)


def _no_date_words(*, is_empty: bool) -> str:
    if is_empty:
        return translate("Dialogs", "The chart has no candles yet.")
    return translate(
        "Dialogs",
        "No candle has closed on this chart yet, so there is no date to go to. Try again when the first one has.",
    )
