"""The candles of a market that are stored, and no others: what was imported from a file has no feed to follow it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from core.domain.candle import Market
from core.domain.clock import Clock
from core.market.feeds.base import FeedEvent, FeedKind, FeedState, FeedStatus, Known
from core.market.shown_names import shown_market


class StoredFeed:
    """Yields no candle: those that are stored are on the chart and with the trainer already."""

    def __init__(self, market: Market, clock: Clock) -> None:
        self._market, self._clock = market, clock

    @property
    def market(self) -> Market:
        return self._market

    @property
    def kind(self) -> FeedKind:
        return FeedKind.REPLAY

    async def events(self, after_ms: int | None = None, known: Known | None = None) -> AsyncIterator[FeedEvent]:
        sentence = f"The stored candles of {shown_market(self._market)} are shown; none follow them."
        yield FeedStatus(FeedState.ENDED, sentence, self._clock.now_ms())

    async def aclose(self) -> None:
        """Nothing is held."""
