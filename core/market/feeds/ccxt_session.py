"""One ccxt object with its sockets, for one market or for several of one exchange, and each market as a venue on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_faults import LATEST_MS
from core.domain.dates import YEAR_2010_MS
from core.market.feeds.answer_bodies import require_candles
from core.market.feeds.ccxt_objects import (
    BINANCE_FAMILY,
    load_markets,
    make_exchange,
    no_such_interval,
    no_such_market,
    page_rows_of,
    streams_timeframe,
    timeframe_of,
    use_one_socket,
)
from core.market.feeds.ccxt_tap import (
    announces_shutdown,
    closed_times,
    guard_clients,
    pin_caches,
    reports_close,
    tap_candles,
    tap_trades,
)
from core.market.feeds.exchange_facts import Refusal, facts_of
from core.market.feeds.refusals import listed_count, refusal_of
from core.market.feeds.stream_inbox import StreamInbox, candles_of, raw_text
from core.market.feeds.subscriptions import Subscriptions
from core.market.feeds.trouble import CURRENT_ANSWER, HttpResponse, VenueError, explain, message_text, refuses_interval
from core.market.feeds.venue import ExchangeUrls, Updates

_log = logging.getLogger("ghostcandle.feed")
T = TypeVar("T")
_FARTHEST_ROWS = 10_000
"""Tried first after a refusal of older candles without a number."""
_NOT_FOUND = 404
_CLOCK_UNITS_MS = (1, 1000, 1e-3, 1e-6)
"""A time in seconds, microseconds or nanoseconds is plausible in its own unit only."""


class CcxtSession:
    """Streams go to one inbox a market. The session is closed when the last of them is."""

    def __init__(
        self, venue: str, symbols: Sequence[str], interval: Interval, urls: ExchangeUrls | None, request_s: float
    ) -> None:
        """Raises VenueError. symbols: all that may be watched."""
        self.venue = venue
        self._symbols = tuple(symbols)
        self._interval = interval
        self.exchange = make_exchange(venue, urls, request_s, HttpResponse())
        self.name = str(self.exchange.name)
        self.timeframe = timeframe_of(self.exchange, interval)
        if self._is_shared:
            use_one_socket(self.exchange)
        self._markets_named: dict[str, list[str]] = {}
        """The markets whose trades come under a name: the market, or its alias."""
        for symbol in self._symbols:
            for name in {symbol, self._alias(symbol)}:
                self._markets_named.setdefault(name, []).append(symbol)
        self.failure: VenueError | None = None
        self.absent: set[str] = set()
        """Markets that the exchange does not have, or not any more."""
        self._inboxes: dict[str, StreamInbox] = {}
        self._addressed: set[StreamInbox] = set()
        self._closed_times: frozenset[int] = frozenset()
        self._subscriptions: Subscriptions | None = None
        self._results: dict[str, Sequence[Any]] = {}
        """The newest result of each market's trades that bypassed the tap."""
        self._closing: asyncio.Task[None] | None = None
        self._opened_s = self._received_s = asyncio.get_running_loop().time()

    @property
    def is_over(self) -> bool:
        return self.failure is not None or self._closing is not None

    @property
    def age_s(self) -> float:
        return asyncio.get_running_loop().time() - self._opened_s

    @property
    def quiet_s(self) -> float:
        """Seconds since the last message of any kind."""
        return asyncio.get_running_loop().time() - self._received_s

    @property
    def is_streaming(self) -> bool:
        return any(client.isConnected and not client.closed() for client in (self.exchange.clients or {}).values())

    def join(self, symbol: str) -> StreamInbox:
        self._inboxes[symbol] = StreamInbox()
        return self._inboxes[symbol]

    async def leave(self, inbox: StreamInbox) -> None:
        """Give an inbox back. Returns when the sockets are closed, if it was the last one."""
        self._inboxes = {symbol: each for symbol, each in self._inboxes.items() if each is not inbox}
        if self._inboxes:
            return
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._subscriptions is not None:
            await self._subscriptions.close()
        # The session first: a dead peer does not answer the stream's closing handshake.
        for part in (self.exchange.session, self.exchange):
            if part is not None:
                with contextlib.suppress(Exception):
                    await part.close()

    async def load(self, older: CcxtSession | None) -> None:
        """Load the markets, once. `older`: whose unchanging data may be reused."""
        if self.exchange.markets:
            return
        if older is not None and older.exchange.markets:
            self.exchange.set_markets_from_exchange(older.exchange)
        else:
            await load_markets(self.exchange, self._symbols)

    async def send(self, symbol: str, work: Awaitable[T], *, is_of_market: bool = False) -> T:
        """A request's answer. Raises VenueError. is_of_market: it is about the market alone."""
        answer = HttpResponse()
        token = CURRENT_ANSWER.set(answer)
        try:
            return await work
        except Exception as error:
            if is_of_market and self._lacks_market(symbol, error, answer):
                raise self.no_such_market(symbol) from error
            raise self._explained(symbol, error, answer) from error
        finally:
            CURRENT_ANSWER.reset(token)

    async def rows(self, symbol: str, since_ms: int, limit: int) -> list[Any]:
        """ccxt's rows of candles. Raises VenueError if the answer was no list of candles."""
        rows: list[Any] = await self.exchange.fetch_ohlcv(symbol, self.timeframe, since_ms, limit)
        if not rows:
            require_candles(CURRENT_ANSWER.get().body, self.name)
        return rows

    def _lacks_market(self, symbol: str, error: Exception, answer: HttpResponse) -> bool:
        """Whether the exchange answered that it does not have a market which it has listed."""
        name = str(self.exchange.markets[symbol]["id"])
        is_own = answer.body.lstrip()[:1] in ("{", "[")
        if is_own and answer.status == _NOT_FOUND:
            return True
        return is_own and refusal_of(self.venue, message_text(error, answer), name) is Refusal.MARKET

    def no_such_market(self, symbol: str) -> VenueError:
        self.absent.add(symbol)
        sentence = no_such_market(self.name, symbol, self.exchange.markets)
        return VenueError(sentence, is_final=True, is_absent=True)

    def fail(self, failure: VenueError) -> None:
        """End every market's stream. The first failure counts."""
        self.failure = self.failure or failure
        for inbox in self._inboxes.values():
            inbox.fail(self.failure)

    def watch(self) -> None:
        """Start the streams of all markets that the exchange has, once."""
        if self._subscriptions is not None:
            return
        exchange = self.exchange
        streams = self._subscriptions = Subscriptions(exchange, self.timeframe, self, is_shared=self._is_shared)
        guard_clients(exchange, self._read, self._refuse, self._lose)
        pin_caches(exchange)
        symbols = [symbol for symbol in self._symbols if symbol in exchange.markets]
        if self.streams_candles:
            for symbol in symbols:
                tap_candles(exchange, symbol, self.timeframe, partial(self._on_tapped_row, symbol))
            streams.start("candles", symbols, is_together=bool(exchange.has.get("watchOHLCVForSymbols")))
        if exchange.has.get("watchTrades"):
            for symbol in {*symbols, *map(self._alias, symbols)}:
                tap_trades(exchange, symbol, partial(self._put_trade, symbol, is_tapped=True))
            streams.start("trades", symbols, is_together=bool(exchange.has.get("watchTradesForSymbols")))

    @property
    def streams_candles(self) -> bool:
        return bool(self.exchange.has.get("watchOHLCV")) and streams_timeframe(self.exchange, self.timeframe)

    def has_stream(self, symbol: str) -> bool:
        """Whether any of a market's streams is watched, as far as is known. Without one it is read by request."""
        return self._subscriptions is None or self._subscriptions.has_stream(symbol)

    def _alias(self, symbol: str) -> str:
        """The market under whose name its trades come."""
        quote, other = facts_of(self.venue).alias_quote or ("", "")
        return f"{symbol.removesuffix(quote)}{other}" if quote and symbol.endswith(f"/{quote}") else symbol

    @property
    def _is_shared(self) -> bool:
        return len(self._symbols) > 1

    def on_result(self, what: str, symbols: Sequence[str], result: Any) -> None:
        if what == "trades":
            last, self._results[symbols[0]] = self._results.get(symbols[0], ()), tuple(result)
            known = set(map(id, last))  # ccxt may hand over all that it has, every time
            for row in (row for row in result if id(row) not in known):
                self._put_trade(symbols[0], row, is_tapped=False)
            return
        if len(symbols) == 1:
            by_market = [(symbols[0], result)]
        else:
            by_market = [(symbol, rows) for symbol, frames in result.items() for rows in frames.values()]
        for symbol, rows in by_market:
            is_one = bool(rows) and not isinstance(rows[0], list)  # Upbit's
            for row in [rows] if is_one else rows:
                self._put_row(symbol, row, is_closed=False, is_tapped=False)  # which message it was of is not known

    def on_failure(self, symbol: str, error: Exception) -> None:
        self.fail(self._explained(symbol, error, HttpResponse(), is_stream=True))

    def on_closed(self) -> None:
        self.fail(self._closed_stream())

    def on_refusal(self, symbol: str, reason: str, raw: str) -> None:
        inbox = self._inboxes.get(symbol)
        if inbox is not None:
            inbox.refuse(reason, raw)

    def _lose(self, error: BaseException | None) -> None:
        """A socket is gone. error: why, if it is known."""
        if self._closing is None:
            is_known = isinstance(error, Exception)
            self.fail(explain(error, self.name, HttpResponse(), is_stream=True) if is_known else self._closed_stream())  # type: ignore[arg-type]

    def _closed_stream(self) -> VenueError:
        return VenueError(f"{self.name} closed the stream.", is_brief=True)

    def _read(self, message: Any, parse: Callable[[Any], None]) -> None:
        """Have ccxt parse a message. It counts for the markets of its rows; without rows, for all."""
        self._received_s = asyncio.get_running_loop().time()
        self._addressed.clear()
        try:
            self._closed_times = closed_times(self.venue, message)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            self._closed_times = frozenset()
            self._refuse(f"a message that cannot be read ({type(error).__name__})", raw_text(message))
        if announces_shutdown(self.venue, message):
            for inbox in self._inboxes.values():
                inbox.announce_end()
        try:
            parse(message)
        finally:
            for inbox in self._addressed or self._inboxes.values():
                inbox.count_message()

    def _refuse(self, reason: str, raw: str) -> None:
        """A message of an unknown market: each may have lost it."""
        for inbox in self._inboxes.values():
            inbox.refuse(reason, raw)

    def _on_tapped_row(self, symbol: str, row: list[Any]) -> None:
        is_closed = bool(row) and row[0] in self._closed_times
        self._put_row(symbol, row, is_closed=is_closed, is_tapped=True)

    def _put_row(self, symbol: str, row: list[Any], *, is_closed: bool, is_tapped: bool) -> None:
        self._count_row("candles", symbol, is_tapped)
        inbox = self._inboxes.get(symbol)
        if inbox is not None:
            self._addressed.add(inbox)
            inbox.add_row(row, is_closed)

    def _put_trade(self, symbol: str, row: dict[str, Any], *, is_tapped: bool) -> None:
        """symbol: the market whose cache ccxt used, which is the one of its message's first row."""
        name = (row.get("symbol") or symbol) if self._is_shared else symbol
        for market in self._markets_named.get(name, ()):
            self._count_row("trades", market, is_tapped)
            inbox = self._inboxes.get(market)
            if inbox is not None:
                self._addressed.add(inbox)
                inbox.add_trade(row)

    def _count_row(self, what: str, symbol: str, is_tapped: bool) -> None:
        if self._subscriptions is not None:
            self._subscriptions.count_row(what, symbol, is_tapped=is_tapped)

    def _explained(self, symbol: str, error: Exception, answer: HttpResponse, *, is_stream: bool = False) -> VenueError:
        from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

        _log.info("%s: %s: %s", self.name, type(error).__name__, error)
        if isinstance(error, BadSymbol):
            return self.no_such_market(symbol)
        names = self.timeframe, str((self.exchange.timeframes or {}).get(self.timeframe))
        if refuses_interval(error, names):
            return no_such_interval(self.name, self._interval)
        return explain(error, self.name, answer, is_stream, self.venue)


class CcxtVenue:
    """One market of an exchange: candles by request, candles and trades by stream, and the exchange's time. Implements
    `core.market.feeds.venue.Venue`."""

    def __init__(
        self, market: Market, urls: ExchangeUrls | None, request_s: float, session: CcxtSession | None = None
    ) -> None:
        """session: shared with other markets; without it the market has its own."""
        self._market = market
        self._session = session or CcxtSession(market.venue, [market.symbol], market.interval, urls, request_s)
        self._exchange = self._session.exchange
        self.page_rows = page_rows_of(self._exchange)
        self._inbox = self._session.join(market.symbol)
        self._is_closed = False
        self.name = self._session.name
        facts = facts_of(market.venue)
        self.listed_rows = facts.listed_rows
        self.farthest_rows = facts.farthest_rows
        self.reports_close = reports_close(market.venue) and self._session.streams_candles
        self.has_consecutive_ids = market.venue in BINANCE_FAMILY

    @property
    def is_streaming(self) -> bool:
        return self._session.is_streaming

    @property
    def has_stream(self) -> bool:
        return self._session.has_stream(self._market.symbol)

    async def open(self, older: CcxtVenue | None) -> None:
        session, symbol = self._session, self._market.symbol
        await session.send(symbol, session.load(None if older is None else older._session))
        found = self._exchange.markets.get(symbol)
        if found is None or not found.get("spot"):
            raise session.no_such_market(symbol)

    async def server_ms(self) -> int | None:
        if not self._exchange.has.get("fetchTime"):
            return None
        server_ms = await self._session.send(self._market.symbol, self._exchange.fetch_time())
        if not isinstance(server_ms, int):
            raise VenueError(f"{self.name} did not report its time.", is_brief=True)
        times_ms = (int(server_ms * unit_ms) for unit_ms in _CLOCK_UNITS_MS)
        plausible_ms = next((time_ms for time_ms in times_ms if YEAR_2010_MS <= time_ms <= LATEST_MS), None)
        if plausible_ms is None:
            raise VenueError(f"{self.name} reports a time before 2010 or after 2100.", is_of_venue=True)
        return plausible_ms

    async def candles(self, since_ms: int) -> list[Candle]:
        symbol = self._market.symbol
        work = self._session.rows(symbol, since_ms, self.page_rows)
        try:
            rows = await self._session.send(symbol, work, is_of_market=True)
        except VenueError as trouble:
            if trouble.is_too_old:
                # The exchange's own number of candles, else half as many.
                known, listed = self.farthest_rows or 2 * _FARTHEST_ROWS, listed_count(str(trouble))
                self.farthest_rows = listed if listed is not None and listed < known else known // 2
            raise
        return [candle for candle in candles_of(rows) if candle.open_time_ms >= since_ms]

    async def updates(self, timeout_s: float) -> Updates:
        if self._is_closed:  # ccxt would open a new session that is never closed
            raise VenueError(f"The connection to {self.name} was closed.", is_brief=True)
        self._session.watch()
        return await self._inbox.next_updates(timeout_s)

    async def close(self) -> None:
        self._is_closed = True
        await self._session.leave(self._inbox)
