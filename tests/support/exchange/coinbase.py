"""An exchange on 127.0.0.1 in the forms of Coinbase's Advanced Trade: REST and the WebSocket's market trades.

What they look like was taken from the messages that ccxt's `coinbase` classes document and read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from core.domain.candle import Candle
from core.market.feeds.venue import ExchangeUrls
from tests.support.exchange.client import Client
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.exchange.wire import text
from tests.support.tape import Tape, TapeTrade

PRODUCT = "BTC-USD"
MOST_ROWS = 350
_SNAPSHOT_TRADES = 50
_BAD_REQUEST = 400
_GRANULARITIES = {"ONE_MINUTE": 60_000, "FIVE_MINUTE": 300_000}


class CoinbaseExchange(LoopbackExchange):
    """Serves BTC/USD, and the markets of `others`. It has no stream of candles; trades come newest first, several in a
    message, which may be those of several markets."""

    def __init__(
        self, *positional: Any, symbol: str = "BTC/USD", others: Mapping[str, Tape] | None = None, **named: Any
    ) -> None:
        super().__init__(*positional, symbol=symbol, **named)
        self._sequence = 0
        self.markets: dict[str, CoinbaseExchange] = {symbol: self}
        for other, tape in (others or {}).items():
            self.markets[other] = CoinbaseExchange(tape, *positional[1:], symbol=other, **named)

    @property
    def product(self) -> str:
        """Its name in requests and messages."""
        return self.symbol.replace("/", "-")

    @property
    def urls(self) -> ExchangeUrls:
        return ExchangeUrls(f"http://127.0.0.1:{self.port}", f"ws://127.0.0.1:{self.port}", "coinbase")

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._trouble])
        products = "/api/v3/brokerage/market/products"
        application.add_routes(
            [
                web.get("/v2/time", self._time),
                web.get("/v2/currencies", self._fiat),
                web.get("/v2/currencies/crypto", self._crypto),
                web.get("/v2/exchange-rates", self._rates),
                web.get(products, self._products),
                web.get(f"{products}/{{product}}/candles", self._klines),
                web.get("/", self._stream),
            ]
        )
        return application

    async def _time(self, _: web.Request) -> web.Response:
        now_ms = self.now_ms()
        return web.json_response({"data": {"epoch": now_ms // 1000, "iso": _moment(now_ms)}})

    async def _fiat(self, _: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "USD", "name": "US Dollar", "min_size": "0.01"}]})

    async def _crypto(self, _: web.Request) -> web.Response:
        bitcoin = {"asset_id": "5b71fc48-3dd3-540c-809b-f8c94d0e68b5", "code": "BTC", "name": "Bitcoin"}
        return web.json_response({"data": [bitcoin]})

    async def _rates(self, _: web.Request) -> web.Response:
        return web.json_response({"data": {"currency": "USD", "rates": {"USD": "1.0", "BTC": "0.00001"}}})

    async def _products(self, request: web.Request) -> web.Response:
        is_spot = request.query.get("product_type", "SPOT") == "SPOT"
        found = [market._described() for market in self.markets.values()] if is_spot else []
        return web.json_response({"products": found, "num_products": len(found)})

    def _described(self) -> dict[str, Any]:
        base = self.symbol.split("/")[0]
        names = {"product_id": self.product, "display_name": self.product, "base_currency_id": base}
        return _PRODUCT if self.product == PRODUCT else {**_PRODUCT, **names}

    async def _klines(self, request: web.Request) -> web.Response:
        wanted = request.match_info["product"]
        market = next((each for each in self.markets.values() if each.product == wanted), None)
        return _refusal("INVALID_ARGUMENT", "unknown product") if market is None else market._listed(request)

    def _listed(self, request: web.Request) -> web.Response:
        """Newest first, from `start` to `end`, both counted in."""
        step_ms = _GRANULARITIES.get(request.query.get("granularity", ""))
        if step_ms != self.tape.interval.duration_ms:
            return _refusal("INVALID_ARGUMENT", "unknown granularity")
        first_ms, last_ms = (int(request.query[name]) * 1000 for name in ("start", "end"))
        if (last_ms - first_ms) // step_ms >= MOST_ROWS:
            return _refusal("INVALID_ARGUMENT", "number of candles requested should be less than 350")
        shown = [self._as_known(each) for each in self._as_of(self.now_ms()) if each.open_time_ms not in self.hidden]
        rows = [candle for candle in shown if first_ms <= candle.open_time_ms <= last_ms]
        return web.json_response({"candles": [_row(candle) for candle in reversed(rows)]})

    async def _obey(self, socket: Client, request: dict[str, Any]) -> None:
        wanted = [each for each in self.markets.values() if each.product in request.get("product_ids", ())]
        if request.get("type") != "subscribe" or len(wanted) != len(request.get("product_ids", ())):
            await socket.ws.send_json({"type": "error", "message": "subscription was not understood"})
            return
        channel = str(request.get("channel"))
        for market in wanted if channel == "market_trades" else ():
            now_ms = self.now_ms()
            candles_ms = (_SNAPSHOT_TRADES // self.tape.trades + 2) * self.tape.interval.duration_ms
            trades = market._traded(now_ms - candles_ms, now_ms)[-_SNAPSHOT_TRADES:]
            await socket.ws.send_json(self._trades_event("market_trades", "snapshot", trades))
            socket.sent_ms[market.product] = now_ms
            socket.streams.add(market.product)
        products = [market.product for market in wanted]
        await socket.ws.send_json(self._envelope("subscriptions", {"subscriptions": {channel: products}}))

    def _due(self, socket: Client) -> Iterable[Message]:
        """The trades of all markets in one message."""
        now_ms, trades = self.now_ms(), []
        for market in self.markets.values():
            if market.product in socket.streams:
                trades += market._traded(socket.sent_ms[market.product] + 1, now_ms)
                socket.sent_ms[market.product] = now_ms
        if trades:
            self.trades_sent += len(trades)
            yield Message(socket, "market_trades", self._trades_event("market_trades", "update", trades))

    def _traded(self, first_ms: int, last_ms: int) -> list[dict[str, Any]]:
        return [self._trade(trade) for trade in self._shown(self.tape.trades_between(first_ms, last_ms))]

    def _trades_event(self, channel: str, kind: str, trades: list[dict[str, Any]]) -> dict[str, Any]:
        return self._envelope(channel, {"type": kind, "trades": trades[::-1]})

    def _trade(self, trade: TapeTrade) -> dict[str, Any]:
        return {
            "trade_id": str(trade.id),
            "product_id": self.product,
            "price": text(trade.price),
            "size": text(trade.amount),
            "side": "SELL" if trade.id % 2 else "BUY",
            "time": _moment(trade.time_ms),
        }

    def _envelope(self, channel: str, event: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        return {
            "channel": channel,
            "client_id": "",
            "timestamp": _moment(self.now_ms()),
            "sequence_num": self._sequence,
            "events": [event],
        }


def _row(candle: Candle) -> dict[str, str]:
    names = ("low", "high", "open", "close", "volume")
    return {"start": str(candle.open_time_ms // 1000), **{name: text(getattr(candle, name)) for name in names}}


def _moment(time_ms: int) -> str:
    moment = datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{time_ms % 1000:03d}000Z"


def _refusal(code: str, sentence: str) -> web.Response:
    return web.json_response({"error": code, "message": sentence, "error_details": sentence}, status=_BAD_REQUEST)


_PRODUCT = {
    "product_id": PRODUCT,
    "price": "100",
    "base_increment": "0.00000001",
    "quote_increment": "0.01",
    "quote_min_size": "1",
    "quote_max_size": "150000000",
    "base_min_size": "0.00000001",
    "base_max_size": "3400",
    "base_name": "Bitcoin",
    "quote_name": "US Dollar",
    "is_disabled": False,
    "status": "online",
    "trading_disabled": False,
    "product_type": "SPOT",
    "quote_currency_id": "USD",
    "base_currency_id": "BTC",
    "alias": "",
    "alias_to": [],
    "price_increment": "0.01",
    "display_name": "BTC-USD",
    "product_venue": "CBE",
}
