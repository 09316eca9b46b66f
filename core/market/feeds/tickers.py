"""Prices of many markets of one exchange, by request: the last price, and a day's closes for a sparkline."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from core.domain.candle import DAY_MS, Candle, Interval
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
from core.market.feeds.urls import ExchangeUrls

_SPARK_INTERVALS = ("15m", "30m", "1h")
_LONGEST_GAP_MS = 3_600_000
"""The price of a day ago may be off by this much time."""
_PROBED_ROWS = 10
_MARGIN = 6
"""Candles requested beyond a day, to include the one before its start."""

_log = logging.getLogger("ghostcandle.feed")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DayOfPrices:
    """The last day's closes, ascending, and the price a day before the newest of them; None if unknown."""

    closes: tuple[float, ...]
    day_ago: float | None


@dataclass(frozen=True, slots=True)
class Quote:
    """One market's price. at_ms: when it was received, by this computer's clock."""

    last: float
    at_ms: int
    day: DayOfPrices | None = None

    @property
    def change(self) -> float | None:
        """Change against a day ago, as a fraction, to the length of its candles; None if that price is unknown."""
        if self.day is None or self.day.day_ago is None:
            return None
        return self.last / self.day.day_ago - 1.0


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
        """ccxt's descriptions of all learned markets."""
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
            rows = await self._ask(
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
        markets: list[dict[str, Any]] = await self._ask(self._exchange.fetch_markets)
        require_markets(markets, self.name)
        traded = (each for each in markets if each.get("spot") and each.get("active") is not False)
        return tuple(sorted({str(each["symbol"]) for each in traded}))

    async def last_prices(self, symbols: Sequence[str]) -> dict[str, float]:
        if not symbols:
            return {}
        if self._exchange.has.get("fetchTickers"):
            tickers = await self._ask(partial(self._exchange.fetch_tickers, list(symbols)))
        else:
            ask = self._exchange.fetch_ticker
            tickers = {symbol: await self._ask(partial(ask, symbol)) for symbol in symbols}
        prices = {symbol: _price(ticker.get("last")) for symbol, ticker in tickers.items()}
        return {symbol: price for symbol, price in prices.items() if price is not None and symbol in symbols}

    async def day(self, symbol: str) -> DayOfPrices:
        """The closes of the last day before the newest candle."""
        name, interval_ms = self._spark_interval()
        count = DAY_MS // interval_ms + _MARGIN
        rows = await self._ask(partial(self._exchange.fetch_ohlcv, symbol, name, None, count))
        return day_of(candles_of(rows), interval_ms)

    async def close(self) -> None:
        with contextlib.suppress(Exception):
            await self._exchange.close()

    async def _load(self, only: Mapping[str, str]) -> None:
        from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

        try:
            markets = await self._ask(partial(self._exchange.fetch_markets, dict(only)), passes=BadSymbol)
            require_markets(markets, self.name)
            self._describe(markets)
        except BadSymbol:
            _log.info("%s has no market %s", self.name, only)

    def _describe(self, markets: Iterable[Mapping[str, Any]]) -> None:
        self._described.update({str(market["symbol"]): market for market in markets if market.get("spot")})
        self._exchange.set_markets(list(self._described.values()))

    def _spark_interval(self) -> tuple[str, int]:
        names = self._exchange.timeframes or {}
        name = next((each for each in _SPARK_INTERVALS if each in names), None)
        if name is None or not self._exchange.has.get("fetchOHLCV"):
            raise VenueError(f"{self.name} has no candles to draw a day's prices from.")
        return name, Interval.parse(name).duration_ms

    async def _ask(
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

        return await self._hold.ask(explained)


def day_of(candles: Sequence[Candle], interval_ms: int) -> DayOfPrices:
    """The last day of ascending candles, by the newest one's time, as this computer's clock may be wrong."""
    sound = [candle for candle in candles if _price(candle.close) is not None and _price(candle.open) is not None]
    if not sound:
        return DayOfPrices((), None)
    begin_ms = sound[-1].open_time_ms - DAY_MS
    closes = tuple(candle.close for candle in sound if candle.open_time_ms > begin_ms)
    return DayOfPrices(closes, _price_at(sound, begin_ms, interval_ms))


def _price_at(candles: Sequence[Candle], time_ms: int, interval_ms: int) -> float | None:
    """The last price before `time_ms`, else the first one shortly after it."""
    before = [candle for candle in candles if candle.open_time_ms + interval_ms <= time_ms]
    if before and time_ms - before[-1].open_time_ms - interval_ms <= _LONGEST_GAP_MS:
        return before[-1].close
    after = [candle for candle in candles if time_ms < candle.open_time_ms + interval_ms]
    if after and after[0].open_time_ms - time_ms <= _LONGEST_GAP_MS:
        return after[0].open
    return None


def _price(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) and number > 0.0 else None
