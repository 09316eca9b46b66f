"""The user's choice of a market: stores it in the settings, and announces it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.watchlist import WatchedMarket
from core.market.shown_names import SAMPLE_MARKET, new_replay, replays_of
from core.settings.tree import MarketSettings
from core.settings.window import ChartInterval
from desktop.state.settings_store import SettingsStore

_MOST_FILES = 100
"""Files of replays that are remembered."""


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
        self.is_stored: Callable[[Market], bool] = lambda _market: False
        """Whether candles of a market are stored."""

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
        if self.show_watched(market):
            return
        if market.is_simulated:
            self._open_from("simulate", market)
        else:
            self.open_stored(market)

    def open_stored(self, market: Market) -> None:
        """Put a market with stored candles on the chart. An exchange's continues with new ones, that of a file or the
        sample with its replay."""
        file = self._settings.current.watchlist.files.get(str(market))
        if next(replays_of(market)) == SAMPLE_MARKET:
            self._open_from("sample", market)
        elif file is not None:
            self._open_from("replay", market, file)
        else:
            self._open_from("stored", market)

    def replay_file(self, file: Path) -> None:
        """Put the newest replay of a file on the chart."""
        before = self._settings.current.market
        self.choose(replace(before, feed="replay", file=str(file), replayed_as=None, joined_to=None, inside=None))

    def replay_again(self, market: Market) -> None:
        """Begin the replay on the chart again, as another market: the record of this one stays."""
        before, again = self._settings.current.market, new_replay(market, self.is_stored)
        feed = before.feed if before.feed == "replay" else "sample"
        self.choose(replace(before, feed=feed, replayed_as=again.symbol, interval=str(again.interval)))

    def _open_from(
        self, feed: Literal["replay", "sample", "simulate", "stored"], market: Market, file: str | None = None
    ) -> None:
        """feed: the source of candles for a market of no exchange."""
        if market.venue not in (FILE_VENUE, SIMULATED_VENUE):
            self.watch(WatchedMarket(market.venue, market.symbol, str(market.interval)))
            return
        before, interval = self._settings.current.market, str(market.interval)
        where = replace(before, feed=feed, venue=market.venue, symbol=market.symbol, interval=interval)
        if feed == "simulate" and before.feed != "simulate":
            where = replace(where, speed=None)  # that of a replay
        if feed in ("replay", "sample"):
            where = replace(where, replayed_as=market.symbol)
        if file is not None and file != before.file:  # only of the newest file it is known what belongs to it
            where = replace(where, file=file, joined_to=interval, inside=None)
        self.choose(where)

    @Slot(object)
    def opened(self, market: Market) -> None:
        """Called when the chosen market is open: remembers the file of a replay."""
        self._former_interval = None
        settings = self._settings.current
        if settings.market.feed != "replay" or settings.market.file is None or market.venue != FILE_VENUE:
            return
        known, file = settings.watchlist.files, str(Path(settings.market.file).absolute())
        if known.get(str(market)) != file:
            newest = [(name, each) for name, each in known.items() if name != str(market)][1 - _MOST_FILES :]
            files = {**dict(newest), str(market): file}
            self._settings.change(replace(settings, watchlist=replace(settings.watchlist, files=files)))

    @Slot()
    def refused(self) -> None:
        """Called when the former market stays: restores its interval, unless that was changed meanwhile."""
        former, self._former_interval = self._former_interval, None
        if former is not None and self._settings.current.chart.interval == "market":
            self._settings.change_chart(interval=former)

    def _open(self, market: MarketSettings) -> None:
        self._settings.change(replace(self._settings.current, market=market))
        self.chosen.emit(market)
