"""Any of ccxt's exchanges over the in-memory network: its real object sends its requests to a server of the test's.

The hosts of all its URLs are replaced. Its markets are given; then it is not asked for its time either.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from core.domain.candle import Interval, Market
from core.market.feeds import ccxt_objects, ccxt_session
from core.market.feeds.ccxt_session import CcxtVenue

MARKETS = {
    "binance": ("BTC/USDT", "BTCUSDT"),
    "bingx": ("BTC/USDT", "BTC-USDT"),
    "bitget": ("BTC/USDT", "BTCUSDT"),
    "bithumb": ("BTC/KRW", "KRW-BTC"),
    "bitstamp": ("BTC/USD", "btcusd"),
    "bitvavo": ("BTC/EUR", "BTC-EUR"),
    "bybit": ("BTC/USDT", "BTCUSDT"),
    "cex": ("BTC/USD", "BTC-USD"),
    "coinbase": ("BTC/USD", "BTC-USD"),
    "coinbaseexchange": ("BTC/USD", "BTC-USD"),
    "cryptocom": ("BTC/USD", "BTC_USD"),
    "deribit": ("BTC/USDC", "BTC_USDC"),
    "gemini": ("BTC/USD", "btcusd"),
    "hashkey": ("BTC/USDT", "BTCUSDT"),
    "htx": ("BTC/USDT", "btcusdt"),
    "kraken": ("BTC/USD", "XXBTZUSD"),
    "kucoin": ("BTC/USDT", "BTC-USDT"),
    "okx": ("BTC/USDT", "BTC-USDT"),
    "phemex": ("BTC/USDT", "sBTCUSDT"),
    "upbit": ("BTC/KRW", "KRW-BTC"),
    "whitebit": ("BTC/USDT", "BTC_USDT"),
    "woo": ("BTC/USDT", "SPOT_BTC_USDT"),
}
"""One of each exchange: its symbol, and the exchange's own name of it."""
_HOST = re.compile(r"(http|ws)s?://[^/]+")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the exchange."""

    body: Any = ""
    """Sent as JSON, or as it is if it is text."""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[web.Request], Any]
"""A `Reply`, or its body."""


@dataclass(slots=True)
class ScriptedExchange:
    """answer: to every request; may be replaced. markets: symbols with the exchange's own names; None: it is asked."""

    venue: str
    answer: Answer
    markets: dict[str, str] | None
    extra: dict[str, Any] = field(default_factory=dict)
    """Further entries of ccxt's descriptions of the markets."""
    requests: list[str] = field(default_factory=list)
    """Path, query and body of each."""
    _port: int = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[ScriptedExchange]:
        """Serve, and direct every object of ccxt's made meanwhile to this server."""
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._port = runner.addresses[0][1]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ccxt_session, "make_exchange", self.make)
            try:
                yield self
            finally:
                await runner.cleanup()

    def open_venue(self, market: Market) -> CcxtVenue:
        return CcxtVenue(market, None, 5.0)

    def market(self, interval: str = "1m") -> Market:
        """The first of its markets."""
        assert self.markets is not None
        return Market(self.venue, next(iter(self.markets)), Interval.parse(interval))

    def make(self, *arguments: Any) -> Any:
        """In place of `make_exchange`."""
        exchange = ccxt_objects.make_exchange(*arguments)
        exchange.urls["api"] = self._redirected(exchange.urls["api"])
        exchange.aiohttp_trust_env = False
        exchange.options["cachedCurrencies"] = {}
        if self.markets is not None:
            exchange.has["fetchTime"] = False
            exchange.set_markets([self._described(symbol, name) for symbol, name in self.markets.items()])
        return exchange

    def _redirected(self, urls: Any) -> Any:
        if isinstance(urls, dict):
            return {key: self._redirected(url) for key, url in urls.items()}
        return _HOST.sub(rf"\1://127.0.0.1:{self._port}", urls) if isinstance(urls, str) else urls

    def _described(self, symbol: str, name: str) -> dict[str, Any]:
        base, quote = symbol.split("/")
        kinds = dict.fromkeys(("swap", "future", "option", "contract", "margin"), False)
        names = {"id": name, "symbol": symbol, "base": base, "quote": quote, "baseId": base, "quoteId": quote}
        return {**names, "type": "spot", "spot": True, "active": True, **kinds, "info": {}, **self.extra}

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await _ignored_socket(request)
        self.requests.append(f"{request.path_qs} {await request.text()}")
        answered = self.answer(request)
        reply = answered if isinstance(answered, Reply) else Reply(answered)
        if isinstance(reply.body, str):
            return web.Response(text=reply.body, status=reply.status, content_type=reply.kind, headers=reply.headers)
        return web.json_response(reply.body, status=reply.status, headers=reply.headers)


async def _ignored_socket(request: web.Request) -> web.WebSocketResponse:
    """A stream on which nothing comes."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    with contextlib.suppress(asyncio.CancelledError):
        async for message in socket:
            if message.type == WSMsgType.CLOSE:
                break
    return socket
