"""The price poller, on a separate thread that lives only while prices are shown."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from core.domain.clock import Clock
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.ticker_poller import MarketKey, PollTimes, TickerPoller
from core.market.feeds.urls import ExchangeUrls
from desktop.services.loop_thread import LoopThread


class QuoteFeed(QObject):
    """`poll_event_received` carries each PollEvent to the window's thread."""

    poll_event_received = Signal(object)

    def __init__(
        self,
        clock: Clock,
        urls: ExchangeUrls | None,
        times: PollTimes | None = None,
        holds: RateLimitHolds | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._poller = TickerPoller(clock, urls, self.poll_event_received.emit, times, holds=holds)
        self._keys: tuple[MarketKey, ...] = ()
        self._thread: LoopThread | None = None
        self._is_wanted = False

    @property
    def is_polling(self) -> bool:
        """Whether a thread runs, or is just ending."""
        return self._thread is not None

    def watch(self, keys: Iterable[MarketKey]) -> None:
        self._keys = tuple(keys)
        if self._thread is not None:
            self._thread.call(self._poller.watch, self._keys)  # where it is not up yet, it begins with them

    def try_again(self, venue: str) -> None:
        """Ask this exchange now, where it was left alone because asking seemed of no use."""
        if self._thread is None or not self._thread.call(self._poller.try_again, venue):
            self._poller.try_again(venue)

    def set_wanted(self, is_wanted: bool) -> None:
        """Poll, or let it be."""
        self._is_wanted = is_wanted
        if is_wanted:
            self._start()
        elif self._thread is not None:
            self._thread.stop()

    def close(self) -> bool:
        """End for good, and wait. False where the thread did not end in time."""
        self._is_wanted = False
        return self._thread is None or self._thread.stop_and_wait()

    def _start(self) -> None:
        if self._thread is not None:
            return  # a thread that is ending starts its successor
        self._thread = LoopThread(self._run, "Prices", self)
        self._thread.finished.connect(self._on_finished)
        self._thread.start()

    async def _run(self) -> None:
        self._poller.watch(self._keys)
        await self._poller.run()

    def _on_finished(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.deleteLater()
        if self._is_wanted:
            self._start()
