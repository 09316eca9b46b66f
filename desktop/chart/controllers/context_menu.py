"""The chart's context menu: each part of the chart says what can be done at the place where it was opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu

from desktop.chart.data.anchors import bounded
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget

MenuPart = Callable[[QMenu, ChartPoint], None]
"""Adds its entries for a place; none where it has nothing to say of it."""


class ChartMenu(QObject):
    """Opened by the right mouse button or the menu key."""

    def __init__(self, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._chart = chart
        self._parts: list[MenuPart] = []
        for source in (chart, chart.viewport()):  # the menu key comes to the one, the mouse to the other
            source.installEventFilter(self)

    def add(self, part: MenuPart) -> None:
        """Below the parts that are there, with a line between."""
        self._parts.append(part)

    def dismiss(self) -> None:
        """Close the one that is open: what it offers is of a market that is not shown any more."""
        for menu in self._chart.findChildren(QMenu):
            menu.close()

    def build(self, at: ChartPoint) -> QMenu:
        """The menu for a place; empty where nothing can be done."""
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
        menu.popup(self._chart.mapToGlobal(position.toPoint()))
        return True

    def _place_of_keys(self) -> ChartPoint:
        """Where a candle closes, exactly: that of the keys' crosshair, or the newest. The middle of the plot while
        neither is in view."""
        frame, model = self._chart.frame, self._chart.model
        newest, pointed_at = model.newest, self._chart.key_mark
        if pointed_at is None and newest is not None:
            pointed_at = bounded(newest.open_time_ms, newest.close)
        index = None if pointed_at is None else model.index_from(pointed_at.time_ms)
        if pointed_at is not None and index is not None and frame.left <= index <= frame.right:
            place = QPointF(frame.x(index) / frame.ratio, frame.y(pointed_at.price) / frame.ratio)
            return self._chart.point_at(place, Qt.KeyboardModifier.ControlModifier)  # as a hand snaps to a candle
        middle = frame.layout.plot.center()
        return self._chart.point_at(QPointF(middle.x() / frame.ratio, middle.y() / frame.ratio))
