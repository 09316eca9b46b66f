"""An exchange as the source of a backfill: the feeds' own venue, one object from one trouble to the next."""

from __future__ import annotations

from core.clock import Clock
from core.market.candle import Market
from core.market.feeds.urls import ExchangeUrls
from core.market.feeds.venue import Venue
from core.market.history.backfilling import HistorySource, OpenSource

_REQUEST_S = 20.0


def open_venue(market: Market, clock: Clock, urls: ExchangeUrls | None, request_s: float = _REQUEST_S) -> OpenSource:
    """How to connect to the market's exchange. urls: another address. request_s: how long an answer may take."""

    async def open_source(older: HistorySource | None) -> HistorySource:
        venue = Venue(market, clock, urls, request_s)
        try:
            await venue.open(older if isinstance(older, Venue) else None)
        except BaseException:
            await venue.close()
            raise
        return venue

    return open_source
