"""An exchange as the source of a backfill: the feeds' venue, with its clock."""

from __future__ import annotations

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.market.feeds.ccxt_venue import CcxtVenue
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.urls import ExchangeUrls
from core.market.history.backfilling import HistorySource, OpenSource

_REQUEST_S = 20.0
_SYNC_EVERY_S = 600.0


class VenueSource:
    """A `core.market.history.backfilling.HistorySource` over one connection."""

    def __init__(self, market: Market, clock: Clock, venue: CcxtVenue) -> None:
        self._clock, self.venue = clock, venue
        self._time = ServerClock(clock, market.interval)
        self.name, self.listed_rows = venue.name, venue.listed_rows

    @property
    def page_rows(self) -> int:
        return self.venue.page_rows

    def now_ms(self) -> int:
        return self._time.now_ms()

    def forming_ms(self) -> int:
        return self._time.forming_ms()

    async def sync(self) -> None:
        """Sync with the exchange's clock. Raises VenueError."""
        asked_s = self._clock.monotonic_s()
        self._time.set(await self.venue.server_ms(), asked_s)

    async def candles(self, since_ms: int) -> list[Candle]:
        if self._time.age_s > _SYNC_EVERY_S:
            await self.sync()
        found = await self.venue.candles(since_ms)
        self._time.learn(found)
        return found

    async def close(self) -> None:
        await self.venue.close()


def open_venue(market: Market, clock: Clock, urls: ExchangeUrls | None, request_s: float = _REQUEST_S) -> OpenSource:
    """Creates connections to the market's exchange. urls: another address. request_s: timeout of a request."""

    async def open_source(older: HistorySource | None) -> HistorySource:
        source = VenueSource(market, clock, CcxtVenue(market, urls, request_s))
        try:
            await source.venue.open(older.venue if isinstance(older, VenueSource) else None)
            await source.sync()
        except BaseException:
            await source.close()
            raise
        return source

    return open_source
