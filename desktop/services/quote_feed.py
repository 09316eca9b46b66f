"""The price poller, on a separate thread, while prices are shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future

from PySide6.QtCore import QObject, Signal

from core.domain.clock import Clock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.ticker_poller import MarketKey, PollTimes, TickerPoller
from core.market.feeds.venue import ExchangeUrls
from desktop.services.loop_thread import LoopThread


class QuoteFeed(QObject):
    """`poll_event_received` carries each PollEvent to the window's thread."""

    poll_event_received = Signal(object)

    def __init__(
        self,
        clock: Clock,
        urls: ExchangeUrls | None,
        thread: LoopThread,
        times: PollTimes | None = None,
        holds: RateLimitHolds | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._poller = TickerPoller(clock, urls, self.poll_event_received.emit, times, holds=holds)
        self._keys: tuple[MarketKey, ...] = ()
        self._thread = thread
        self._polling: Future[None] | None = None
        self._turn = asyncio.Lock()

    def watch(self, keys: Iterable[MarketKey]) -> None:
        self._keys = tuple(keys)
        if self._polling is not None:
            self._thread.call(self._poller.watch, self._keys)

    def try_again(self, venue: str) -> None:
        """Ask this exchange now, even if requests were suspended as useless."""
        if not self._thread.call(self._poller.try_again, venue):
            self._poller.try_again(venue)

    def set_wanted(self, is_wanted: bool) -> None:
        if not is_wanted and self._polling is not None:
            self._polling.cancel()
            self._polling = None
        elif is_wanted and (self._polling is None or self._polling.done()):
            self._polling = self._thread.submit(self._poll)

    async def _poll(self) -> None:
        async with self._turn:  # the poller that was cancelled may still be tidying up
            self._poller.watch(self._keys)
            await self._poller.run()
