"""The chart's context menu: each part of the chart adds entries for the place where it was opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu

from desktop.actions import ActionId
from desktop.chart.controllers.drawings import DRAWING_KINDS
from desktop.chart.controllers.indicators import ChartIndicators
from desktop.chart.controllers.placed import ChartPlaced
from desktop.chart.data.anchors import bounded
from desktop.chart.tools.tool import Area, ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.icons import icon
from desktop.ui.translation import translate

_OF_PRICES = (ActionId.FIT_PRICES, ActionId.SCALE_LINEAR, ActionId.SCALE_LOG, ActionId.SCALE_PERCENT)
_OF_TIMES = (ActionId.GO_TO_NEWEST, ActionId.GO_TO_DATE)
_OF_ZONES = (ActionId.ZONE_LOCAL, ActionId.ZONE_UTC, ActionId.ZONE_EXCHANGE, ActionId.ZONE_OTHER)

MenuPart = Callable[[QMenu, ChartPoint], None]
"""Adds its entries for a place, or none."""


class ChartMenu(QObject):
    """Opened by the right mouse button or the menu key."""

    def __init__(self, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._chart = chart
        self._parts: list[MenuPart] = []
        for source in (chart, chart.viewport()):  # the menu key goes to the first, the mouse to the second
            source.installEventFilter(self)

    def add(self, part: MenuPart) -> None:
        self._parts.append(part)

    def dismiss(self) -> None:
        """Close the open menu when its market is no longer shown."""
        for menu in self._chart.findChildren(QMenu):
            menu.close()

    def build(self, at: ChartPoint) -> QMenu:
        """The menu for a place; empty if nothing applies."""
        menu = QMenu(self._chart)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for part in self._parts:
            before = len(menu.actions())
            part(menu, at)
            added = menu.actions()[before:]
            if before and added:
                menu.insertSeparator(added[0])
        return menu

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QContextMenuEvent) or self._chart.model.is_empty:
            return False
        position, at = QPointF(event.pos()), None
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            at = self._place_of_keys()
            position = at.position
        menu = self.build(at or self._chart.point_at(position))
        if menu.isEmpty():
            menu.deleteLater()
            return False
        self._chart.suppress_tooltips(is_suppressed=True)
        menu.aboutToHide.connect(lambda: self._chart.suppress_tooltips(is_suppressed=False))
        menu.popup(self._chart.mapToGlobal(position.toPoint()))
        return True

    def _place_of_keys(self) -> ChartPoint:
        """The exact close of the candle at the keyboard crosshair, or of the newest one. The middle of the plot if
        neither is visible."""
        frame, model = self._chart.frame, self._chart.model
        newest, pointed_at = model.newest, self._chart.key_mark
        if pointed_at is None and newest is not None:
            pointed_at = bounded(newest.open_time_ms, newest.close)
        index = None if pointed_at is None else model.index_from(pointed_at.time_ms)
        if pointed_at is not None and index is not None and frame.left <= index <= frame.right:
            place = QPointF(frame.x(index) / frame.ratio, frame.y(pointed_at.price) / frame.ratio)
            return self._chart.point_at(place, Qt.KeyboardModifier.ControlModifier)  # snap to the candle
        middle = frame.layout.plot.center()
        return self._chart.point_at(QPointF(middle.x() / frame.ratio, middle.y() / frame.ratio))


class PlaceMenu:
    """Adds entries at the axes, at an indicator, at a forecast, and elsewhere."""

    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        indicators: ChartIndicators,
        source: CheckpointSource,
        reveal_checkpoint: Callable[[str], object],
        placed: ChartPlaced | None = None,
    ) -> None:
        self._shell, self._chart, self._indicators, self._placed = shell, chart, indicators, placed
        self._source, self._reveal = source, reveal_checkpoint

    def add_axis(self, menu: QMenu, at: ChartPoint) -> None:
        """Entries for the axis under the pointer: scale and contents."""
        actions = self._shell.actions
        if at.area is Area.PRICE_AXIS and at.pane is at.frame.price_pane:
            menu.addActions([actions[action_id] for action_id in _OF_PRICES])
        elif at.area is Area.TIME_AXIS:
            menu.addActions([actions[action_id] for action_id in _OF_TIMES])
        if at.area in (Area.TIME_AXIS, Area.CORNER):
            menu.addSeparator()
            menu.addActions([actions[action_id] for action_id in _OF_ZONES])

    def add_plot(self, menu: QMenu, at: ChartPoint) -> None:
        """Entries for empty space among the prices: hide volume, reset the view, draw and add."""
        is_placed = self._placed is not None and self._placed.grip_at(at) is not None
        if not at.is_on_prices or is_placed or self._indicators.indicator_at(at) is not None:
            return
        actions, ink = self._shell.actions, self._chart.style_shown.palette.text
        if self._chart.style_shown.shows_volume and at.pixel.y() >= at.frame.volumes.top:
            words, change = translate("Chart", "Hide &volume"), self._shell.settings.change_chart
            menu.addAction(icon("chart-bar", ink), words, lambda: change(show_volume=False))
        drawings = menu.addMenu(icon("draw", ink), translate("Chart", "&Draw"))
        drawings.addActions([actions[action_id] for action_id in DRAWING_KINDS])
        menu.addAction(actions[ActionId.INDICATORS])
        menu.addSeparator()
        menu.addAction(actions[ActionId.FIT_PRICES])
        menu.addAction(icon("restore", ink), translate("Chart", "&Reset view"), self._chart.reset_view)
        menu.addAction(actions[ActionId.SAVE_PICTURE])

    def add_indicator(self, menu: QMenu, at: ChartPoint) -> None:
        """Entries for the indicator under the pointer: settings and removal."""
        indicator = self._indicators.indicator_at(at)
        if indicator is None:
            return
        name, ink = indicator.spec.label.replace("&", "&&"), self._chart.style_shown.palette.text
        settings, remove = translate("Chart", "&Settings of {0}…"), translate("Chart", "&Remove {0}")
        menu.addAction(icon("cog", ink), settings.format(name), lambda: self._indicators.set_up(indicator))
        menu.addAction(icon("delete-outline", ink), remove.format(name), lambda: self._indicators.remove(indicator))

    def add_checkpoint(self, menu: QMenu, at: ChartPoint) -> None:
        """Entry for the ghost or past candle under the pointer: the checkpoint of its forecast."""
        found = self._checkpoint_at(round(at.index)) if at.is_on_prices else None
        if found is None:
            return
        words, checkpoint_id = found
        ink = self._chart.style_shown.palette.text
        menu.addAction(icon("history", ink), words, lambda: self._reveal(checkpoint_id))

    def _checkpoint_at(self, index: int) -> tuple[str, str] | None:
        """Entry text and checkpoint id; None if no saved checkpoint applies."""
        model = self._chart.model
        own, nearest = translate("Chart", "&Checkpoint of this forecast: step {0}"), None
        past = model.past_forecast(index)
        if past is not None:
            nearest, made_by = model.past.nearest_kept(past), past.checkpoint_id
        elif model.forecast is not None and any(placed.index == index for placed in model.ghosts()):
            made_by = model.forecast.checkpoint_id
            nearest = next((each for each in self._source.checkpoints() if each.checkpoint_id == made_by), None)
        if nearest is None:
            return None
        words = own if nearest.checkpoint_id == made_by else translate("Chart", "Nearest &checkpoint kept: step {0}")
        return words.format(formatting.format_count(nearest.step)), nearest.checkpoint_id
