"""The exchanges' markets for the search: from the data folder at once, from the exchange where that is too old."""

from __future__ import annotations

import logging
from functools import partial

from PySide6.QtCore import QObject, Signal

from core.clock import Clock
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls
from core.market.symbols import SymbolCache, SymbolList, fetch_symbols
from desktop.watch.loop_thread import LoopThread

_log = logging.getLogger("ghostcandle")


class SymbolLists(QObject):
    """`request` answers with `ready`, at once or later, or with `failed`. Both may come: an old list, and why there
    is no newer one."""

    ready = Signal(object)
    """SymbolList"""
    fetching = Signal(str)
    """The exchange's id: it is being asked."""
    failed = Signal(str, str)
    """The exchange's id, and a sentence."""
    _fetched = Signal(object)
    _refused = Signal(str, str)

    def __init__(
        self, cache: SymbolCache, clock: Clock, urls: ExchangeUrls | None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._cache, self._clock, self._urls = cache, clock, urls
        self._known: dict[str, SymbolList] = {}
        self._threads: dict[str, LoopThread] = {}
        self._is_closed = False
        self._fetched.connect(self._on_fetched)
        self._refused.connect(self.failed)

    def request(self, venue: str) -> None:
        """The markets of this exchange are wanted."""
        known = self._known.get(venue) or self._cache.load(venue)
        if known is not None:
            self._known[venue] = known
            self.ready.emit(known)
        if known is None or not known.is_fresh(self._clock.now_ms()):
            self._fetch(venue)

    def known(self, venue: str) -> tuple[str, ...]:
        """The symbols of this exchange as far as they are known here; asks nobody."""
        known = self._known.get(venue) or self._cache.load(venue)
        return () if known is None else known.symbols

    def close(self) -> bool:
        """Give up what is under way, and wait. False where a thread did not end in time."""
        self._is_closed = True
        for thread in self._threads.values():
            thread.stop()
        return all([thread.stop_and_wait() for thread in self._threads.values()])

    def _fetch(self, venue: str) -> None:
        self.fetching.emit(venue)
        if venue in self._threads or self._is_closed:
            return
        thread = LoopThread(partial(self._work, venue), f"Markets of {venue}", self)
        thread.failed.connect(partial(self._on_failed, venue))
        thread.finished.connect(partial(self._on_finished, venue))
        self._threads[venue] = thread
        thread.start()

    async def _work(self, venue: str) -> None:
        """On the thread."""
        try:
            listed = await fetch_symbols(venue, self._urls, self._clock)
        except VenueError as trouble:
            self._refused.emit(venue, str(trouble))
            return
        self._cache.save(listed)
        self._fetched.emit(listed)

    def _on_fetched(self, listed: SymbolList) -> None:
        self._known[listed.venue] = listed
        self.ready.emit(listed)

    def _on_failed(self, venue: str, words: str) -> None:
        self.failed.emit(venue, f"The list of markets could not be read ({words}).")

    def _on_finished(self, venue: str) -> None:
        thread = self._threads.pop(venue, None)
        if thread is not None:
            thread.deleteLater()
