"""The user's choice of a market: stores it in the settings, and announces it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

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
        """The chart's former interval, until the chosen market is open."""
        self.show_watched: Callable[[Market], bool] = lambda _market: False
        """Shows another watched market on the chart. False if the market is not watched."""

    def choose(self, market: MarketSettings) -> None:
        """Put the market on the chart at its own interval."""
        if self._former_interval is None:
            self._former_interval = self._settings.current.chart.interval
        self._settings.change_chart(interval="market")
        self._open(market)

    def choose_venue(self, venue: str) -> None:
        """Open the same symbol on another exchange; the chart's interval stays."""
        self._open(replace(self._settings.current.market, venue=venue))

    def watch(self, watched: WatchedMarket) -> None:
        """Put an exchange's market on the chart. A replay ends with it."""
        market = self._settings.current.market
        where = replace(market, venue=watched.venue, symbol=watched.symbol, interval=watched.interval)
        self.choose(where if market.feed in ("auto", "live") else replace(where, feed="live"))

    def open_listed(self, market: Market) -> None:
        """Put a market of the list or of the run on the chart."""
        if not self.show_watched(market):
            self._open_from("simulate" if market.is_simulated else "stored", market)

    def open_stored(self, market: Market) -> None:
        """Put a market with stored candles on the chart; an exchange's continues with new ones."""
        self._open_from("stored", market)

    def _open_from(self, feed: Literal["simulate", "stored"], market: Market) -> None:
        """feed: the source of candles for a market of no exchange."""
        if market.venue not in (FILE_VENUE, SIMULATED_VENUE):
            self.watch(WatchedMarket(market.venue, market.symbol, str(market.interval)))
            return
        before, interval = self._settings.current.market, str(market.interval)
        self.choose(replace(before, feed=feed, venue=market.venue, symbol=market.symbol, interval=interval))

    @Slot()
    def opened(self) -> None:
        """Called when the chosen market is open."""
        self._former_interval = None

    @Slot()
    def refused(self) -> None:
        """Called when the former market stays: restores its interval, unless that was changed meanwhile."""
        former, self._former_interval = self._former_interval, None
        if former is not None and self._settings.current.chart.interval == "market":
            self._settings.change_chart(interval=former)

    def _open(self, market: MarketSettings) -> None:
        self._settings.change(replace(self._settings.current, market=market))
        self.chosen.emit(market)
