"""The chart's context menu: each part of the chart says what can be done at the place where it was opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu

from desktop.chart.handling.tool import ChartPoint
from desktop.chart.widget import ChartWidget

MenuPart = Callable[[QMenu, ChartPoint], None]
"""Adds its entries for a place; none where it has nothing to say of it."""


class ChartMenu(QObject):
    """Opened by the right mouse button or the menu key."""

    def __init__(self, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._chart = chart
        self._parts: list[MenuPart] = []
        chart.installEventFilter(self)

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
        position = QPointF(event.pos())
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            position = self._place_of_newest()
        menu = self.build(self._chart.point_at(position))
        if menu.isEmpty():
            menu.deleteLater()
            return False
        menu.popup(self._chart.mapToGlobal(position.toPoint()))
        return True

    def _place_of_newest(self) -> QPointF:
        """Where the newest candle closes, or the middle of the plot while that is out of view."""
        frame, model = self._chart.frame, self._chart.model
        newest, index = model.newest, model.count if model.forming is not None else model.count - 1
        if newest is not None and frame.left <= index <= frame.right:
            return QPointF(frame.x(index) / frame.ratio, frame.y(newest.close) / frame.ratio)
        middle = frame.layout.plot.center()
        return QPointF(middle.x() / frame.ratio, middle.y() / frame.ratio)
