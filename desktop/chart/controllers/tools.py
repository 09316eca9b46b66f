"""Lines, drawings, the measure and markers on the chart, and their menu."""

from __future__ import annotations

from PySide6.QtCore import QObject

from core.domain.candle import Candle, Market
from core.domain.drawings import Drawing
from core.domain.price_lines import PriceLine
from desktop.chart.controllers.context_menu import ChartMenu
from desktop.chart.controllers.drawings import ChartDrawings
from desktop.chart.controllers.lines import ChartLines
from desktop.chart.controllers.markers import ChartMarkers
from desktop.chart.controllers.measure import ChartMeasure
from desktop.chart.controllers.placed import ChartPlaced
from desktop.chart.controllers.placed_store import Book
from desktop.chart.widget import ChartWidget
from desktop.notifications.messages import DesktopMessages
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.shell import Shell


class ChartTools(QObject):
    """Creates and connects them."""

    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        state: RunState,
        source: CheckpointSource,
        messages: DesktopMessages,
        database: WindowDatabase,
    ) -> None:
        super().__init__(chart)
        for action_id in shell.actions.ids():
            if action_id.info.place:  # active only with the chart focused: tables use the same keys
                shell.window.removeAction(shell.actions[action_id])
                chart.addAction(shell.actions[action_id])
        clock = state.clock
        self.markers = ChartMarkers(shell, chart, state, source)
        self.book = Book(
            {PriceLine: lambda: database.lines, Drawing: lambda: database.drawings}, shell.banner.notify_storage_error
        )
        self.lines = ChartLines(shell, chart, self.book, clock, messages)
        self.drawings = ChartDrawings(shell, chart, self.book, clock)
        self.measure = ChartMeasure(shell, chart, self.book)
        self.placed = ChartPlaced(shell, chart, self.book, (self.measure, self.drawings, self.lines))
        self.menu = ChartMenu(chart)
        for part in (self.placed.add_to_menu, self.lines.add_new_to_menu, self.measure.add_new_to_menu):
            self.menu.add(part)

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Show another market; `newest` is its newest stored candle."""
        self.menu.dismiss()
        self.placed.open(market)
        self.lines.show_market(market, newest)
