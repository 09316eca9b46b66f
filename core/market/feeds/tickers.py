"""Prices of many markets of one exchange, by request, from ccxt's tickers."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from core.domain.candle import Interval
from core.domain.clock import Clock
from core.market.feeds.ccxt_objects import (
    make_exchange,
    no_such_interval,
    no_such_market,
    only_these_markets,
    require_markets,
    timeframe_of,
    timeframes_of,
)
from core.market.feeds.grid import CandleGrid
from core.market.feeds.rate_limits import RateLimitHold
from core.market.feeds.stream_inbox import candles_of
from core.market.feeds.trouble import HttpResponse, VenueError, explain, refuses_interval
from core.market.feeds.venue import ExchangeUrls

_PROBED_ROWS = 10

_log = logging.getLogger("ghostcandle.feed")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Quote:
    """One market's price. at_ms: when it was received, by this computer's clock. change: against a day ago, as a
    fraction; None if unknown."""

    last: float
    at_ms: int
    change: float | None = None


class TickerSource:
    """Requests prices from one ccxt exchange. All methods raise VenueError; `close` raises nothing."""

    def __init__(
        self,
        venue: str,
        urls: ExchangeUrls | None,
        request_s: float,
        hold: RateLimitHold,
        markets: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """hold: shared with everything else that sends requests to this exchange. markets: ccxt's descriptions from an
        earlier source of this venue."""
        self._venue = venue
        self._hold = hold
        self._answer = HttpResponse()
        self._exchange = make_exchange(venue, urls, request_s, self._answer)
        self.name = str(self._exchange.name)
        """Display name: ``Binance``."""
        self._described: dict[str, Mapping[str, Any]] = {}
        if markets:
            self._describe(markets)

    @property
    def markets(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self._described.values())

    def require_interval(self, interval: Interval) -> None:
        """Raises VenueError if the exchange has no candles of this interval. Sends no request."""
        timeframe_of(self._exchange, interval)

    async def require_candles(self, symbol: str, interval: Interval) -> None:
        """Request candles of a learned market: an exchange may refuse an interval that ccxt lists for it, or answer
        with candles of another one."""
        from ccxt import BadRequest, NotSupported  # noqa: PLC0415 - loaded already, by the exchange itself

        name = timeframe_of(self._exchange, interval)
        try:
            rows = await self._send(
                partial(self._exchange.fetch_ohlcv, symbol, name, None, _PROBED_ROWS), passes=(BadRequest, NotSupported)
            )
        except (BadRequest, NotSupported) as error:
            if not refuses_interval(error, (name,)):
                raise explain(error, self.name, self._answer, venue=self._venue) from error
            others = [each for each in timeframes_of(self._exchange) if each != name]
            raise no_such_interval(self.name, interval, others) from error
        times_ms, grid = [candle.open_time_ms for candle in candles_of(rows)], CandleGrid(interval)
        grid.learn(times_ms)
        unfit = grid.refusal(self.name, times_ms)
        if unfit is not None:
            raise VenueError(unfit, is_final=True)

    async def learn(self, symbols: Iterable[str]) -> dict[str, str]:
        """Request the descriptions of these markets. Returns the unknown ones, each with a sentence."""
        unknown: dict[str, str] = {}
        for symbol in symbols:
            if symbol in self._described:
                continue
            only = only_these_markets(self._venue, [symbol])
            if only or not self._described:
                await self._load(only)
            if symbol not in self._described:
                unknown[symbol] = no_such_market(self.name, symbol, self._described)
        return unknown

    async def all_symbols(self) -> tuple[str, ...]:
        """Request all spot markets that are traded, in the order of their names."""
        markets: list[dict[str, Any]] = await self._send(self._exchange.fetch_markets)
        require_markets(markets, self.name)
        traded = (each for each in markets if each.get("spot") and each.get("active") is not False)
        return tuple(sorted({str(each["symbol"]) for each in traded}))

    async def quotes(self, symbols: Sequence[str], clock: Clock) -> dict[str, Quote]:
        """Prices of these symbols, whose markets must be loaded; unknown ones are omitted."""
        if not symbols:
            return {}
        if self._exchange.has.get("fetchTickers"):
            tickers = await self._send(partial(self._exchange.fetch_tickers, list(symbols)))
        else:
            fetch = self._exchange.fetch_ticker
            tickers = {symbol: await self._send(partial(fetch, symbol)) for symbol in symbols}
        quotes = {symbol: quote_of(tickers[symbol], clock.now_ms()) for symbol in symbols if symbol in tickers}
        return {symbol: quote for symbol, quote in quotes.items() if quote is not None}

    async def close(self) -> None:
        with contextlib.suppress(Exception):
            await self._exchange.close()

    async def _load(self, only: Mapping[str, str]) -> None:
        from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

        try:
            markets = await self._send(partial(self._exchange.fetch_markets, dict(only)), passes=BadSymbol)
            require_markets(markets, self.name)
            self._describe(markets)
        except BadSymbol:
            _log.info("%s has no market %s", self.name, only)

    def _describe(self, markets: Iterable[Mapping[str, Any]]) -> None:
        self._described.update({str(market["symbol"]): market for market in markets if market.get("spot")})
        self._exchange.set_markets(list(self._described.values()))

    async def _send(
        self, request: Callable[[], Awaitable[T]], passes: type[Exception] | tuple[type[Exception], ...] = ()
    ) -> T:
        async def explained() -> T:
            self._answer.status = None
            try:
                return await request()
            except passes:
                raise
            except Exception as error:
                raise explain(error, self.name, self._answer, venue=self._venue) from error
            finally:
                self._answer.body = ""  # a list of all markets has megabytes

        return await self._hold.send(explained)


def quote_of(ticker: Mapping[str, Any], at_ms: int) -> Quote | None:
    """The price in a ticker as ccxt writes it, whose change is in percent. None without a price."""
    last, percentage = (math.nan if ticker.get(key) is None else float(ticker[key]) for key in ("last", "percentage"))
    if not (math.isfinite(last) and last > 0.0):
        return None
    return Quote(last, at_ms, percentage / 100.0 if math.isfinite(percentage) else None)
