"""Opens the finder's box over a window, with all that can be found in it now."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pydantic import ValidationError
from PySide6.QtCore import QObject

from core.domain.candle import Market
from core.domain.watchlist import WatchedMarket
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.dialogs.market import USUAL_SYMBOLS
from desktop.dialogs.messages import open_dialog
from desktop.finder.dialog import MARKET, FinderDialog
from desktop.finder.search import Entry
from desktop.finder.sources import (
    action_entries,
    checkpoint_entries,
    interval_entries,
    market_entries,
    setting_entries,
    stored_entries,
)
from desktop.ui.theme import Theme
from desktop.window.main_window import MainWindow

Symbols = Callable[[str], Iterable[str]]
"""The symbols of an exchange, as far as they are known without asking it."""


_NEWEST_CHECKPOINTS = 1_000
"""Older ones are found in the browser, which is made for many."""


class Finder(QObject):
    """What can be found is gathered anew each time the box is opened."""

    def __init__(
        self,
        window: MainWindow,
        theme: Theme,
        symbols: Symbols,
        stored: Callable[[], Iterable[Market]] = tuple,
        ask: Callable[[str], object] = lambda _venue: None,
    ) -> None:
        """stored: the markets of which candles are stored. Raises StorageError. ask: an exchange for its symbols, which
        come by `take_symbols`."""
        super().__init__(window)
        self._window, self._theme, self._symbols, self._stored, self._ask = window, theme, symbols, stored, ask
        window.actions_of_window.wire({ActionId.FIND: self.open})

    def open(self) -> FinderDialog:
        """Show the box."""
        dialog = FinderDialog(self._entries(), self._theme, self._window)
        open_dialog(dialog)
        return dialog

    def open_markets(self, typed: str = "") -> FinderDialog:
        """Show the box with markets and intervals alone, and what has been typed so far in its line."""
        for open_one in self._market_boxes():
            open_one.line.insert(typed)
            return open_one
        dialog = FinderDialog(self._of_chart(typed), self._theme, self._window, MARKET)
        dialog.open_for_typing(typed)
        market = self._window.settings.market
        if market.feed in ("auto", "live"):  # it is being asked for candles anyway
            self._ask(market.venue)
        return dialog

    def take_symbols(self) -> None:
        """The symbols of an exchange have come."""
        for dialog in self._market_boxes():
            dialog.offer(self._of_chart(dialog.line.text()))

    def _market_boxes(self) -> list[FinderDialog]:
        """The one that is open, if any."""
        boxes = self._window.findChildren(FinderDialog)
        return [box for box in boxes if box.question is MARKET and box.isVisible()]

    def _entries(self) -> Iterator[Entry]:
        window = self._window
        yield from action_entries(window.actions_of_window, but=frozenset({ActionId.FIND}))
        yield from self._markets(self._of_this_exchange())
        yield from checkpoint_entries(window.source.newest(_NEWEST_CHECKPOINTS), self._show_checkpoint)
        yield from setting_entries(window.settings, self._open_setting)

    def _of_chart(self, typed: str) -> Iterator[Entry]:
        """Of what fits equally well the first is chosen: of a digit an interval, of a letter a market, the first
        of those with the quote of what is shown."""
        intervals = interval_entries(self._window.actions_of_window)
        _, _, quote = self._window.settings.market.symbol.partition("/")
        known = sorted(self._of_this_exchange(), key=lambda market: not market.symbol.endswith(f"/{quote}"))
        markets = self._markets(known)
        yield from chain(intervals, markets) if typed[:1].isdigit() else chain(markets, intervals)

    def _markets(self, more: Iterable[WatchedMarket]) -> Iterator[Entry]:
        """Those of the watchlist, those of the exchange, those that are stored."""
        window, more = self._window, tuple(more)
        watched = window.settings.watchlist.markets
        yield from market_entries(watched, more, window.watch)
        listed = frozenset(each.market for each in (*watched, *more))
        yield from stored_entries(self._stored_markets(), listed, window.open_stored)

    def _of_this_exchange(self) -> Iterator[WatchedMarket]:
        market = self._window.settings.market
        for symbol in self._symbols(market.venue) or USUAL_SYMBOLS:
            with contextlib.suppress(ValidationError):  # what no watchlist could hold
                yield WatchedMarket(market.venue, symbol, market.interval)

    def _stored_markets(self) -> Iterable[Market]:
        try:
            return self._stored()
        except StorageError as error:
            self._window.notices.storage_trouble(str(error))
            return ()

    def _show_checkpoint(self, checkpoint_id: str) -> None:
        self._window.show_dock(ActionId.SHOW_CHECKPOINTS)
        self._window.checkpoints.reveal(checkpoint_id)

    def _open_setting(self, group: str, name: str) -> None:
        self._window.open_preferences().show_setting(group, name)
