"""The stored candles of a market only: candles imported from a file have no live feed."""

from __future__ import annotations

from collections.abc import AsyncIterator

from core.domain.candle import Market
from core.domain.clock import Clock
from core.market.feeds.base import FeedEvent, FeedKind, FeedState, FeedStatus, StoredCandles
from core.market.shown_names import shown_market


class StoredFeed:
    """Yields no candles: chart and trainer read the stored ones themselves."""

    kind = FeedKind.REPLAY

    def __init__(self, market: Market, clock: Clock) -> None:
        self.market, self._clock = market, clock

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        sentence = f"The stored candles of {shown_market(self.market)} are shown; no new ones will follow."
        yield FeedStatus(FeedState.ENDED, sentence, self._clock.now_ms())

    async def aclose(self) -> None:
        """There is nothing to release."""
