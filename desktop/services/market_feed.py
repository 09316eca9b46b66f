"""The feeds of a run's markets, run on the window's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.clock import Clock
from core.market.feeds.base import Feed, FeedError
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.replay_speed import ReplayPace
from core.market.feeds.venue import ExchangeUrls
from core.market.pipeline import MarketPipeline, PipelineListener
from core.settings.tree import MarketSettings
from core.storage.candles import CandleStore
from core.storage.database import path_of
from core.storage.errors import StorageError
from core.storage.holes import HoleStore
from core.training.online.trainer_spec import in_order

if TYPE_CHECKING:
    from core.market.feeds.auto import BuiltFeed
    from core.market.history.candle_table import Watch

_HEAVY = {"auto": "ccxt.pro", "live": "ccxt.pro", "replay": "pandas", "sample": "pandas"}
"""Modules that a feed imports when it is built; imported on a thread, so that the window does not freeze."""
_log = logging.getLogger("ghostcandle.feed")


class MarketFeeds:
    """Builds the feeds, and pumps each through its pipeline into the candle table.

    `build` and `run` are awaited on the loop that the window runs on; everything happens in the window's thread.
    """

    def __init__(
        self,
        store: CandleStore,
        holes: HoleStore,
        clock: Clock,
        urls: ExchangeUrls | None,
        venue_holds: RateLimitHolds,
    ) -> None:
        self._store = store
        self._holes = holes
        self._clock = clock
        self._urls = urls
        self._venue_holds = venue_holds
        self._feeds: dict[Market, Feed] = {}
        self._pipelines: list[MarketPipeline] = []
        self.listeners: Mapping[Market, PipelineListener] = {}
        """Listeners by market; candles of a market without a listener are only stored."""
        self.asked: dict[Market, MarketSettings] = {}
        """The settings that each market was requested with, in the order of the markets at a close."""

    async def build(
        self, wanted: Sequence[MarketSettings], seed: int | None, limit: int | None, watch: Watch
    ) -> BuiltFeed:
        """Choose the source of candles; returns the feed of the first market, which is shown.

        wanted: that market, and the markets that one model learns with it. If the sample is shown instead, it is alone.
        watch: see `build_feed`. Raises FeedError or CandleFileError with a sentence.
        """
        first, *others = wanted
        module = _HEAVY.get(first.feed)
        if module is not None:
            await asyncio.to_thread(importlib.import_module, module)
        built = await self._build_one(first, seed, limit, watch)
        shown = built.feed.market
        if shown.is_simulated:
            first = replace(first, venue=SIMULATED_VENUE, symbol=shown.symbol)
        self.asked, self._feeds = {shown: first}, {shown: built.feed}
        if others and (first.feed in ("replay", "stored") or shown.venue != FILE_VENUE):
            await self._add(others, seed, limit, watch)
        return built

    async def _build_one(self, wanted: MarketSettings, seed: int | None, limit: int | None, watch: Watch) -> BuiltFeed:
        from core.market.feeds.auto import build_feed  # noqa: PLC0415 - after the first paint

        return await build_feed(
            wanted,
            seed=seed,
            clock=self._clock,
            limit=limit,
            urls=self._urls,
            is_known=lambda market: self._store.latest_open_time_ms(market) is not None,
            last_simulated=self._store.last_simulated,
            holds=self._venue_holds,
            watch=watch,
            is_watched=True,
        )

    async def _add(self, others: Sequence[MarketSettings], seed: int | None, limit: int | None, watch: Watch) -> None:
        """Open all further markets together: those of an exchange share its connection."""
        from core.market.feeds.auto import market_of, open_as_set  # noqa: PLC0415 - after the first paint
        from core.market.feeds.many import play_together  # noqa: PLC0415

        (first,) = self.asked.values()
        if first.feed in ("replay", "stored"):
            feeds = [*self._feeds.values()]
            for each in others:
                feeds.append((await self._build_one(each, seed, limit, watch)).feed)
                self.asked[feeds[-1].market] = each
            play_together(feeds)
            ordered = _ordered(feed.market for feed in feeds)
            self._feeds = {feed.market: feed for feed in feeds}
        else:
            self.asked |= {market_of(each): each for each in others if market_of(each) not in self.asked}
            ordered = _ordered(self.asked)
            await self.aclose()
            self._feeds = open_as_set(ordered, first, self._clock, limit, self._urls, self._venue_holds)
        self.asked = {market: self.asked[market] for market in ordered}

    async def find_insides(self) -> None:
        """Look for what stored finer candles say of the stored ones. To be awaited while no trainer runs."""
        from core.training.hosting.stored_insides import find_insides  # noqa: PLC0415 - after the first paint

        try:
            await asyncio.to_thread(find_insides, path_of(self._store.db), self._feeds)
        except StorageError as error:  # insides are worth less than the feed
            _log.warning("no insides of stored candles: %s", error)

    @property
    def has_insides(self) -> bool:
        """Whether candles of any come with what is known of their inside."""
        return any(feed.has_insides for feed in self._feeds.values())

    @property
    def pace(self) -> ReplayPace | None:
        """The pace of the replays; None if no replay plays at a pace."""
        from core.market.feeds.replay import ReplayFeed  # noqa: PLC0415 - after the first paint

        paces = (feed.pace for feed in self._feeds.values() if isinstance(feed, ReplayFeed))
        return next((pace for pace in paces if pace is not None), None)

    async def run(self) -> None:
        """Pump until every feed ends or this is cancelled. The feeds are closed in any case."""
        assert self._feeds, "build them first"
        self._pipelines = [
            MarketPipeline(feed, self._store, self._holes, self._clock, self.listeners.get(market, PipelineListener()))
            for market, feed in self._feeds.items()
        ]
        try:
            await asyncio.gather(*(pipeline.run() for pipeline in self._pipelines))
        finally:
            await self.aclose()

    def silence(self) -> None:
        """From now on candles are only stored."""
        self.listeners = {}
        for pipeline in self._pipelines:
            pipeline.listener = PipelineListener()

    async def aclose(self) -> None:
        """Release the feeds' sockets and files."""
        feeds, self._feeds = self._feeds, {}
        for feed in feeds.values():
            with contextlib.suppress(asyncio.CancelledError):
                await feed.aclose()


def _ordered(markets: Iterable[Market]) -> tuple[Market, ...]:
    """Raises FeedError if one model cannot learn all of them."""
    try:
        return in_order(tuple(markets))
    except ValueError as error:
        raise FeedError(str(error)) from error
