"""The market that the user chooses: into the settings, and announced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings
from core.settings.window import ChartInterval
from desktop.state.settings_store import SettingsStore


class MarketChoice(QObject):
    """Called by dialogs, panels, the finder and notices."""

    chosen = Signal(object)
    """MarketSettings; the settings hold it already."""

    def __init__(self, settings: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._former_interval: ChartInterval | None = None
        """The chart's, while a chosen market is not there yet."""
        self.show_watched: Callable[[Market], bool] = lambda _market: False
        """Puts one of several markets that are watched already on the chart. False where it is none."""

    def choose(self, market: MarketSettings) -> None:
        """Put it on the chart at its own interval."""
        if self._former_interval is None:
            self._former_interval = self._settings.current.chart.interval
        self._settings.change_chart(interval="market")
        self._open(market)

    def choose_venue(self, venue: str) -> None:
        """The same symbol on another exchange; the chart's interval stays."""
        self._open(replace(self._settings.current.market, venue=venue))

    def watch(self, watched: WatchedMarket) -> None:
        """Put an exchange's market on the chart. A replay ends with it."""
        market = self._settings.current.market
        where = replace(market, venue=watched.venue, symbol=watched.symbol, interval=watched.interval)
        self.choose(where if market.feed in ("auto", "live") else replace(where, feed="live"))

    def open_listed(self, market: Market) -> None:
        """Put a market of the list or of the run on the chart."""
        if self.show_watched(market):
            return
        if not market.is_simulated:
            self.open_stored(market)
            return
        before, interval = self._settings.current.market, str(market.interval)
        self.choose(replace(before, feed="simulate", venue=market.venue, symbol=market.symbol, interval=interval))

    def open_stored(self, market: Market) -> None:
        """Put a market with stored candles on the chart; an exchange's continues with new ones."""
        if market.venue not in (FILE_VENUE, SIMULATED_VENUE):
            self.watch(WatchedMarket(market.venue, market.symbol, str(market.interval)))
            return
        before, interval = self._settings.current.market, str(market.interval)
        self.choose(replace(before, feed="stored", venue=market.venue, symbol=market.symbol, interval=interval))

    @Slot()
    def opened(self) -> None:
        """The chosen market is there."""
        self._former_interval = None

    @Slot()
    def refused(self) -> None:
        """The former market stays, at the interval it had unless that was changed meanwhile."""
        former, self._former_interval = self._former_interval, None
        if former is not None and self._settings.current.chart.interval == "market":
            self._settings.change_chart(interval=former)

    def _open(self, market: MarketSettings) -> None:
        self._settings.change(replace(self._settings.current, market=market))
        self.chosen.emit(market)
