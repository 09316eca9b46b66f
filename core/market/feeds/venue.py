"""One ccxt exchange, from opening to closing: candles by request and by stream, and the exchange's own time."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import logging
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

from core.clock import Clock
from core.market.candle import Candle, Interval, Market
from core.market.feeds.trouble import Answer, VenueError, explain
from core.market.feeds.urls import ExchangeUrls

BINANCE_MARKET_DATA = ExchangeUrls("https://data-api.binance.vision/api/v3", "wss://data-stream.binance.vision/ws")
"""Binance's hosts for market data alone: no key, and open where its trading hosts are not."""
_BINANCE_FAMILY = frozenset({"binance", "binanceus"})
_MOST_ROWS = 1000
_SYNC_EVERY_S = 600.0
_DAY_MS = 86_400_000

_log = logging.getLogger("ghostcandle.feed")
T = TypeVar("T")


class Venue:
    """Everything that is asked of an exchange. All methods raise VenueError; `close` raises nothing."""

    def __init__(self, market: Market, clock: Clock, urls: ExchangeUrls | None, request_s: float) -> None:
        self._market = market
        self._clock = clock
        self._answer = Answer()
        self._exchange = _make_exchange(market.venue, urls, request_s, self._answer)
        self._timeframe = _timeframe(self._exchange, market.interval)
        self._page_rows = _MOST_ROWS
        self._phase_ms = 0
        self._server_ms = clock.now_ms()
        self._synced_s = clock.monotonic_s()
        self._updates: asyncio.Task[list[Candle]] | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """As people know it: ``Binance``."""
        return str(self._exchange.name)

    async def open(self, older: Venue | None) -> None:
        """Learn the market and the exchange's time. `older`: a closed one, whose list of markets is taken over."""
        if older is not None and older._exchange.markets is not None:
            self._exchange.set_markets_from_exchange(older._exchange)
        else:
            await self._ask(self._exchange.load_markets(params=_only_this_market(self._market)))
        self._require_market()
        limit = self._exchange.feature_value(self._market.symbol, "fetchOHLCV", "limit", _MOST_ROWS)
        self._page_rows = min(_MOST_ROWS, int(limit or _MOST_ROWS))
        await self._sync()

    def now_ms(self) -> int:
        """The exchange's time. It runs on the monotonic clock: a step of this computer's clock must close no candle."""
        return self._server_ms + int((self._clock.monotonic_s() - self._synced_s) * 1000.0)

    def forming_ms(self) -> int:
        """The opening time of the candle that is open now."""
        interval = self._market.interval
        return interval.open_time_ms(self.now_ms() - self._phase_ms) + self._phase_ms

    @property
    def page_rows(self) -> int:
        """How many candles one request brings at most."""
        return self._page_rows

    async def candles(self, since_ms: int) -> list[Candle]:
        """The first page of candles that opened at or after `since_ms`, ascending; the last may be unfinished."""
        if self._clock.monotonic_s() - self._synced_s > _SYNC_EVERY_S:
            await self._sync()
        rows = await self._ask(
            self._exchange.fetch_ohlcv(self._market.symbol, self._timeframe, since_ms, self._page_rows)
        )
        found = [candle for candle in _candles(rows) if candle.open_time_ms >= since_ms]
        self._learn_from(found)
        return found

    @property
    def is_streaming(self) -> bool:
        """Whether the stream's socket stands, though it may not have said anything yet."""
        return any(client.isConnected and not client.closed() for client in (self._exchange.clients or {}).values())

    async def updates(self, timeout_s: float) -> list[Candle]:
        """What the stream brings next, ascending; empty where nothing comes in time."""
        if self._closing is not None:  # ccxt would open a new session for it, which nobody closes
            raise VenueError(f"The connection to {self.name} was closed.", is_brief=True)
        if self._updates is None:
            self._updates = asyncio.create_task(self._watch())
        done, _ = await asyncio.wait({self._updates}, timeout=max(0.0, timeout_s))
        if not done:
            return []
        task, self._updates = self._updates, None
        return task.result()

    async def close(self) -> None:
        """Let go of the sockets. Whoever calls it, and however often, returns when they are gone."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        task, self._updates = self._updates, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        # The session goes first: a peer that has died does not answer the stream's goodbye.
        for part in (self._exchange.session, self._exchange):
            if part is not None:
                with contextlib.suppress(Exception):
                    await part.close()

    async def _watch(self) -> list[Candle]:
        self._answer.status = None
        try:
            rows = await self._exchange.watch_ohlcv(self._market.symbol, self._timeframe)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise VenueError(f"{self.name} closed the stream.", is_brief=True) from None
        except Exception as error:
            raise self._told(error, is_stream=True) from error
        found = _candles(rows)
        self._learn_from(found)
        return found

    async def _ask(self, work: Awaitable[T]) -> T:
        self._answer.status = None
        try:
            return await work
        except Exception as error:
            raise self._told(error) from error

    def _told(self, error: Exception, is_stream: bool = False) -> VenueError:
        from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

        _log.info("%s: %s: %s", self.name, type(error).__name__, error)
        if isinstance(error, BadSymbol):
            known = self._exchange.markets
            return VenueError(_no_such_market(self.name, self._market.symbol, known), is_final=True)
        return explain(error, self.name, self._answer, is_stream)

    async def _sync(self) -> None:
        """Take the exchange's time; where it does not tell, this computer's is all there is."""
        if not self._exchange.has.get("fetchTime"):
            self._server_ms, self._synced_s = self._clock.now_ms(), self._clock.monotonic_s()
            return
        asked_s = self._clock.monotonic_s()
        told_ms = await self._ask(self._exchange.fetch_time())
        answered_s = self._clock.monotonic_s()
        if not isinstance(told_ms, int):
            raise VenueError(f"{self.name} did not tell its time.", is_brief=True)
        self._server_ms, self._synced_s = told_ms, (asked_s + answered_s) / 2.0

    def _learn_from(self, candles: list[Candle]) -> None:
        """A candle that exists has opened; and weeks open on Mondays, not with the epoch."""
        if not candles:
            return
        newest_ms = candles[-1].open_time_ms
        if self._market.interval.duration_ms > _DAY_MS:
            self._phase_ms = newest_ms % self._market.interval.duration_ms
        if newest_ms > self.now_ms():
            self._server_ms, self._synced_s = newest_ms, self._clock.monotonic_s()

    def _require_market(self) -> None:
        found = (self._exchange.markets or {}).get(self._market.symbol)
        if found is None or not found.get("spot"):
            raise VenueError(_no_such_market(self.name, self._market.symbol, self._exchange.markets), is_final=True)


def _make_exchange(venue: str, urls: ExchangeUrls | None, request_s: float, answer: Answer) -> Any:
    """A ccxt exchange for spot candles, without keys. Its HTTP answers are noted in `answer`."""
    import ccxt.pro  # noqa: PLC0415 - 0.7 to 2.8 s: after the first paint

    if venue not in ccxt.pro.exchanges:
        close = difflib.get_close_matches(venue.lower(), ccxt.pro.exchanges, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise VenueError(f"'{venue}' is not an exchange with a stream of candles.{hint}", is_final=True)
    exchange = getattr(ccxt.pro, venue)(
        {"timeout": int(request_s * 1000), "enableRateLimit": True, "aiohttp_trust_env": urls is None}
    )
    if not (exchange.has.get("watchOHLCV") and exchange.has.get("fetchOHLCV")):
        raise VenueError(f"{exchange.name} has no stream of candles. Choose another venue.", is_final=True)
    exchange.options["defaultType"] = "spot"
    exchange.options["fetchMarkets"] = _spot_only(exchange.options.get("fetchMarkets"))
    _redirect(exchange, urls)
    _take_note(exchange, answer)
    return exchange


def _spot_only(options: Any) -> Any:
    """ccxt's exchanges say in three forms which markets they load; futures and options are never wanted."""
    if isinstance(options, list):
        return ["spot"] if "spot" in options else options
    if not isinstance(options, dict):
        return options
    types = options.get("types")
    if isinstance(types, list) and "spot" in types:
        return {**options, "types": ["spot"]}
    if isinstance(types, dict) and "spot" in types:
        return {**options, "types": {name: name == "spot" for name in types}}
    return options


def _redirect(exchange: Any, urls: ExchangeUrls | None) -> None:
    chosen = urls or (BINANCE_MARKET_DATA if exchange.id == "binance" else None)
    if chosen is None:
        return
    if exchange.id not in _BINANCE_FAMILY:
        raise VenueError(f"{exchange.name} cannot be reached at another address; use binance.", is_final=True)
    exchange.urls["api"]["public"] = chosen.public
    exchange.urls["api"]["ws"]["spot"] = chosen.ws


def _take_note(exchange: Any, answer: Answer) -> None:
    parse = exchange.on_rest_response

    def note(code: int, reason: str, url: str, method: str, headers: dict[str, str], *rest: Any) -> Any:
        answer.status, answer.headers = code, headers
        return parse(code, reason, url, method, headers, *rest)

    exchange.on_rest_response = note


def _only_this_market(market: Market) -> dict[str, str]:
    """Binance describes one market in a kilobyte and all of them in many megabytes."""
    if market.venue not in _BINANCE_FAMILY:
        return {}
    return {"symbol": market.symbol.replace("/", "").upper()}


def _timeframe(exchange: Any, interval: Interval) -> str:
    names: dict[str, Any] = exchange.timeframes or {}
    for name in names:
        if not name.endswith(("M", "y")) and exchange.parse_timeframe(name) * 1000 == interval.duration_ms:
            return name
    raise VenueError(
        f"{exchange.name} has no candles of {interval}. It has {', '.join(names)}. Choose another interval.",
        is_final=True,
    )


def _no_such_market(name: str, symbol: str, markets: dict[str, Any] | None) -> str:
    known = {str(market["id"]).upper(): found for found, market in (markets or {}).items() if market.get("spot")}
    wanted = symbol.replace("/", "").replace("-", "").upper()
    close = [known[key] for key in difflib.get_close_matches(wanted, known, n=3)]
    hint = f" Did you mean {' or '.join(close)}?" if close else " Symbols are written like BTC/USDT."
    return f"{name} has no spot market {symbol}.{hint}"


def _candles(rows: Iterable[list[float | None]]) -> list[Candle]:
    """ccxt's rows as candles, ascending, each time once. A row with an empty cell is no candle."""
    found: dict[int, Candle] = {}
    for row in rows:
        time_ms, *numbers = row[:6]
        values = [float(number) for number in numbers if number is not None]
        if time_ms is not None and len(values) == 5:
            found[int(time_ms)] = Candle(int(time_ms), *values)
    return [found[time_ms] for time_ms in sorted(found)]


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
