"""An exchange on 127.0.0.1 in the forms of Coinbase's Advanced Trade: REST and the WebSocket's market trades.

What they look like was taken from the messages that ccxt's `coinbase` classes document and read.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from core.domain.candle import Candle
from core.market.feeds.urls import ExchangeUrls
from tests.support.exchange.client import Client
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.exchange.wire import text
from tests.support.tape import TapeTrade

PRODUCT = "BTC-USD"
MOST_ROWS = 350
_SNAPSHOT_TRADES = 50
_BAD_REQUEST = 400
_GRANULARITIES = {"ONE_MINUTE": 60_000, "FIVE_MINUTE": 300_000}


class CoinbaseExchange(LoopbackExchange):
    """Serves BTC/USD. It has no stream of candles; trades come newest first, several in a message."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, symbol="BTC/USD", **named)
        self._sequence = 0

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
        found = [_PRODUCT] if is_spot else []
        return web.json_response({"products": found, "num_products": len(found)})

    async def _klines(self, request: web.Request) -> web.Response:
        """Newest first, from `start` to `end`, both counted in."""
        step_ms = _GRANULARITIES.get(request.query.get("granularity", ""))
        if request.match_info["product"] != PRODUCT or step_ms != self.tape.interval.duration_ms:
            return _refusal("INVALID_ARGUMENT", "unknown product or granularity")
        first_ms, last_ms = (int(request.query[name]) * 1000 for name in ("start", "end"))
        if (last_ms - first_ms) // step_ms >= MOST_ROWS:
            return _refusal("INVALID_ARGUMENT", "number of candles requested should be less than 350")
        shown = [self._as_known(each) for each in self._as_of(self.now_ms()) if each.open_time_ms not in self.hidden]
        rows = [candle for candle in shown if first_ms <= candle.open_time_ms <= last_ms]
        return web.json_response({"candles": [_row(candle) for candle in reversed(rows)]})

    async def _obey(self, socket: Client, request: dict[str, Any]) -> None:
        if request.get("type") != "subscribe" or request.get("product_ids") != [PRODUCT]:
            await socket.ws.send_json({"type": "error", "message": "subscription was not understood"})
            return
        channel = str(request.get("channel"))
        if channel == "market_trades":
            now_ms = self.now_ms()
            candles_ms = (_SNAPSHOT_TRADES // self.tape.trades + 2) * self.tape.interval.duration_ms
            trades = list(self._shown(self.tape.trades_between(now_ms - candles_ms, now_ms)))
            await socket.ws.send_json(self._trades_event("market_trades", "snapshot", trades[-_SNAPSHOT_TRADES:]))
            socket.sent_ms[channel] = now_ms
            socket.streams.add(channel)
        await socket.ws.send_json(self._envelope("subscriptions", {"subscriptions": {channel: [PRODUCT]}}))

    def _due(self, socket: Client) -> Iterable[Message]:
        for stream in sorted(socket.streams):
            now_ms = self.now_ms()
            trades = list(self._shown(self.tape.trades_between(socket.sent_ms[stream] + 1, now_ms)))
            socket.sent_ms[stream] = now_ms
            if trades:
                self.trades_sent += len(trades)
                yield Message(socket, stream, self._trades_event(stream, "update", trades))

    def _trades_event(self, channel: str, kind: str, trades: list[TapeTrade]) -> dict[str, Any]:
        return self._envelope(channel, {"type": kind, "trades": [_trade(trade) for trade in reversed(trades)]})

    def _envelope(self, channel: str, event: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        return {
            "channel": channel,
            "client_id": "",
            "timestamp": _moment(self.now_ms()),
            "sequence_num": self._sequence,
            "events": [event],
        }


def _trade(trade: TapeTrade) -> dict[str, Any]:
    return {
        "trade_id": str(trade.id),
        "product_id": PRODUCT,
        "price": text(trade.price),
        "size": text(trade.amount),
        "side": "SELL" if trade.id % 2 else "BUY",
        "time": _moment(trade.time_ms),
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
