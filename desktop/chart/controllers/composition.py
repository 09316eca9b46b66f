"""The controllers between the chart and the rest of the window, composed for program and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent

from core.domain.candle import Candle, Market
from core.market.feeds.base import MissingCandles
from core.market.pipeline import FeedReport
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.online.forecast_events import expert_ghosts
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.candles import ChartCandles
from desktop.chart.controllers.comparison import ChartComparison
from desktop.chart.controllers.context_menu import ChartMenu, PlaceMenu
from desktop.chart.controllers.drawings import ChartDrawings
from desktop.chart.controllers.indicators import ChartIndicators
from desktop.chart.controllers.insides import ChartInsides
from desktop.chart.controllers.markers import ChartMarkers
from desktop.chart.controllers.market_bar import MarketBar
from desktop.chart.controllers.measure import ChartMeasure
from desktop.chart.controllers.past import ChartPast
from desktop.chart.controllers.placed import ChartPlaced
from desktop.chart.controllers.placed_store import PlacedStore
from desktop.chart.controllers.price_lines import ChartPriceLines
from desktop.chart.controllers.saving import ChartSaving
from desktop.chart.controllers.time_travel import TimeTravel
from desktop.chart.controllers.tool_strip import ToolStrip
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.chart.labels.forecast import legend_text
from desktop.chart.tools.tool import ChartPoint, Tool
from desktop.chart.widget import ChartWidget
from desktop.notifications.messages import DesktopMessages
from desktop.panels.accuracy.words import expert_name
from desktop.services.candle_loader import HistoryLoading
from desktop.services.chance_reader import learned_chances
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.shell import Shell
from desktop.state.training_words import stale_words
from desktop.ui.theme import Theme
from desktop.ui.translation import translate


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
        clock = state.clock
        self.markers = ChartMarkers(shell, chart, state, source)
        self.placed_store = PlacedStore(database, shell.banner.notify_storage_error)
        self.lines = ChartPriceLines(shell, chart, self.placed_store, clock, messages)
        self.drawings = ChartDrawings(shell, chart, self.placed_store, clock)
        self.measure = ChartMeasure(shell, chart, self.placed_store)
        self.placed = ChartPlaced(shell, chart, self.placed_store, (self.measure, self.drawings, self.lines))
        self.menu = ChartMenu(chart)
        for part in (self.placed.add_to_menu, self.lines.add_new_to_menu, self.measure.add_new_to_menu):
            self.menu.add(part)
        shell.window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape that nothing with the focus has used ends the placing of a line."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if not is_escape or event.type() != QEvent.Type.KeyPress or self.placed.placing is None:
            return False
        self.placed.stop()
        return True

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Show another market; `newest` is its newest stored candle."""
        self.menu.dismiss()
        self.placed.open(market)
        self.lines.show_market(market, newest)


_FORECAST_WITHIN_MS = 250
"""Delay after a candle has closed; a note shown more briefly would only flicker."""


class ChartEnsemble(QObject):
    """Passes on the feed's candles of the watched market; its parts follow settings and state by themselves.

    open_reader: the record of a run, by its id. Its parts belong to the window. Before the window is deleted,
    end the reading of candles (`cancel_reading` and `wait_for_reading`) and `saving` (`finish`).
    """

    incident_chosen = Signal(object)
    """Incident: its marker was clicked."""
    checkpoint_chosen = Signal(str)
    """A checkpoint's id: its marker was clicked or its menu entry chosen."""

    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        state: RunState,
        source: CheckpointSource,
        messages: DesktopMessages,
        database: WindowDatabase,
        folder: DataFolder,
        open_reader: Callable[[str], RecordReader],
        theme: Theme,
    ) -> None:
        super().__init__(shell.window)
        self._state, self._chart = state, chart
        chart.model.futures.learned_of = learned_chances(folder.database)
        self.bar = MarketBar(shell.actions, chart, theme)
        self.strip = ToolStrip(shell, chart)
        self.saving = ChartSaving(shell, chart, state.clock)
        self.indicators = indicators = ChartIndicators(shell, chart)
        self.travel = TimeTravel(shell, chart, state, open_reader)
        self.tools = ChartTools(shell, chart, state, source, messages, database)
        place = PlaceMenu(shell, chart, indicators, source, self.checkpoint_chosen.emit, self.tools.placed)
        parts = (self.travel.add_to_menu, place.add_checkpoint, place.add_indicator, place.add_axis, place.add_plot)
        for part in parts:
            self.tools.menu.add(part)
        ChartPast(shell, chart, state, source, open_reader)
        self._insides = ChartInsides(chart, database, self)
        self.experts = ExpertGhosts(chart, state, shell.settings, self)
        self._appearance = ChartAppearance(shell, chart)
        ForecastNote(state, chart, shell.settings)
        self.history = HistoryLoading(folder.database, self)
        self.candles = ChartCandles(shell, chart, database, self.history)
        self.comparison = ChartComparison(shell, chart, database, HistoryLoading(folder.database, self))
        self.tools.markers.incident_chosen.connect(self.incident_chosen)
        self.tools.markers.checkpoint_chosen.connect(self.checkpoint_chosen)
        state.forecast_changed.connect(self._on_forecast)
        chart.series_changed.connect(self._on_series)
        state.markets.closed.connect(self._on_closed)
        state.markets.corrected.connect(self._on_corrected)
        state.markets.forming_changed.connect(self._on_forming)
        state.markets.reported.connect(self._on_report)

    def show_market(self, market: Market) -> None:
        """Show the stored candles, lines, forming candle and forecast of the state's market instead of the previous
        one's. The database is open."""
        self._appearance.set_venue(market.venue)
        self.candles.show_market(market)
        self._insides.show_market(market)
        self.bar.show_market(market)
        stored = self.candles.stored
        self.tools.show_market(market, stored[-1] if len(stored) else None)
        self.comparison.show_market(market)
        if (forming := self._state.markets.row(market).forming) is not None:
            self._on_forming(market, forming)
        self._on_forecast()

    def reload(self, market: Market) -> None:
        """Stored candles of a market have changed: read them again, if they are shown."""
        self.candles.reload(market)
        self.comparison.reload(market)

    def stop(self) -> None:
        """Stop all timers that read from the database."""
        self.travel.stop()
        self._insides.stop()
        self.tools.markers.stop()

    def cancel_reading(self) -> None:
        """Cancel the read of stored candles. Does not wait."""
        self.history.cancel()
        self.comparison.history.cancel()

    def wait_for_reading(self) -> bool:
        """Wait until no thread reads candles. False on a timeout."""
        return all([self.history.wait(), self.comparison.history.wait()])

    @Slot(object, object)
    def _on_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        if market == self._state.market:
            self.candles.add(candles)
            self.comparison.read_on()
            self.tools.lines.see(candles)
            self.travel.present()

    @Slot(object, object)
    def _on_corrected(self, market: Market, candle: Candle) -> None:
        """A corrected candle's former prices are history and trigger no alert."""
        if market == self._state.market:
            self.candles.add((candle,))

    @Slot(object, object)
    def _on_report(self, market: Market, report: FeedReport) -> None:
        """Show the candles that the exchange does not have."""
        if market == self._state.market and isinstance(report, MissingCandles):
            self.candles.add_hole(report)

    @Slot(object, object)
    def _on_forming(self, market: Market, candle: Candle) -> None:
        if market == self._state.market:
            self.candles.set_forming(candle)
            self.tools.lines.see((candle,))

    @Slot()
    def _on_series(self) -> None:
        self.bar.show_interval(self._chart.model.series.interval)

    @Slot()
    def _on_forecast(self) -> None:
        self._chart.set_forecast(self._state.shown_forecast)


class ForecastNote(QObject, Tool):
    """Shows beside the forecast why it is old or missing, else what ghosts and bands mean, until a click on that. Lets
    the forecast grow old by the exchange's clock."""

    def __init__(self, state: RunState, chart: ChartWidget, settings: SettingsStore) -> None:
        super().__init__(chart)
        self._state, self._chart, self._settings = state, chart, settings
        chart.add_tool(self)
        settings.changed.connect(self.refresh)
        changes = (state.status_changed, state.forecast_changed, state.jobs_changed)
        for signal in (*changes, state.record_changed, state.feed_changed, chart.series_changed, chart.computed):
            signal.connect(self.refresh)
        self._seconds = QTimer(self, interval=1_000)
        self._seconds.timeout.connect(self.refresh)
        self._after_close = QTimer(self, singleShot=True, interval=_FORECAST_WITHIN_MS)
        self._after_close.timeout.connect(self.refresh)
        chart.candles_changed.connect(self._on_candles)

    @Slot()
    def _on_candles(self) -> None:
        """Update the note, as new candles may pass the forecast: the first one after a weekend passes all ghosts at
        once."""
        if not self._after_close.isActive():
            self._after_close.start()

    @Slot()
    def refresh(self) -> None:
        """Update note and age; called once a second while an exchange's candles are awaited."""
        now_ms = self._state.feed_record.exchange_time_ms
        self._chart.set_market_time(now_ms)
        if now_ms is None or self._state.shown_forecast is None:
            self._seconds.stop()
        elif not self._seconds.isActive():
            self._seconds.start()
        model, zone = self._chart.model, self._chart.style_shown.time_zone
        is_other = model.other_interval is not None
        words = stale_words(self._state, model.whole, zone, is_other_interval=is_other)
        if not words and self._settings.current.chart.show_legend and model.ghosts():
            words = legend_text(self._chart.model, self._chart.style_shown)
        self._chart.set_note(words)

    def press(self, at: ChartPoint) -> bool:
        """A click on the legend hides it for good."""
        is_on_legend = self._is_on_legend(at)
        if is_on_legend:
            self._settings.change_chart(show_legend=False)
        return is_on_legend

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.PointingHandCursor if self._is_on_legend(at) else None

    def _is_on_legend(self, at: ChartPoint) -> bool:
        note = self._chart.overlay.note
        is_legend = self._chart.model.note == legend_text(self._chart.model, self._chart.style_shown)
        return is_legend and note is not None and note.rect.contains(at.pixel)


class ExpertGhosts(QObject):
    """Owns the layer. Which experts are drawn is a setting; what is drawn came with the newest committed forecast."""

    def __init__(self, chart: ChartWidget, state: RunState, settings: SettingsStore, parent: QObject) -> None:
        super().__init__(parent)
        self._chart, self._state = chart, state
        self._names: tuple[str, ...] = ()
        self.layer = PreviewLayer(translate("Chart", "Alone:"))
        chart.add_layer(self.layer)
        state.forecast_changed.connect(self._draw)
        settings.changed.connect(self._show_settings)
        self._show_settings(settings.current)

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        if settings.chart.expert_ghosts != self._names:
            self._names = settings.chart.expert_ghosts
            self._draw()

    @Slot()
    def _draw(self) -> None:
        made, market, previews = self._state.forecast, self._state.market, []
        if made is not None and market is not None:
            drawn = ((name, expert_ghosts(made, name, market.interval)) for name in self._names)
            previews = [
                Preview(expert_name(name), replace(made, ghosts=ghosts), colour)
                for colour, (name, ghosts) in enumerate(drawn)
                if ghosts
            ]
        if previews or self.layer.shown:
            self.layer.show_previews(previews)
            self._chart.layers_changed()
