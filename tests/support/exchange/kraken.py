"""An exchange on 127.0.0.1 in Kraken's forms: REST ``/0/public`` and WebSocket v2.

What they look like was taken from the messages that ccxt's `kraken` classes document and read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from core.domain.candle import Candle
from core.market.feeds.venue import ExchangeUrls
from tests.support.exchange.client import Client
from tests.support.exchange.clock import loop_s
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.exchange.wire import text
from tests.support.tape import Tape, TapeTrade

PAIR = "XXBTZUSD"
MOST_ROWS = 720
"""The list goes back only this far, for any request."""
_SNAPSHOT_TRADES = 50
_SNAPSHOT_CANDLES = 5
_HEARTBEAT_S = 1.0


class KrakenExchange(LoopbackExchange):
    """Serves BTC/USD, and the markets of `others`. Candles are streamed as they form, without a closing message."""

    def __init__(
        self, *positional: Any, symbol: str = "BTC/USD", others: Mapping[str, Tape] | None = None, **named: Any
    ) -> None:
        super().__init__(*positional, symbol=symbol, **named)
        self.markets: dict[str, KrakenExchange] = {symbol: self}
        for other, tape in (others or {}).items():
            self.markets[other] = KrakenExchange(tape, *positional[1:], symbol=other, **named)

    @property
    def pair(self) -> str:
        """Its name in requests."""
        return PAIR if self.symbol == "BTC/USD" else self._id

    @property
    def urls(self) -> ExchangeUrls:
        return ExchangeUrls(f"http://127.0.0.1:{self.port}", f"ws://127.0.0.1:{self.port}/v2", "kraken")

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._trouble])
        application.add_routes(
            [
                web.get("/0/public/Time", self._time),
                web.get("/0/public/Assets", self._assets),
                web.get("/0/public/AssetPairs", self._pairs),
                web.get("/0/public/OHLC", self._klines),
                web.get("/v2", self._stream),
            ]
        )
        return application

    async def _time(self, _: web.Request) -> web.Response:
        return _result({"unixtime": self.now_ms() // 1000, "rfc1123": ""})

    async def _assets(self, _: web.Request) -> web.Response:
        asset = {"aclass": "currency", "decimals": 10, "display_decimals": 5, "status": "enabled"}
        bases = [symbol.split("/")[0] for symbol in self.markets if symbol != "BTC/USD"]
        others = {base: {**asset, "altname": base} for base in bases}
        return _result({"XXBT": {**asset, "altname": "XBT"}, "ZUSD": {**asset, "altname": "USD"}, **others})

    async def _pairs(self, _: web.Request) -> web.Response:
        return _result({market.pair: market._described() for market in self.markets.values()})

    def _described(self) -> dict[str, Any]:
        if self.pair == PAIR:
            return _PAIR
        base = self.symbol.split("/")[0]
        return {**_PAIR, "altname": self._id, "wsname": self.symbol, "base": base}

    async def _klines(self, request: web.Request) -> web.Response:
        market = next((each for each in self.markets.values() if each.pair == request.query.get("pair")), None)
        if market is None:
            return web.json_response({"error": ["EQuery:Unknown asset pair"]})
        return market._listed(request)

    def _listed(self, request: web.Request) -> web.Response:
        if int(request.query.get("interval", "1")) * 60_000 != self.tape.interval.duration_ms:
            return web.json_response({"error": ["EGeneral:Invalid arguments"]})
        after_ms = int(request.query.get("since", "-1")) * 1000
        shown = [self._as_known(each) for each in self._as_of(self.now_ms()) if each.open_time_ms not in self.hidden]
        rows = [candle for candle in shown if candle.open_time_ms > after_ms][-MOST_ROWS:]
        last_s = rows[-2].open_time_ms // 1000 if len(rows) > 1 else 0
        return _result({self.pair: [_row(candle) for candle in rows], "last": last_s})

    async def _obey(self, socket: Client, request: dict[str, Any]) -> None:
        method, wanted, now = request.get("method"), request.get("params", {}), _moment(self.now_ms())
        answer: dict[str, Any] = {"method": method, "req_id": request.get("req_id"), "time_in": now, "time_out": now}
        if method == "ping":
            await socket.ws.send_json({**answer, "method": "pong"})
            return
        channel = wanted.get("channel")
        for symbol in wanted.get("symbol", ()):
            market = self.markets.get(symbol)
            if method != "subscribe" or channel not in ("ohlc", "trade") or market is None:
                await socket.ws.send_json({**answer, "success": False, "error": "Currency pair not supported"})
                continue
            result = {"channel": channel, "snapshot": True, "symbol": symbol}
            await socket.ws.send_json({**answer, "success": True, "result": result})
            snapshot = market._snapshot(channel)
            if snapshot:
                await socket.ws.send_json({"channel": channel, "type": "snapshot", "data": snapshot})
            stream = f"{channel} {symbol}"
            socket.sent_ms[stream] = self.now_ms()
            socket.streams.add(stream)

    def _snapshot(self, channel: str) -> list[dict[str, Any]]:
        now_ms = self.now_ms()
        if channel == "ohlc":
            return [self._candle(candle) for candle in self.tape.until(now_ms)[-_SNAPSHOT_CANDLES:]]
        candles_ms = (_SNAPSHOT_TRADES // self.tape.trades + 2) * self.tape.interval.duration_ms
        trades = list(self._shown(self.tape.trades_between(now_ms - candles_ms, now_ms)))
        return [self._trade(trade) for trade in trades[-_SNAPSHOT_TRADES:]]

    def _due(self, socket: Client) -> Iterable[Message]:
        messages = [message for stream in sorted(socket.streams) for message in self._of_market(stream, socket)]
        if messages:
            socket.kline_at_s = loop_s()
        elif loop_s() - socket.kline_at_s > _HEARTBEAT_S:
            socket.kline_at_s = loop_s()
            messages = [Message(socket, "heartbeat", {"channel": "heartbeat"})]
        return messages

    def _of_market(self, stream: str, socket: Client) -> Iterable[Message]:
        return self.markets[stream.split()[1]]._of(stream, socket)

    def _of(self, stream: str, socket: Client) -> Iterable[Message]:
        """Several trades come in one message; each of them updates the candle."""
        now_ms, before_ms = self.now_ms(), socket.sent_ms[stream]
        trades = list(self._shown(self.tape.trades_between(before_ms + 1, now_ms)))
        socket.sent_ms[stream] = now_ms
        if not trades:
            return
        if stream.startswith("trade"):
            self.trades_sent += len(trades)
            yield Message(socket, stream, _update("trade", [self._trade(trade) for trade in trades], now_ms))
            return
        ended = self.tape.candle(self.tape.interval.open_time_ms(before_ms))
        forming = self.tape.forming(now_ms)
        if ended is not None and forming is not None and forming.open_time_ms > ended.open_time_ms:
            yield Message(socket, stream, _update("ohlc", [self._candle(ended)], now_ms))
        if forming is not None and forming.open_time_ms not in self.hidden:
            yield Message(socket, stream, _update("ohlc", [self._candle(forming)], now_ms))

    def _trade(self, trade: TapeTrade) -> dict[str, Any]:
        return {
            "symbol": self.symbol,
            "side": "sell" if trade.id % 2 else "buy",
            "price": trade.price,
            "qty": trade.amount,
            "ord_type": "market",
            "trade_id": trade.id,
            "timestamp": _moment(trade.time_ms),
        }

    def _candle(self, candle: Candle) -> dict[str, Any]:
        duration_ms = self.tape.interval.duration_ms
        return {
            "symbol": self.symbol,
            "open": candle.open,
            "high": candle.high,
            "low": candle.low,
            "close": candle.close,
            "trades": 12,
            "volume": candle.volume,
            "vwap": candle.close,
            "interval_begin": _moment(candle.open_time_ms, digits=9),
            "interval": duration_ms // 60_000,
            "timestamp": _moment(candle.open_time_ms + duration_ms),
        }


def _update(channel: str, data: list[dict[str, Any]], now_ms: int) -> dict[str, Any]:
    return {"channel": channel, "type": "update", "timestamp": _moment(now_ms, digits=9), "data": data}


def _result(result: dict[str, Any]) -> web.Response:
    return web.json_response({"error": [], "result": result})


def _row(candle: Candle) -> list[Any]:
    prices = map(text, (candle.open, candle.high, candle.low, candle.close, candle.close))
    return [candle.open_time_ms // 1000, *prices, text(candle.volume), 12]


def _moment(time_ms: int, digits: int = 6) -> str:
    moment = datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{time_ms % 1000:03d}{'0' * (digits - 3)}Z"


_PAIR = {
    "altname": "XBTUSD",
    "wsname": "XBT/USD",
    "aclass_base": "currency",
    "base": "XXBT",
    "aclass_quote": "currency",
    "quote": "ZUSD",
    "lot": "unit",
    "pair_decimals": 1,
    "lot_decimals": 8,
    "lot_multiplier": 1,
    "leverage_buy": [2, 3],
    "leverage_sell": [2, 3],
    "fees": [[0, 0.26]],
    "fees_maker": [[0, 0.16]],
    "fee_volume_currency": "ZUSD",
    "margin_call": 80,
    "margin_stop": 40,
    "ordermin": "0.0001",
    "costmin": "0.5",
    "tick_size": "0.1",
    "status": "online",
}
