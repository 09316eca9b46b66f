"""The exchanges' markets for the search: from the data folder at once, from the exchange if they are too old."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from core.domain.clock import Clock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls
from core.market.symbols import SymbolCache, SymbolList, fetch_symbols
from desktop.services.loop_thread import LoopThread
from desktop.ui.translation import translate


class SymbolLists(QObject):
    """`request` answers with `ready`, at once or later, or with `failed`. Both may be emitted: an old list, and why
    there is no newer one."""

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
        thread: LoopThread,
        holds: RateLimitHolds,
        parent: QObject | None = None,
    ) -> None:
        """thread: asks the exchanges."""
        super().__init__(parent)
        self._cache, self._clock, self._urls, self._thread, self._holds = cache, clock, urls, thread, holds
        self._known: dict[str, SymbolList] = {}
        self._asked: set[str] = set()
        """Exchanges whose answer is awaited."""
        self._fetched.connect(self._on_fetched)
        self._refused.connect(self._on_refused)

    def request(self, venue: str) -> None:
        known = self._find(venue)
        if known is not None:
            self.ready.emit(known)
        if known is None or not known.is_fresh(self._clock.now_ms()):
            self.fetching.emit(venue)
            if venue not in self._asked:
                self._asked.add(venue)
                self._thread.submit(partial(self._work, venue))

    def known(self, venue: str) -> tuple[str, ...]:
        """The symbols of this exchange that are known without a request."""
        known = self._find(venue)
        return () if known is None else known.symbols

    def _find(self, venue: str) -> SymbolList | None:
        """The list received, or the one in the cache, which is read once."""
        known = self._known.get(venue) or self._cache.load(venue)
        if known is not None:
            self._known[venue] = known
        return known

    async def _work(self, venue: str) -> None:
        """Runs on the thread."""
        try:
            listed = await fetch_symbols(venue, self._urls, self._clock, self._holds.of(venue))
            self._cache.save(listed)
        except VenueError as trouble:
            self._refused.emit(venue, str(trouble))
        except Exception as error:
            words = translate("Watch", "The list of markets could not be read ({0}: {1}).")
            self._refused.emit(venue, words.format(type(error).__name__, error))
            raise
        else:
            self._fetched.emit(listed)

    def _on_fetched(self, listed: SymbolList) -> None:
        self._asked.discard(listed.venue)
        self._known[listed.venue] = listed
        self.ready.emit(listed)

    def _on_refused(self, venue: str, sentence: str) -> None:
        self._asked.discard(venue)
        self.failed.emit(venue, sentence)
