"""One market of an exchange through ccxt: candles by request, candles and trades by stream, and the exchange's time."""

from __future__ import annotations

from core.domain.candle import Candle, Market
from core.domain.validation import LATEST_MS
from core.market.feeds.ccxt_objects import BINANCE_FAMILY
from core.market.feeds.ccxt_session import CcxtSession
from core.market.feeds.ccxt_tap import reports_close
from core.market.feeds.stream_inbox import candles_of
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls
from core.market.feeds.venue import Updates

_MOST_ROWS = 1000
_LISTED_ROWS = {"kraken": 720}


class CcxtVenue:
    """Implements `core.market.feeds.venue.Venue`."""

    def __init__(
        self, market: Market, urls: ExchangeUrls | None, request_s: float, session: CcxtSession | None = None
    ) -> None:
        """session: shared with other markets; without it the market has its own."""
        self._market = market
        self._session = session or CcxtSession(market.venue, [market.symbol], market.interval, urls, request_s)
        self._exchange = self._session.exchange
        self.page_rows = _MOST_ROWS
        self._inbox = self._session.join(market.symbol)
        self._is_closed = False
        self.name = self._session.name
        self.listed_rows = _LISTED_ROWS.get(market.venue)
        self.reports_close = reports_close(market.venue) and bool(self._exchange.has.get("watchOHLCV"))
        self.has_consecutive_ids = market.venue in BINANCE_FAMILY

    @property
    def is_streaming(self) -> bool:
        return self._session.is_streaming

    async def open(self, older: CcxtVenue | None) -> None:
        session, symbol = self._session, self._market.symbol
        await session.ask(symbol, session.load(None if older is None else older._session))
        found = self._exchange.markets.get(symbol)
        if found is None or not found.get("spot"):
            raise session.no_such_market(symbol)
        limit = self._exchange.feature_value(symbol, "fetchOHLCV", "limit", _MOST_ROWS)
        self.page_rows = min(_MOST_ROWS, int(limit or _MOST_ROWS))

    async def server_ms(self) -> int | None:
        if not self._exchange.has.get("fetchTime"):
            return None
        server_ms = await self._session.ask(self._market.symbol, self._exchange.fetch_time())
        if not isinstance(server_ms, int):
            raise VenueError(f"{self.name} did not report its time.", is_brief=True)
        if not 0 < server_ms <= LATEST_MS:
            raise VenueError(f"{self.name} reports a time before 1970 or after 2100.", is_of_venue=True)
        return server_ms

    async def candles(self, since_ms: int) -> list[Candle]:
        symbol = self._market.symbol
        rows = await self._session.ask(
            symbol, self._exchange.fetch_ohlcv(symbol, self._session.timeframe, since_ms, self.page_rows)
        )
        return [candle for candle in candles_of(rows) if candle.open_time_ms >= since_ms]

    async def updates(self, timeout_s: float) -> Updates:
        if self._is_closed:  # ccxt would open a new session that is never closed
            raise VenueError(f"The connection to {self.name} was closed.", is_brief=True)
        self._session.watch()
        return await self._inbox.take(timeout_s)

    async def close(self) -> None:
        self._is_closed = True
        await self._session.leave(self._inbox)
