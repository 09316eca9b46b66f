"""Opens the finder's box over a window, with all that can be found in it now."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from pydantic import ValidationError
from PySide6.QtCore import QObject

from core.market.candle import Market
from core.market.watchlist import WatchedMarket
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.dialogs.messages import open_dialog
from desktop.finder.dialog import FinderDialog
from desktop.finder.search import Entry
from desktop.finder.sources import (
    action_entries,
    checkpoint_entries,
    market_entries,
    setting_entries,
    stored_entries,
)
from desktop.theme import Theme
from desktop.window import MainWindow

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
    ) -> None:
        """stored: the markets of which candles are stored. Raises StorageError."""
        super().__init__(window)
        self._window, self._theme, self._symbols, self._stored = window, theme, symbols, stored
        window.actions_of_window.wire({ActionId.FIND: self.open})

    def open(self) -> FinderDialog:
        """Show the box."""
        dialog = FinderDialog(self._entries(), self._theme, self._window)
        open_dialog(dialog)
        return dialog

    def _entries(self) -> Iterator[Entry]:
        window = self._window
        yield from action_entries(window.actions_of_window, but=frozenset({ActionId.FIND}))
        watched, more = window.settings.watchlist.markets, tuple(self._of_this_exchange())
        yield from market_entries(watched, more, window.watch)
        listed = frozenset(each.market for each in (*watched, *more))
        yield from stored_entries(self._stored_markets(), listed, window.open_stored)
        yield from checkpoint_entries(window.source.newest(_NEWEST_CHECKPOINTS), self._show_checkpoint)
        yield from setting_entries(window.settings, self._open_setting)

    def _of_this_exchange(self) -> Iterator[WatchedMarket]:
        market = self._window.settings.market
        for symbol in self._symbols(market.venue):
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
