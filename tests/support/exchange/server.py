"""The loopback exchange itself: Binance's REST and WebSocket forms on 127.0.0.1, with controls and toxics."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from core.domain.candle import Candle
from core.market.feeds.venue import ExchangeUrls
from tests.support.exchange import wire
from tests.support.exchange.client import Client
from tests.support.exchange.clock import loop_s, wall_ms
from tests.support.exchange.toxics import ClockSkew, Message, MessageToxic
from tests.support.tape import Tape, TapeTrade, partly

_MOST_ROWS = 1000
_USUAL_ROWS = 500
_OPEN_AND_CLOSED = 2
_SENT_CANDLES = 10
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LoopbackExchange:
    """Serves one market. Controls may be called from the loop that it runs on."""

    def __init__(
        self,
        tape: Tape,
        now_ms: Callable[[], int] = wall_ms,
        symbol: str = "BTC/USDT",
        push_s: float = 0.05,
        sends_final: bool = True,
        kline_s: float = 0.0,
    ) -> None:
        """now_ms: the exchange's clock. sends_final: whether the stream shows a candle once more when it closes.
        push_s: between two looks at what is to be sent. kline_s: at least so long between two looks at an open candle.
        """
        self.tape = tape
        self.now_ms = now_ms
        self.symbol = symbol
        self.requests: list[str] = []
        self.sockets_opened = 0
        self.trades_sent = 0
        self.toxics: list[MessageToxic] = []
        """Applied to each message, in this order."""
        self.hidden: set[int] = set()
        """Opening times of candles that the exchange does not have."""
        self.corrected: dict[int, Candle] = {}
        """Candles that requests are answered with by now, in place of the tape's."""
        self.answers_late_s = 0.0
        """Candles that are asked for are looked up at once, and sent so much later."""
        self.stale_answers = 0
        """So many of the next answers show the newest closed candle as it stood in its middle."""
        self._push_s = push_s
        self._kline_s = kline_s
        self._sends_final = sends_final
        self._sockets: list[Client] = []
        self.is_deserted = asyncio.Event()
        """Set while no stream is open."""
        self.is_deserted.set()
        self._status: tuple[int, dict[str, str], bytes] | None = None
        self._is_refusing = self._is_stalled = False
        self._runner: web.AppRunner | None = None
        self._pusher: asyncio.Task[None] | None = None
        self._closers: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def urls(self) -> ExchangeUrls:
        return ExchangeUrls(f"http://127.0.0.1:{self._port}/api/v3", f"ws://127.0.0.1:{self._port}/ws")

    @property
    def port(self) -> int:
        return self._port

    @property
    def sockets(self) -> int:
        """How many streams are open."""
        return len(self._sockets)

    def truth(self, open_time_ms: int) -> Candle | None:
        """The candle that opened then, as the exchange has it by now; None where it has none."""
        if open_time_ms in self.hidden:
            return None
        return self.corrected.get(open_time_ms) or self.tape.candle(open_time_ms)

    async def __aenter__(self) -> LoopbackExchange:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        self._runner = web.AppRunner(self._application(), shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self._pusher = asyncio.create_task(self._push_for_ever())

    async def stop(self) -> None:
        tasks = [task for task in (self._pusher, *self._closers) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()

    def cut(self) -> None:
        """Drop every stream, as a network does: without a goodbye."""
        for socket in self._sockets:
            socket.abort()

    def end_of_day(self) -> None:
        """Close every stream politely, as after 24 hours."""
        self._close_all(after_s=0.0)

    def shut_down(self, after_s: float = 0.1) -> None:
        """Announce that this server goes, and close its streams a little later. Another one takes new streams."""
        for socket in self._sockets:
            message = {"e": "serverShutdown", "E": self.now_ms()}
            stream = "!serverShutdown" if socket.is_combined else ""
            self._start(self._send(Message(socket, stream, message)))
        self._close_all(after_s)

    def stall(self) -> None:
        """Streams stay open, but nothing goes through them any more, not even a goodbye. Requests are answered."""
        self._is_stalled = True
        for socket in self._sockets:
            socket.freeze()

    def refuse(self) -> None:
        """Hang up on everybody, as when there is no network."""
        self._is_refusing = True
        self.cut()

    def answer(
        self, status: int, retry_after_s: int | str | None = None, body: str | bytes = "", packing: str | None = None
    ) -> None:
        """Answer everything with this status: 429, 418, 451, 403, 503 ... packing: how the body's bytes are packed."""
        asked = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
        packed = {} if packing is None else {"Content-Encoding": packing}
        self._status = (status, asked | packed, body.encode() if isinstance(body, str) else body)

    def resume(self) -> None:
        """All is well again."""
        self._is_stalled = self._is_refusing = False
        self._status = None
        self.answers_late_s = 0.0
        self.toxics.clear()
        for socket in self._sockets:
            socket.thaw()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._trouble])
        application.add_routes(
            [
                web.get("/api/v3/ping", self._ping),
                web.get("/api/v3/time", self._time),
                web.get("/api/v3/exchangeInfo", self._exchange_info),
                web.get("/api/v3/klines", self._klines),
                web.get("/api/v3/trades", self._trades),
                web.get("/api/v3/historicalTrades", self._trades),
                web.get("/api/v3/aggTrades", self._aggregates),
                web.get("/ws", self._stream),
                web.get("/ws/{name}", self._stream),
                web.get("/stream", self._stream),
                web.post("/control/{what}", self._control),
            ]
        )
        return application

    @web.middleware
    async def _trouble(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        if request.path.startswith("/control/"):
            return await handler(request)
        if self._is_refusing and request.transport is not None:
            request.transport.abort()
        if self._status is not None:
            status, headers, body = self._status
            return web.Response(status=status, headers=headers, body=body, content_type="application/json")
        return await handler(request)

    async def _ping(self, _: web.Request) -> web.Response:
        return web.json_response({})

    async def _time(self, _: web.Request) -> web.Response:
        skew_ms = sum(toxic.ms for toxic in self.toxics if isinstance(toxic, ClockSkew))
        return web.json_response({"serverTime": self.now_ms() + skew_ms})

    async def _exchange_info(self, request: web.Request) -> web.Response:
        wanted = request.query.get("symbol")
        if wanted is not None and wanted != self._id:
            return wire.refusal(-1121, "Invalid symbol.")
        symbols = [wire.description(self.symbol)]
        return web.json_response({"timezone": "UTC", "serverTime": self.now_ms(), "symbols": symbols})

    async def _klines(self, request: web.Request) -> web.Response:
        query = request.query
        if query.get("symbol") != self._id:
            return wire.refusal(-1121, "Invalid symbol.")
        if query.get("interval") != str(self.tape.interval):
            return wire.refusal(-1120, "Invalid interval.")
        limit = _limit(request)
        now_ms = self.now_ms()
        start, end = int(query.get("startTime", -1)), int(query.get("endTime", now_ms))
        rows = [self._as_known(candle) for candle in self._as_of(now_ms) if candle.open_time_ms not in self.hidden]
        rows = [candle for candle in rows if start <= candle.open_time_ms <= end]
        rows = rows[:limit] if start >= 0 else rows[-limit:]
        await asyncio.sleep(self.answers_late_s)
        return web.json_response([wire.kline_row(candle, self.tape.interval) for candle in rows])

    def _as_known(self, candle: Candle) -> Candle:
        is_closed = candle.open_time_ms + self.tape.interval.duration_ms <= self.now_ms()
        return self.corrected.get(candle.open_time_ms, candle) if is_closed else candle

    def _as_of(self, now_ms: int) -> list[Candle]:
        rows = self.tape.until(now_ms)
        if self.stale_answers == 0 or len(rows) < _OPEN_AND_CLOSED:
            return rows
        self.stale_answers -= 1
        return [*rows[:-2], partly(self.tape, rows[-2]), rows[-1]]

    async def _trades(self, request: web.Request) -> web.Response:
        return self._asked_trades(request, wire.trade_row)

    async def _aggregates(self, request: web.Request) -> web.Response:
        return self._asked_trades(request, wire.aggregate_row)

    def _asked_trades(self, request: web.Request, row: Callable[[TapeTrade], dict[str, Any]]) -> web.Response:
        query, limit, now_ms = request.query, _limit(request), self.now_ms()
        if query.get("symbol") != self._id:
            return wire.refusal(-1121, "Invalid symbol.")
        end_ms = min(now_ms, int(query.get("endTime", now_ms)))
        found: Iterable[TapeTrade]
        if "fromId" in query:
            found = itertools.islice(self._shown(self.tape.trades_from(int(query["fromId"]), end_ms)), limit)
        elif "startTime" in query:
            found = itertools.islice(self._shown(self.tape.trades_between(int(query["startTime"]), end_ms)), limit)
        else:
            candles_ms = (limit // self.tape.trades + 2) * self.tape.interval.duration_ms
            found = deque(self._shown(self.tape.trades_between(end_ms - candles_ms, end_ms)), maxlen=limit)
        return web.json_response([row(trade) for trade in found])

    def _shown(self, trades: Iterable[TapeTrade]) -> Iterable[TapeTrade]:
        return (trade for trade in trades if self.tape.interval.open_time_ms(trade.time_ms) not in self.hidden)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        is_combined = request.path == "/stream"
        named = request.query.get("streams", "") if is_combined else request.match_info.get("name", "")
        socket = Client(ws, request, {name for name in named.split("/") if "@" in name}, is_combined)
        self._sockets.append(socket)
        self.is_deserted.clear()
        self.sockets_opened += 1
        try:
            async for message in ws:
                if message.type == WSMsgType.TEXT:
                    await self._obey(socket, json.loads(message.data))
        finally:
            self._sockets.remove(socket)
            if not self._sockets:
                self.is_deserted.set()
        return ws

    async def _obey(self, socket: Client, request: dict[str, Any]) -> None:
        names = request.get("params", [])
        result: list[str] | None = None
        match request.get("method"):
            case "SUBSCRIBE":
                socket.streams |= set(names)
            case "UNSUBSCRIBE":
                socket.streams -= set(names)
            case "LIST_SUBSCRIPTIONS":
                result = sorted(socket.streams)
            case _:
                error = {"error": {"code": 2, "msg": "Invalid request: unknown method"}, "id": request.get("id")}
                await socket.ws.send_json(error)
                return
        if not self._is_stalled:
            await socket.ws.send_json({"result": result, "id": request.get("id")})

    async def _control(self, request: web.Request) -> web.Response:
        query, what = request.query, request.match_info["what"]
        plain = {
            "cut": self.cut,
            "stall": self.stall,
            "refuse": self.refuse,
            "resume": self.resume,
            "end_of_day": self.end_of_day,
            "shut_down": self.shut_down,
        }
        if what == "answer":
            retry_after = query.get("retry_after")
            self.answer(int(query["status"]), None if retry_after is None else int(retry_after))
        elif what in plain:
            plain[what]()
        else:
            return web.json_response({"error": f"'{what}' is not a control"}, status=404)
        return web.json_response({"sockets": self.sockets})

    async def _push_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._push_s)
            if self._is_stalled:
                continue
            for toxic in list(self.toxics):
                for message in toxic.release():
                    await self._send_all(self._after(toxic, message))
            for socket in list(self._sockets):
                for message in self._due(socket):
                    await self._send_all(self._spoiled([message], self.toxics))

    def _due(self, socket: Client) -> Iterable[Message]:
        """The messages due to this client now, before any toxic."""
        name = self._id.lower()
        for stream in sorted(socket.streams):
            if stream in (f"{name}@trade", f"{name}@aggTrade"):
                yield from self._due_trades(socket, stream)
            elif stream == f"{name}@kline_{self.tape.interval}":
                yield from self._due_klines(socket, stream)

    def _due_trades(self, socket: Client, stream: str) -> Iterable[Message]:
        now_ms = self.now_ms()
        event = wire.aggregate_event if stream.endswith("@aggTrade") else wire.trade_event
        # an exchange does not tell what it could not tell in time: where its clock jumps, the trades between are lost
        oldest_ms = now_ms - _SENT_CANDLES * self.tape.interval.duration_ms
        after_ms = max(oldest_ms, socket.sent_ms.setdefault(stream, now_ms))
        for trade in self._shown(self.tape.trades_between(after_ms + 1, now_ms)):
            yield Message(socket, stream, event(trade, self._id, now_ms))
            self.trades_sent += 1
        socket.sent_ms[stream] = now_ms

    def _due_klines(self, socket: Client, stream: str) -> Iterable[Message]:
        now_ms, interval = self.now_ms(), self.tape.interval
        forming = self.tape.forming(now_ms)
        before_ms = socket.sent_ms.get(stream)
        if forming is None or forming.open_time_ms in self.hidden:
            return
        is_new = before_ms is not None and before_ms < forming.open_time_ms
        closed = self.tape.candle(before_ms) if is_new and before_ms is not None and self._sends_final else None
        if closed is not None:
            yield Message(socket, stream, wire.kline_event(closed, interval, self._id, now_ms, is_final=True))
        if is_new or loop_s() - socket.kline_at_s >= self._kline_s:
            socket.kline_at_s = loop_s()
            yield Message(socket, stream, wire.kline_event(forming, interval, self._id, now_ms, is_final=False))
        socket.sent_ms[stream] = forming.open_time_ms

    def _after(self, toxic: MessageToxic, message: Message) -> list[Message]:
        """A message released by one toxic, after those behind it."""
        behind = self.toxics[self.toxics.index(toxic) + 1 :] if toxic in self.toxics else []
        return self._spoiled([message], behind)

    def _spoiled(self, messages: list[Message], toxics: Iterable[MessageToxic]) -> list[Message]:
        for toxic in list(toxics):
            messages = [each for message in messages for each in toxic.take(message)]
        return messages

    async def _send_all(self, messages: Iterable[Message]) -> None:
        for message in messages:
            await self._send(message)

    async def _send(self, message: Message) -> None:
        socket = message.client
        assert isinstance(socket, Client)
        if socket.ws.closed:
            return
        data = {"stream": message.stream, "data": message.data} if socket.is_combined else message.data
        with contextlib.suppress(ConnectionError):
            await socket.ws.send_str(json.dumps(data) if message.raw is None else message.raw)

    def _close_all(self, after_s: float) -> None:
        for socket in self._sockets:
            self._start(self._close(socket, after_s))

    async def _close(self, socket: Client, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await socket.ws.close(code=WSCloseCode.GOING_AWAY, message=b"")

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._closers.add(task)
        task.add_done_callback(self._closers.discard)

    @property
    def _id(self) -> str:
        return self.symbol.replace("/", "")


def _limit(request: web.Request) -> int:
    return min(_MOST_ROWS, int(request.query.get("limit", _USUAL_ROWS)))
