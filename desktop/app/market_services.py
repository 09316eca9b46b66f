"""Requests to exchanges beside the feed, each on its own thread: prices while the markets' panel is visible, lists of
markets for the search, and whether an exchange has the chosen market."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from core.domain.candle import Market
from core.domain.clock import Clock
from core.market.feeds.base import FeedState
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.ticker_poller import PollTimes
from core.market.feeds.venue import ExchangeUrls
from core.market.symbols import SymbolCache
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from desktop.panels.markets.panel import MarketsPanel
from desktop.services.loop_thread import LoopThread
from desktop.services.market_check import MarketCheck
from desktop.services.quote_feed import QuoteFeed
from desktop.services.symbol_lists import SymbolLists
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore

_log = logging.getLogger("ghostcandle")


class MarketServices(QObject):
    """Connects the panel with its threads. Call `close` before the loop ends."""

    def __init__(
        self,
        settings: SettingsStore,
        panel: MarketsPanel,
        state: RunState,
        folder: DataFolder,
        clock: Clock,
        urls: ExchangeUrls | None,
        is_stored: Callable[[Market], bool] = lambda _market: False,
        holds: RateLimitHolds | None = None,
        times: PollTimes | None = None,
        parent: QObject | None = None,
    ) -> None:
        """is_stored: whether candles of a market are stored. holds: shared with all others that ask exchanges."""
        super().__init__(parent)
        holds = holds or RateLimitHolds(clock)
        self._threads = [LoopThread(name, self) for name in ("Prices", "Market lists", "Market checks")]
        """Parsing a list takes seconds: on one thread, answers to the others would seem to be late."""
        prices, lists, checks = self._threads
        self.quotes = QuoteFeed(clock, urls, prices, times, holds, self)
        cache = SymbolCache(folder.symbols)
        self.lists = SymbolLists(cache, clock, urls, lists, holds, self)
        self.check = MarketCheck(cache, clock, urls, checks, holds, is_stored, self)
        self.quotes.poll_event_received.connect(state.quotes.apply)
        panel.prices_wanted.connect(self.quotes.set_wanted)
        panel.adder.symbols_wanted.connect(self.lists.request)
        self.lists.ready.connect(panel.show_symbols)
        self.lists.fetching.connect(panel.show_fetching)
        self.lists.failed.connect(panel.show_no_symbols)
        self._state, self._was_live = state, False
        state.feed_changed.connect(self._on_feed)
        settings.changed.connect(self._on_settings)
        self._on_settings(settings.current)

    @Slot()
    def try_again(self) -> None:
        """Ask the exchange again that the user has chosen."""
        asked = self._state.feed_record.asked
        if asked is not None:
            self.quotes.try_again(asked.venue)

    async def close(self) -> None:
        """End the threads, and wait for them without blocking the window."""
        if not all(await asyncio.gather(*(asyncio.to_thread(thread.close) for thread in self._threads))):
            _log.error("A thread that asks exchanges did not end in time.")

    def _on_feed(self) -> None:
        """When an exchange's feed goes live, request its prices again."""
        is_live = self._state.feed is not None and self._state.feed.state is FeedState.LIVE
        market = self._state.feed_record.market
        if is_live and not self._was_live and market is not None:
            self.quotes.try_again(market.venue)
        self._was_live = is_live

    def _on_settings(self, settings: Settings) -> None:
        listed = settings.watchlist.markets
        self.quotes.watch((each.venue, each.symbol) for each in listed if not each.market.is_simulated)
