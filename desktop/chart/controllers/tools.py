"""What is put on the chart by hand or about training: lines, drawings, a measure, markers, and their menu."""

from __future__ import annotations

from PySide6.QtCore import QObject

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.drawings import Drawing
from core.domain.price_lines import PriceLine
from desktop.actions.tool_table import CHART_PLACE
from desktop.chart.controllers.book import Book
from desktop.chart.controllers.context_menu import ChartMenu
from desktop.chart.controllers.drawings import ChartDrawings
from desktop.chart.controllers.lines import ChartLines
from desktop.chart.controllers.markers import ChartMarkers
from desktop.chart.controllers.measure import ChartMeasure
from desktop.chart.controllers.placed import ChartPlaced
from desktop.chart.widget import ChartWidget
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.window.main_window import MainWindow


class ChartTools(QObject):
    """Makes them."""

    def __init__(
        self, window: MainWindow, chart: ChartWidget, state: RunState, database: WindowDatabase, clock: Clock
    ) -> None:
        super().__init__(chart)
        for info in window.actions_of_window.infos():
            if info.place == CHART_PLACE:  # its keys are the chart's while that has the focus: tables have their own
                window.removeAction(window.actions_of_window[info.id])
                chart.addAction(window.actions_of_window[info.id])
        self.markers = ChartMarkers(window, chart, state)
        self.book = Book(
            {PriceLine: lambda: database.lines, Drawing: lambda: database.drawings},
            lambda sentence: window.notices.storage_trouble(sentence),
        )
        self.lines = ChartLines(window, chart, self.book, clock)
        self.drawings = ChartDrawings(window, chart, self.book, clock)
        self.measure = ChartMeasure(window, chart, self.book)
        self.placed = ChartPlaced(window, chart, self.book, (self.measure, self.drawings, self.lines))
        self.menu = ChartMenu(chart)
        for part in (self.placed.add_to_menu, self.lines.add_new_to_menu, self.measure.add_new_to_menu):
            self.menu.add(part)

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Another market; `newest` is its newest stored candle."""
        self.menu.dismiss()
        self.placed.open(market)
        self.lines.show_market(market, newest)
