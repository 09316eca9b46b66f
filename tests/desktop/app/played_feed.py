"""A feed that a test plays itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.market.feeds.base import (
    ClosedCandle,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
)
from core.market.feeds.rate_limits import RateLimitHold


class PlayedFeed:
    """An exchange's feed whose events the test sends."""

    has_insides = False

    def __init__(self, market: Market, clock: Clock, *, gate: RateLimitHold, **_options: object) -> None:
        self._market, self._clock, self.hold = market, clock, gate
        self._events: asyncio.Queue[FeedEvent] = asyncio.Queue()
        self.is_closed = False

    @property
    def market(self) -> Market:
        return self._market

    @property
    def kind(self) -> FeedKind:
        return FeedKind.EXCHANGE

    async def events(self, after_ms: int | None = None, known: object = None) -> AsyncIterator[FeedEvent]:
        while True:
            yield await self._events.get()

    async def aclose(self) -> None:
        self.is_closed = True

    def set_state(self, state: FeedState, sentence: str = "", next_venue: str | None = None) -> None:
        self.send(FeedStatus(state, sentence, self._clock.now_ms(), next_venue))

    def close_candles(self, *candles: Candle) -> None:
        for candle in candles:
            self.send(ClosedCandle(candle, is_live=False))

    def send(self, event: FeedEvent) -> None:
        self._events.put_nowait(event)
