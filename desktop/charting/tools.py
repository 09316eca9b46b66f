"""All that is drawn on the chart by hand or about training: lines, measuring, markers, and the menu that offers it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from core.clock import Clock
from core.market.candle import Candle, Market
from desktop.actions import ActionId
from desktop.chart.widget import ChartWidget
from desktop.charting.action_table import CHART_PLACE
from desktop.charting.context_menu import ChartMenu
from desktop.charting.lines import ChartLines
from desktop.charting.markers import ChartMarkers
from desktop.charting.measure import ChartMeasure
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
        self.lines = ChartLines(window, chart, database, clock)
        self.measure = ChartMeasure(window, chart)  # asked before the lines: what it waits for may lie over one
        self.menu = ChartMenu(chart)
        self.menu.add(self.lines.add_to_menu)
        self.menu.add(self.measure.add_to_menu)
        actions = window.actions_of_window
        actions[ActionId.MEASURE].triggered.connect(self.lines.end)
        for action_id in (ActionId.ADD_ALERT, ActionId.ADD_NOTE):
            actions[action_id].triggered.connect(self.measure.end)

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Another market; `newest` is its newest stored candle."""
        self.menu.dismiss()
        self.measure.end()
        self.lines.show_market(market, newest)

    def see_forming(self, candle: Candle) -> None:
        """The forming candle as it stands now."""
        self.lines.see((candle,))

    def see_closed(self, candles: Sequence[Candle]) -> None:
        """Candles that have closed, in ascending time."""
        self.lines.see(candles)

    @staticmethod
    def _take_keys(window: MainWindow, chart: ChartWidget) -> None:
        """What is done at a place of the chart has its keys while that has the focus: tables have their own."""
        for info in window.actions_of_window.infos():
            if info.place == CHART_PLACE:
                action: QAction = window.actions_of_window[info.id]
                window.removeAction(action)
                chart.addAction(action)
