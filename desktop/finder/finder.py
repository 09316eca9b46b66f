"""Opens the finder's box over a window, with all that can be found in it now."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pydantic import ValidationError
from PySide6.QtCore import QObject, Signal

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
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.shell import Shell
from desktop.ui.theme import Theme

Symbols = Callable[[str], Iterable[str]]
"""The symbols of an exchange, as far as they are known without asking it."""


_NEWEST_CHECKPOINTS = 1_000
"""Older ones are found in the browser, which is made for many."""


class Finder(QObject):
    """The entries are gathered each time the box is opened."""

    checkpoint_chosen = Signal(str)
    """A checkpoint's id."""
    setting_chosen = Signal(str, str)
    """The setting's group and name."""

    def __init__(
        self,
        shell: Shell,
        theme: Theme,
        source: CheckpointSource,
        market_choice: MarketChoice,
        symbols: Symbols,
        stored: Callable[[], Iterable[Market]] = tuple,
        ask: Callable[[str], object] = lambda _venue: None,
    ) -> None:
        """stored: the markets of which candles are stored. Raises StorageError. ask: an exchange for its symbols, which
        come by `take_symbols`."""
        super().__init__(shell.window)
        self._shell, self._theme, self._symbols, self._stored, self._ask = shell, theme, symbols, stored, ask
        self._source, self._market_choice = source, market_choice
        shell.actions.wire({ActionId.FIND: self.open})

    def open(self) -> FinderDialog:
        dialog = FinderDialog(self._entries(), self._theme, self._shell.window)
        return open_dialog(dialog)

    def open_markets(self, typed: str = "") -> FinderDialog:
        """Show the box with markets and intervals alone, and what has been typed so far in its line."""
        for open_one in self._market_boxes():
            open_one.line.insert(typed)
            return open_one
        dialog = FinderDialog(self._of_chart(typed), self._theme, self._shell.window, MARKET)
        dialog.open_for_typing(typed)
        market = self._shell.settings.current.market
        if market.feed in ("auto", "live"):  # it is being asked for candles anyway
            self._ask(market.venue)
        return dialog

    def take_symbols(self) -> None:
        """The symbols of an exchange have come."""
        for dialog in self._market_boxes():
            dialog.offer(self._of_chart(dialog.line.text()))

    def _market_boxes(self) -> list[FinderDialog]:
        """The one that is open, if any."""
        boxes = self._shell.window.findChildren(FinderDialog)
        return [box for box in boxes if box.question is MARKET and box.isVisible()]

    def _entries(self) -> Iterator[Entry]:
        yield from action_entries(self._shell.actions, but=frozenset({ActionId.FIND}))
        yield from self._markets(self._of_this_exchange())
        yield from checkpoint_entries(self._source.newest(_NEWEST_CHECKPOINTS), self.checkpoint_chosen.emit)
        yield from setting_entries(self._shell.settings.current, self.setting_chosen.emit)

    def _of_chart(self, typed: str) -> Iterator[Entry]:
        """Of what fits equally well the first is chosen: of a digit an interval, of a letter a market, the first
        of those with the quote of what is shown."""
        intervals = interval_entries(self._shell.actions)
        _, _, quote = self._shell.settings.current.market.symbol.partition("/")
        known = sorted(self._of_this_exchange(), key=lambda market: not market.symbol.endswith(f"/{quote}"))
        markets = self._markets(known)
        yield from chain(intervals, markets) if typed[:1].isdigit() else chain(markets, intervals)

    def _markets(self, more: Iterable[WatchedMarket]) -> Iterator[Entry]:
        """Those of the list, those of the exchange, those that are stored."""
        more = tuple(more)
        watched = self._shell.settings.current.watchlist.markets
        yield from market_entries(watched, more, self._market_choice.watch)
        listed = frozenset(each.market for each in (*watched, *more))
        yield from stored_entries(self._stored_markets(), listed, self._market_choice.open_stored)

    def _of_this_exchange(self) -> Iterator[WatchedMarket]:
        market = self._shell.settings.current.market
        for symbol in self._symbols(market.venue) or USUAL_SYMBOLS:
            with contextlib.suppress(ValidationError):  # what no list could hold
                yield WatchedMarket(market.venue, symbol, market.interval)

    def _stored_markets(self) -> Iterable[Market]:
        try:
            return self._stored()
        except StorageError as error:
            self._shell.banner.notify_storage_error(str(error))
            return ()
