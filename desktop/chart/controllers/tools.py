"""What is put on the chart by hand or about training: lines, drawings, a measure, markers, and their menu."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from core.clock import Clock
from core.market.candle import Candle, Market
from desktop.actions import ActionId
from desktop.actions.tool_table import CHART_PLACE
from desktop.chart.controllers.context_menu import ChartMenu
from desktop.chart.controllers.drawings import DRAWING_ACTIONS, ChartDrawings
from desktop.chart.controllers.lines import ChartLines
from desktop.chart.controllers.markers import ChartMarkers
from desktop.chart.controllers.measure import ChartMeasure
from desktop.chart.controllers.selection import ChartSelection
from desktop.chart.widget import ChartWidget
from desktop.database import WindowDatabase
from desktop.state import RunState
from desktop.window import MainWindow


class ChartTools(QObject):
    """Makes them, and sees that the mouse has one meaning at a time."""

    def __init__(
        self, window: MainWindow, chart: ChartWidget, state: RunState, database: WindowDatabase, clock: Clock
    ) -> None:
        super().__init__(chart)
        self._take_keys(window, chart)
        self.markers = ChartMarkers(window, chart, state)
        order = count()
        self.lines = ChartLines(window, chart, database, clock, order)
        # Asked before the lines: what is being drawn may begin on one.
        self.drawings = ChartDrawings(window, chart, database, clock, order, lambda: self.lines.is_placing)
        self.measure = ChartMeasure(window, chart)  # asked before both: what it waits for may lie over either
        ChartSelection(window, self.lines, self.drawings)
        self.menu = ChartMenu(chart)
        for part in (self.drawings.add_to_menu, self.lines.add_to_menu, self.measure.add_to_menu):
            self.menu.add(part)
        self._part_hands(window)

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Another market; `newest` is its newest stored candle."""
        self.menu.dismiss()
        self.measure.end()
        self.lines.show_market(market, newest)
        self.drawings.show_market(market)

    def see_forming(self, candle: Candle) -> None:
        """The forming candle as it stands now."""
        self.lines.see((candle,))

    def see_closed(self, candles: Sequence[Candle]) -> None:
        """Candles that have closed, in ascending time."""
        self.lines.see(candles)

    def _part_hands(self, window: MainWindow) -> None:
        """What begins ends what waits for the mouse."""
        lines, drawings, measure = self.lines.end, self.drawings.end, self.measure.end
        rivals = {ActionId.MEASURE: (lines, drawings)}
        rivals |= dict.fromkeys((ActionId.ADD_ALERT, ActionId.ADD_NOTE), (drawings, measure))
        rivals |= dict.fromkeys(DRAWING_ACTIONS, (lines, measure))
        for action_id, ends in rivals.items():
            for end in ends:
                window.actions_of_window[action_id].triggered.connect(end)

    @staticmethod
    def _take_keys(window: MainWindow, chart: ChartWidget) -> None:
        """What is done at a place of the chart has its keys while that has the focus: tables have their own."""
        for info in window.actions_of_window.infos():
            if info.place == CHART_PLACE:
                action: QAction = window.actions_of_window[info.id]
                window.removeAction(action)
                chart.addAction(action)
