"""The loopback exchange with several markets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from tests.support.exchange import wire
from tests.support.exchange.client import Client
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.tape import Tape


class ManyMarkets(LoopbackExchange):
    """Serves the markets of `tapes`, by symbol. Each of `markets` has its own holes and corrections; the controls are
    those of this one."""

    def __init__(self, tapes: Mapping[str, Tape], now_ms: Callable[[], int], **named: Any) -> None:
        first, *others = tapes
        super().__init__(tapes[first], now_ms, first, **named)
        self.markets: dict[str, LoopbackExchange] = {first: self}
        self.markets |= {symbol: LoopbackExchange(tapes[symbol], now_ms, symbol, **named) for symbol in others}

        self.muted: set[str] = set()
        """Markets that the streams bring nothing of any more."""
        self.refused: set[str] = set()
        """Markets that nobody may subscribe to: ccxt gets an error for the whole request."""

    def delist(self, symbol: str) -> None:
        """It is not traded here any more."""
        del self.markets[symbol]

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.append(self._by_symbol)
        return application

    @web.middleware
    async def _by_symbol(
        self, request: web.Request, handler: Callable[[web.Request], web.StreamResponse]
    ) -> web.StreamResponse:
        if "symbol" not in request.query and not request.path.endswith("/exchangeInfo"):
            return await handler(request)  # type: ignore[misc]
        wanted = json.loads(request.query.get("symbols", "[]")) or [request.query["symbol"]]
        found = [market for market in self.markets.values() if market._id in wanted]
        if len(found) < len(wanted):
            return wire.refusal(-1121, "Invalid symbol.")
        match request.path.rpartition("/")[-1]:
            case "exchangeInfo":
                symbols = [wire.description(market.symbol) for market in found]
                return web.json_response({"timezone": "UTC", "serverTime": self.now_ms(), "symbols": symbols})
            case "klines":
                return await found[0]._klines(request)
            case "aggTrades":
                return await found[0]._aggregates(request)
        return await found[0]._trades(request)

    async def _obey(self, socket: Client, request: dict[str, Any]) -> None:
        names = [symbol.replace("/", "").lower() for symbol in self.refused]
        if any(stream.partition("@")[0] in names for stream in request.get("params", [])):
            error = {"error": {"code": 2, "msg": "Invalid request: invalid stream"}, "id": request.get("id")}
            await socket.ws.send_json(error)
        else:
            await super()._obey(socket, request)

    def _due(self, socket: Client) -> Iterable[Message]:
        for symbol, market in self.markets.items():
            if symbol not in self.muted:
                yield from LoopbackExchange._due(market, socket)
