"""The bridge from asyncio to Qt: one market's feed, run on the window's event loop, as signals."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.validation import Rejection
from core.market.feeds.auto import BuiltFeed, build_feed
from core.market.feeds.base import CatchUpProgress, Feed, FeedStatus
from core.market.feeds.pace import ReplayPace
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.urls import ExchangeUrls
from core.market.history.reading import Watch
from core.market.pipeline import FeedReport, MarketPipeline
from core.settings.tree import MarketSettings
from core.storage.candles import CandleStore
from core.storage.holes import HoleStore

WATCHABLE_SPEED = 2.0
"""Candles per second of a replay for which no speed was chosen: somebody looks at it."""
_HEAVY = {"auto": "ccxt.pro", "live": "ccxt.pro", "replay": "pandas"}
"""What a feed imports when it is built: done on a thread, so that the window stays fluid meanwhile."""


class MarketFeed(QObject):
    """Builds a feed, pumps it through the pipeline into the candle table, and says what came.

    `build` and `run` are awaited on the loop that the window runs on; everything happens in the window's thread.
    """

    closed = Signal(object, object)
    """A sequence of Candle that are stored now, and a tuple of the opening times of those that came live."""
    forming = Signal(object)
    """Candle"""
    feed_event = Signal(object)
    """FeedStatus or CatchUpProgress"""
    corrected = Signal(object)
    """Candle: it replaces the one stored before."""
    feed_reported = Signal(object)
    """FeedReport"""

    def __init__(
        self,
        store: CandleStore,
        holes: HoleStore,
        clock: Clock,
        urls: ExchangeUrls | None,
        venue_holds: RateLimitHolds,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._holes = holes
        self._clock = clock
        self._urls = urls
        self._venue_holds = venue_holds
        self._feed: Feed | None = None

    async def build(self, settings: MarketSettings, seed: int | None, limit: int | None, watch: Watch) -> BuiltFeed:
        """Find out where candles come from. watch: see `build_feed`.

        Raises FeedError or CandleFileError with a sentence.
        """
        module = _HEAVY.get(settings.feed)
        if module is not None:
            await asyncio.to_thread(importlib.import_module, module)
        if settings.feed == "replay" and settings.speed is None and limit is None:
            settings = replace(settings, speed=WATCHABLE_SPEED)
        built = await build_feed(
            settings,
            seed=seed,
            clock=self._clock,
            limit=limit,
            urls=self._urls,
            is_known=self._is_known,
            last_simulated=self._store.last_simulated,
            holds=self._venue_holds,
            watch=watch,
        )
        self._feed = built.feed
        return built

    @property
    def pace(self) -> ReplayPace | None:
        """Of a replay whose candles come by and by."""
        pace = getattr(self._feed, "pace", None)
        return pace if isinstance(pace, ReplayPace) else None

    def _is_known(self, market: Market) -> bool:
        return self._store.latest_open_time_ms(market) is not None

    async def run(self) -> None:
        """Pump until the feed ends or this is cancelled. The feed is closed in any case."""
        assert self._feed is not None, "build it first"
        try:
            await MarketPipeline(self._feed, self._store, self._holes, self._clock, self).run()
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Release the feed's sockets and files."""
        feed, self._feed = self._feed, None
        if feed is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await feed.aclose()

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self.closed.emit(candles, live_open_times_ms)

    def on_forming(self, candle: Candle) -> None:
        self.forming.emit(candle)

    def on_status(self, status: FeedStatus) -> None:
        self.feed_event.emit(status)

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        self.feed_event.emit(progress)

    def on_rejected(self, candle: Candle, rejection: Rejection) -> None:
        """It comes as a RejectedMessage too."""

    def on_corrected(self, candle: Candle) -> None:
        self.corrected.emit(candle)

    def on_report(self, report: FeedReport) -> None:
        self.feed_reported.emit(report)
