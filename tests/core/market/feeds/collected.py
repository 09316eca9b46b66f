"""All events of a feed that ends, on virtual time."""

from __future__ import annotations

from core.domain.candle import Candle
from core.market.feeds.base import ClosedCandle, Feed, FeedEvent, FeedState, FeedStatus
from tests.simulation.virtual_time import VirtualLoop, run_virtually


async def collected(feed: Feed, after_ms: int | None = None) -> list[FeedEvent]:
    return [event async for event in feed.events(after_ms)]


def all_of(feed: Feed, after_ms: int | None = None) -> list[FeedEvent]:
    return run_virtually(lambda loop: collected(feed, after_ms))


def timed(feed: Feed) -> tuple[list[FeedEvent], float]:
    """All of it, and the seconds that it took."""

    async def until_its_end(loop: VirtualLoop) -> tuple[list[FeedEvent], float]:
        return await collected(feed), loop.time()

    return run_virtually(until_its_end)


def candles(events: list[FeedEvent], *, is_live: bool | None = None) -> list[Candle]:
    closed = [event for event in events if isinstance(event, ClosedCandle)]
    return [event.candle for event in closed if is_live is None or event.is_live is is_live]


def states(events: list[FeedEvent]) -> list[FeedState]:
    return [event.state for event in events if isinstance(event, FeedStatus)]
