"""The exchanges' markets for the search: from the data folder at once, from the exchange where that is too old."""

from __future__ import annotations

import logging
from functools import partial

from PySide6.QtCore import QObject, Signal

from core.domain.clock import Clock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls
from core.market.symbols import SymbolCache, SymbolList, fetch_symbols
from desktop.services.loop_thread import LoopThread
from desktop.ui.translation import translate

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
        self,
        cache: SymbolCache,
        clock: Clock,
        urls: ExchangeUrls | None,
        holds: RateLimitHolds | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._holds = holds or RateLimitHolds(clock)
        self._cache, self._clock, self._urls = cache, clock, urls
        self._known: dict[str, SymbolList] = {}
        self._asked: set[str] = set()
        """Exchanges whose answer is awaited; a thread that has answered may take a while to end."""
        self._threads: list[LoopThread] = []
        self._is_closed = False
        self._fetched.connect(self._on_fetched)
        self._refused.connect(self._on_refused)

    def request(self, venue: str) -> None:
        """The markets of this exchange are wanted."""
        known = self._find(venue)
        if known is not None:
            self.ready.emit(known)
        if known is None or not known.is_fresh(self._clock.now_ms()):
            self._fetch(venue)

    def known(self, venue: str) -> tuple[str, ...]:
        """The symbols of this exchange as far as they are known here; asks nobody."""
        known = self._find(venue)
        return () if known is None else known.symbols

    def _find(self, venue: str) -> SymbolList | None:
        """The list received, or the one in the cache, which is read once."""
        known = self._known.get(venue) or self._cache.load(venue)
        if known is not None:
            self._known[venue] = known
        return known

    def close(self) -> bool:
        """Give up what is under way, and wait. False where a thread did not end in time."""
        self._is_closed = True
        threads = tuple(self._threads)  # called on another thread than the one that removes them
        for thread in threads:
            thread.stop()
        return all([thread.stop_and_wait() for thread in threads])

    def _fetch(self, venue: str) -> None:
        self.fetching.emit(venue)
        if venue in self._asked or self._is_closed:
            return
        self._asked.add(venue)
        thread = LoopThread(partial(self._work, venue), f"Markets of {venue}", self)
        thread.failed.connect(partial(self._on_failed, venue))
        thread.finished.connect(partial(self._on_finished, thread))
        self._threads.append(thread)
        thread.start()

    async def _work(self, venue: str) -> None:
        """On the thread."""
        try:
            listed = await fetch_symbols(venue, self._urls, self._clock, self._holds.of(venue))
        except VenueError as trouble:
            self._refused.emit(venue, str(trouble))
            return
        self._cache.save(listed)
        self._fetched.emit(listed)

    def _on_fetched(self, listed: SymbolList) -> None:
        self._asked.discard(listed.venue)
        self._known[listed.venue] = listed
        self.ready.emit(listed)

    def _on_refused(self, venue: str, sentence: str) -> None:
        self._asked.discard(venue)
        self.failed.emit(venue, sentence)

    def _on_failed(self, venue: str, words: str) -> None:
        self._on_refused(venue, translate("Watch", "The list of markets could not be read ({0}).").format(words))

    def _on_finished(self, thread: LoopThread) -> None:
        if self._is_closed:
            return  # it is waited for
        self._threads.remove(thread)
        thread.deleteLater()
