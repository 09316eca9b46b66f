"""What the chart's menu offers at its axes, at an indicator, and where a forecast stands."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu

from desktop import formatting
from desktop.actions import ActionId
from desktop.chart.controllers.studies import ChartStudies
from desktop.chart.items.error_strip import ERROR_PANE
from desktop.chart.tools.tool import Area, ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.icons import icon
from desktop.translation import translate
from desktop.window import MainWindow

_OF_PRICES = (ActionId.FIT_PRICES, ActionId.SCALE_LINEAR, ActionId.SCALE_LOG, ActionId.SCALE_PERCENT)
_OF_TIMES = (ActionId.GO_TO_NEWEST, ActionId.GO_TO_DATE)
_OF_ZONES = (ActionId.ZONE_LOCAL, ActionId.ZONE_UTC, ActionId.ZONE_EXCHANGE, ActionId.ZONE_OTHER)


class PlaceMenu:
    """Its parts are asked in the order of the menu; each adds nothing where it has nothing to say."""

    def __init__(self, window: MainWindow, chart: ChartWidget, studies: ChartStudies) -> None:
        self._window, self._chart, self._studies = window, chart, studies

    def add_axis(self, menu: QMenu, at: ChartPoint) -> None:
        """Of the axis under the pointer: how it is divided, and what it shows."""
        actions = self._window.actions_of_window
        if at.area is Area.PRICE_AXIS and at.pane is at.frame.price_pane:
            menu.addActions([actions[action_id] for action_id in _OF_PRICES])
        elif at.area is Area.TIME_AXIS:
            menu.addActions([actions[action_id] for action_id in _OF_TIMES])
        if at.area in (Area.TIME_AXIS, Area.CORNER):
            menu.addSeparator()
            menu.addActions([actions[action_id] for action_id in _OF_ZONES])

    def add_indicator(self, menu: QMenu, at: ChartPoint) -> None:
        """Of the indicator under the pointer: its settings, and off with it."""
        if at.area in (Area.PLOT, Area.PRICE_AXIS) and at.pane.name == ERROR_PANE:
            menu.addAction(self._window.actions_of_window[ActionId.ERROR_STRIP])
        study = self._studies.study_at(at)
        if study is None:
            return
        name, ink = study.spec.label.replace("&", "&&"), self._chart.style_shown.palette.text
        settings = menu.addAction(icon("cog", ink), translate("Chart", "&Settings of {0}…").format(name))
        settings.triggered.connect(lambda: self._studies.set_up(study))
        remove = menu.addAction(icon("delete-outline", ink), translate("Chart", "&Remove {0}").format(name))
        remove.triggered.connect(lambda: self._studies.remove(study))

    def add_checkpoint(self, menu: QMenu, at: ChartPoint) -> None:
        """Of the ghost or the past candle under the pointer: the checkpoint that its forecast comes from."""
        found = self._checkpoint_at(round(at.index)) if at.is_on_prices else None
        if found is None:
            return
        words, checkpoint_id = found
        ink = self._chart.style_shown.palette.text
        menu.addAction(icon("history", ink), words).triggered.connect(lambda: self._reveal(checkpoint_id))

    def _checkpoint_at(self, index: int) -> tuple[str, str] | None:
        """What the entry says, and the checkpoint's id; None where no checkpoint that is kept has to do with it."""
        model = self._chart.model
        own, nearest = translate("Chart", "&Checkpoint of this forecast: step {0}"), None
        past = model.past_forecast(index)
        if past is not None:
            nearest, made_by = past.kept, past.checkpoint_id
        elif model.forecast is not None and any(placed.index == index for placed in model.ghosts()):
            made_by = model.forecast.checkpoint_id
            known = (each for each in self._window.source.checkpoints() if each.checkpoint_id == made_by)
            nearest = next(((each.step, each.checkpoint_id) for each in known), None)
        if nearest is None:
            return None
        step, checkpoint_id = nearest
        words = own if checkpoint_id == made_by else translate("Chart", "Nearest &checkpoint kept: step {0}")
        return words.format(formatting.format_count(step)), checkpoint_id

    def _reveal(self, checkpoint_id: str) -> None:
        self._window.show_dock(ActionId.SHOW_CHECKPOINTS)
        self._window.checkpoints.reveal(checkpoint_id)
