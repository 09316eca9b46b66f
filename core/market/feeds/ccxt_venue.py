"""A connection through ccxt: candles by request, candles and trades by stream, and the exchange's time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from core.domain.candle import Candle, Market
from core.domain.validation import LATEST_MS
from core.market.aggregate import Trade
from core.market.feeds.ccxt_objects import (
    BINANCE_FAMILY,
    make_exchange,
    no_such_interval,
    no_such_market,
    only_this_market,
    timeframe_of,
)
from core.market.feeds.ccxt_tap import (
    announces_shutdown,
    closed_times,
    guard_clients,
    reports_close,
    tap_candles,
    tap_trades,
)
from core.market.feeds.trouble import HttpResponse, VenueError, explain, refuses_interval
from core.market.feeds.urls import ExchangeUrls
from core.market.feeds.venue import Kline, Refused, Updates

_MOST_ROWS = 1000
_LISTED_ROWS = {"kraken": 720}
_PACE_S = 0.02
"""Between two results of `updates`: a flood is passed on fifty times a second, not message by message."""
_MOST_WAITING = 200_000
"""The most trades buffered for a slow subscriber."""

_log = logging.getLogger("ghostcandle.feed")
T = TypeVar("T")


class CcxtVenue:
    """Implements `core.market.feeds.venue.Venue`."""

    def __init__(self, market: Market, urls: ExchangeUrls | None, request_s: float) -> None:
        self._market = market
        self._answer = HttpResponse()
        self._exchange = make_exchange(market.venue, urls, request_s, self._answer)
        self._timeframe = timeframe_of(self._exchange, market.interval)
        self._page_rows = _MOST_ROWS
        self._inbox = Updates()
        self._closed_times: frozenset[int] = frozenset()
        self._tapped: set[str] = set()
        self._watching: set[asyncio.Task[None]] = set()
        self._failure: VenueError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._answered_s = 0.0
        self._closing: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return str(self._exchange.name)

    @property
    def page_rows(self) -> int:
        return self._page_rows

    @property
    def listed_rows(self) -> int | None:
        return _LISTED_ROWS.get(self._market.venue)

    @property
    def reports_close(self) -> bool:
        return reports_close(self._market.venue) and bool(self._exchange.has.get("watchOHLCV"))

    @property
    def has_consecutive_ids(self) -> bool:
        return self._market.venue in BINANCE_FAMILY

    @property
    def is_streaming(self) -> bool:
        return any(client.isConnected and not client.closed() for client in (self._exchange.clients or {}).values())

    async def open(self, older: CcxtVenue | None) -> None:
        if older is not None and older._exchange.markets is not None:
            self._exchange.set_markets_from_exchange(older._exchange)
        else:
            await self._ask(self._exchange.load_markets(params=only_this_market(self._market)))
        self._require_market()
        limit = self._exchange.feature_value(self._market.symbol, "fetchOHLCV", "limit", _MOST_ROWS)
        self._page_rows = min(_MOST_ROWS, int(limit or _MOST_ROWS))

    async def server_ms(self) -> int | None:
        if not self._exchange.has.get("fetchTime"):
            return None
        server_ms = await self._ask(self._exchange.fetch_time())
        if not isinstance(server_ms, int):
            raise VenueError(f"{self.name} did not report its time.", is_brief=True)
        if not 0 < server_ms <= LATEST_MS:
            raise VenueError(f"{self.name} reports a time before 1970 or after 2100.", is_of_venue=True)
        return server_ms

    async def candles(self, since_ms: int) -> list[Candle]:
        rows = await self._ask(
            self._exchange.fetch_ohlcv(self._market.symbol, self._timeframe, since_ms, self._page_rows)
        )
        return [candle for candle in _candles(rows) if candle.open_time_ms >= since_ms]

    async def updates(self, timeout_s: float) -> Updates:
        if self._closing is not None:  # ccxt would open a new session that is never closed
            raise VenueError(f"The connection to {self.name} was closed.", is_brief=True)
        if not self._watching:
            self._watch()
        loop = asyncio.get_running_loop()
        if not self._has_news:
            await self._wait(loop, timeout_s)
        elif (early_s := self._answered_s + _PACE_S - loop.time()) > 0.0:
            await asyncio.sleep(early_s)
        self._answered_s = loop.time()
        updates, self._inbox = self._inbox, Updates()
        if not updates.messages and not updates.refused and self._failure is not None:
            raise self._failure
        return updates

    @property
    def _has_news(self) -> bool:
        inbox = self._inbox
        return self._failure is not None or inbox.is_ending or bool(inbox.refused) or not inbox.is_empty

    async def _wait(self, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self._waiter = loop.create_future()
        timer = loop.call_later(max(0.0, timeout_s), self._wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        # The session first: a dead peer does not answer the stream's closing handshake.
        for part in (self._exchange.session, self._exchange):
            if part is not None:
                with contextlib.suppress(Exception):
                    await part.close()

    def _watch(self) -> None:
        exchange, symbol = self._exchange, self._market.symbol
        guard_clients(exchange, self._on_message, self._refuse)
        if exchange.has.get("watchOHLCV"):
            tap_candles(exchange, symbol, self._timeframe, self._keep_row)
            self._start("candles", lambda: exchange.watch_ohlcv(symbol, self._timeframe), self._keep_row)
        if exchange.has.get("watchTrades"):
            tap_trades(exchange, symbol, self._keep_trade)
            self._start("trades", lambda: exchange.watch_trades(symbol), self._keep_trade)

    def _start(self, what: str, ask: Callable[[], Awaitable[Any]], keep: Callable[[Any], None]) -> None:
        self._watching.add(asyncio.create_task(self._keep_watching(what, ask, keep)))

    async def _keep_watching(self, what: str, ask: Callable[[], Awaitable[Any]], keep: Callable[[Any], None]) -> None:
        """Rows that the tap has taken already are skipped; the results only count if the exchange bypasses the tap."""
        try:
            while True:
                rows = await ask()
                for row in [] if what in self._tapped else rows:
                    keep(row)
                self._tapped.discard(what)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            self._fail(VenueError(f"{self.name} closed the stream.", is_brief=True))
        except Exception as error:
            self._end_watch(what, error)

    def _end_watch(self, what: str, error: Exception) -> None:
        """Ignore a stream that the exchange does not have for this market, if there is another one."""
        from ccxt import NotSupported  # noqa: PLC0415 - loaded already, by the exchange itself

        is_only = sum(not task.done() for task in self._watching) <= 1
        if isinstance(error, NotSupported) and not is_only:
            self._refuse(f"no stream of {what}", str(error))
        else:
            self._fail(self._venue_error(error, is_stream=True))

    def _fail(self, failure: VenueError) -> None:
        self._failure = self._failure or failure
        self._wake()

    def _on_message(self, message: Any) -> None:
        self._inbox.messages += 1
        try:
            self._closed_times = closed_times(self._market.venue, message)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            self._closed_times = frozenset()
            self._refuse(f"a message that cannot be read ({type(error).__name__})", _raw(message))
        if announces_shutdown(self._market.venue, message):
            self._inbox.is_ending = True
            self._wake()

    def _refuse(self, reason: str, raw: str) -> None:
        self._inbox.refused.append(Refused(reason, raw))
        self._wake()

    def _keep_row(self, row: list[Any]) -> None:
        self._tapped.add("candles")
        candle = _candle(row)
        if candle is None:
            self._refuse("a candle with an empty cell", _raw(row))
            return
        self._inbox.klines.append(Kline(candle, candle.open_time_ms in self._closed_times))
        self._wake()

    def _keep_trade(self, row: dict[str, Any]) -> None:
        self._tapped.add("trades")
        trade = _trade(row)
        if trade is None:
            self._refuse("a trade with an empty cell", _raw(row.get("info", row)))
        elif len(self._inbox.trades) < _MOST_WAITING:
            self._inbox.trades.append(trade)
        self._wake()

    async def _ask(self, work: Awaitable[T]) -> T:
        self._answer.status = None
        try:
            return await work
        except Exception as error:
            raise self._venue_error(error) from error

    def _venue_error(self, error: Exception, is_stream: bool = False) -> VenueError:
        from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

        _log.info("%s: %s: %s", self.name, type(error).__name__, error)
        if isinstance(error, BadSymbol):
            return self._no_such_market()
        if refuses_interval(error):
            return no_such_interval(self.name, self._market.interval)
        return explain(error, self.name, HttpResponse() if is_stream else self._answer, is_stream)

    def _require_market(self) -> None:
        found = (self._exchange.markets or {}).get(self._market.symbol)
        if found is None or not found.get("spot"):
            raise self._no_such_market()

    def _no_such_market(self) -> VenueError:
        sentence = no_such_market(self.name, self._market.symbol, self._exchange.markets)
        return VenueError(sentence, is_final=True, is_absent=True)


def _candles(rows: Iterable[list[float | None]]) -> list[Candle]:
    """ccxt's rows as candles, ascending, each time once. Rows with an empty cell are skipped."""
    found = {candle.open_time_ms: candle for candle in map(_candle, rows) if candle is not None}
    return [found[time_ms] for time_ms in sorted(found)]


def _candle(row: list[float | None]) -> Candle | None:
    time_ms, *numbers = row[:6]
    values = [float(number) for number in numbers if number is not None]
    return Candle(int(time_ms), *values) if time_ms is not None and len(values) == 5 else None


def _trade(row: dict[str, Any]) -> Trade | None:
    time_ms, price, amount = row.get("timestamp"), row.get("price"), row.get("amount")
    if time_ms is None or price is None or amount is None:
        return None
    name = row.get("id")
    trade_id = int(name) if isinstance(name, str) and name.isdecimal() else name
    return Trade(trade_id, int(time_ms), float(price), float(amount))


def _raw(message: Any) -> str:
    """The message as text; ccxt passes on its parsed form."""
    try:
        return json.dumps(message)
    except (TypeError, ValueError):
        return str(message)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
