"""One market of the Overview: a line above the chart itself."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock
from core.market.shown_names import shown_market
from core.settings.window import ChartSettings
from desktop.chart.style import chosen_style
from desktop.chart.widget import ChartWidget
from desktop.overview.heading import HeadingLine, name_of
from desktop.services.candle_loader import HistoryLoading
from desktop.state.markets import MarketRow
from desktop.ui.formatting import format_price
from desktop.ui.stacks import stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

CANDLES_SHOWN = 400
"""More than the widest tile shows."""
_SPACING_SHARE = 0.6
"""Distance between candles, as a share of the large chart's."""
_SMALL_LINES = 32
"""Width in heights of a line of text, below which the axes of the large chart would take a quarter of the tile."""
_FRAME_PX = 1
_NO_ROOM_FOR = dict.fromkeys(("shows_volume", "shows_chance", "shows_paths", "shows_readout"), False)
"""Fields of the chart's `Style`."""


class Tile(QWidget):
    """Shows a row of the markets and the candles before it. Its chart ignores the mouse: a click opens the market."""

    opened = Signal(object)
    """The tile: clicked."""

    def __init__(self, theme: Theme, clock: Clock, database: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self.row: MarketRow | None = None
        """The shown market; None: nothing."""
        self._theme, self._clock = theme, clock
        self._candles: tuple[Candle, ...] = ()
        self._is_on_chart = False
        self.history = HistoryLoading(database, self)
        self.history.later_loaded.connect(self._on_history)
        self.heading, self.chart = HeadingLine(), ChartWidget(theme, clock)
        self.chart.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.chart.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.chart.setMinimumSize(120, 60)
        stacked(self, self.heading, self.chart, stretched=self.chart, margins=(_FRAME_PX,) * 4, spacing=0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self._on_theme)

    def show_market(self, row: MarketRow, latest_ms: int | None) -> None:
        """Show this market from now on. latest_ms: opening time of its newest stored candle; None: it has none."""
        series = CandleSeries(row.market.interval)
        series.extend(row.candles)
        self.row, self._candles = row, row.candles
        self.setAccessibleName(name_of(row.market))
        self.chart.set_series(series, shown_market(row.market))
        self.chart.set_empty_text(translate("Chart", "Waiting for candles…"))
        self.chart.zoom(_SPACING_SHARE)
        self.show_row(row)
        if latest_ms is not None:
            self._read(latest_ms)

    def show_row(self, row: MarketRow) -> None:
        """Show the current state of the same market."""
        self.row = row
        if row.candles is not self._candles:
            self._append(row.candles)
        self.chart.set_forming(row.forming)
        if row.forecast is not self.chart.model.forecast:
            self.chart.set_forecast(row.forecast)
        self._show_heading()

    def show_nothing(self, sentence: str) -> None:
        """Empty the tile. sentence: shown in it; may be empty."""
        self.row, self._candles = None, ()
        self.setAccessibleName("")
        self.history.cancel()
        self.chart.set_series(CandleSeries(self.chart.model.whole.interval))
        self.chart.set_empty_text(sentence)
        self._show_heading()

    def mark_on_chart(self, *, is_on_chart: bool) -> None:
        """Whether its market is the one on the large chart."""
        if is_on_chart is not self._is_on_chart:
            self._is_on_chart = is_on_chart
            self._show_heading()

    def apply(self, chosen: ChartSettings) -> None:
        """Apply the settings of the large chart, as far as there is room."""
        venue = "" if self.row is None else self.row.market.venue
        self.chart.restyle(**chosen_style(chosen, venue) | _NO_ROOM_FOR)

    def end(self) -> bool:
        """Cancel reading. False if a thread still reads."""
        self.history.cancel()
        return self.history.wait()

    def in_words(self) -> str:
        """A description for screen readers."""
        lines = [] if self.heading.shown is None else [self.heading.shown.tooltip]
        return "\n".join([*lines, self.chart.in_words()])

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choose_axes()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._choose_axes()

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = self._theme.palette, QPainter(self)
        painter.fillRect(self.rect(), palette.outline if self.underMouse() else palette.border)
        painter.fillRect(self.rect().adjusted(_FRAME_PX, _FRAME_PX, -_FRAME_PX, -_FRAME_PX), palette.panel)
        painter.end()

    def _append(self, candles: tuple[Candle, ...]) -> None:
        """Add the newest candles; if more have closed, as in a catch-up, they are read from the database."""
        self._candles, series = candles, self.chart.model.whole
        newest_ms = int(series.open_time_ms[-1]) if len(series) else 0
        has_missed = bool(candles) and candles[0].open_time_ms > newest_ms + series.interval.duration_ms
        self.history.add(candles)
        series.extend(candles)
        self.chart.refresh()
        if has_missed:
            self._read(candles[-1].open_time_ms)

    def _read(self, latest_ms: int) -> None:
        if self.row is not None:
            market = self.row.market
            self.history.start(market, latest_ms - CANDLES_SHOWN * market.interval.duration_ms)

    @Slot(object)
    def _on_history(self, series: CandleSeries) -> None:
        series.extend(self._candles)
        self.chart.replace_series(series)
        self._show_heading()

    @Slot()
    def _on_theme(self) -> None:
        self._show_heading()
        self.update()

    def _choose_axes(self) -> None:
        self.chart.restyle(has_small_axes=self.width() < _SMALL_LINES * self.fontMetrics().height())

    def _show_heading(self) -> None:
        model = self.chart.model
        newest = model.newest
        self.heading.show_price("" if newest is None else format_price(newest.close, model.decimals()))
        self.heading.show_row(self.row, self._theme.palette, is_on_chart=self._is_on_chart)
