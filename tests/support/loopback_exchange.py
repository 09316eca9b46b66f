"""An exchange on 127.0.0.1 that speaks Binance's REST and WebSocket forms, so that ccxt.pro is driven for real.

In a test's own loop::

    async with LoopbackExchange(tape) as exchange:
        feed = ExchangeFeed(market, clock, urls=exchange.urls)

Beside one, on a thread: ``with loopback_thread(tape) as exchange``. For another process:
``python -m tests.support.loopback_exchange`` prints the addresses as JSON, in the form that the environment variable
GHOSTCANDLE_EXCHANGE_URLS wants, and obeys ``POST /control/cut``, ``/control/stall``, ``/control/resume``,
``/control/refuse`` and ``/control/answer?status=429``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from core.market.candle import Candle, Interval
from core.market.feeds.urls import ExchangeUrls
from tests.support.tape import Tape, generated_tape, partly

_MOST_ROWS = 1000
_USUAL_ROWS = 500
_BAD_REQUEST = 400
_OPEN_AND_CLOSED = 2
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class AcceleratedClock:
    """The exchange's time: starts at a moment and runs `speed` times as fast as the wall's."""

    start_ms: int
    speed: float = 1.0
    _began_s: float = field(default_factory=time.monotonic)

    def __call__(self) -> int:
        return self.start_ms + int((time.monotonic() - self._began_s) * 1000.0 * self.speed)


@dataclass(slots=True, eq=False)
class _Socket:
    """One client's stream and what it subscribed to."""

    ws: web.WebSocketResponse
    request: web.Request
    streams: set[str]
    is_combined: bool
    last_sent_ms: dict[str, int] = field(default_factory=dict)

    def freeze(self) -> None:
        """Read nothing any more, as a host that has vanished behind a router."""
        if self.request.transport is not None:
            self.request.transport.pause_reading()

    def abort(self) -> None:
        transport = self.request.transport
        if transport is not None:
            transport.abort()


class LoopbackExchange:
    """Serves one market. Controls may be called from the loop that it runs on."""

    def __init__(
        self,
        tape: Tape,
        now_ms: Callable[[], int] = _wall_ms,
        symbol: str = "BTC/USDT",
        push_s: float = 0.05,
        sends_final: bool = True,
    ) -> None:
        """now_ms: the exchange's clock. sends_final: whether the stream shows a candle once more when it closes."""
        self.tape = tape
        self.now_ms = now_ms
        self.symbol = symbol
        self.requests: list[str] = []
        self.sockets_opened = 0
        self.hidden: set[int] = set()
        """Opening times of candles that the exchange does not have."""
        self.stale_answers = 0
        """So many of the next answers show the newest closed candle as it stood in its middle."""
        self._push_s = push_s
        self._sends_final = sends_final
        self._sockets: list[_Socket] = []
        self.is_deserted = asyncio.Event()
        """Set while no stream is open."""
        self._status: tuple[int, dict[str, str], str] | None = None
        self._is_refusing = self._is_stalled = False
        self._runner: web.AppRunner | None = None
        self._pusher: asyncio.Task[None] | None = None
        self._port = 0

    @property
    def urls(self) -> ExchangeUrls:
        return ExchangeUrls(f"http://127.0.0.1:{self._port}/api/v3", f"ws://127.0.0.1:{self._port}/ws")

    @property
    def sockets(self) -> int:
        """How many streams are open."""
        return len(self._sockets)

    async def __aenter__(self) -> LoopbackExchange:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        self._runner = web.AppRunner(self._application(), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self._pusher = asyncio.create_task(self._push_for_ever())

    async def stop(self) -> None:
        if self._pusher is not None:
            self._pusher.cancel()
            await asyncio.gather(self._pusher, return_exceptions=True)
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()

    def cut(self) -> None:
        """Drop every stream, as a network does: without a goodbye."""
        for socket in self._sockets:
            socket.abort()

    def stall(self) -> None:
        """Streams stay open, but nothing goes through them any more, not even a goodbye. Requests are answered."""
        self._is_stalled = True
        for socket in self._sockets:
            socket.freeze()

    def refuse(self) -> None:
        """Hang up on everybody, as when there is no network."""
        self._is_refusing = True
        self.cut()

    def answer(self, status: int, retry_after_s: int | None = None, body: str = "") -> None:
        """Answer everything with this status: 429, 418, 451, 403, 503 ..."""
        headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
        self._status = (status, headers, body)

    def resume(self) -> None:
        """All is well again."""
        self._is_stalled = self._is_refusing = False
        self._status = None

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._trouble])
        application.add_routes(
            [
                web.get("/api/v3/ping", self._ping),
                web.get("/api/v3/time", self._time),
                web.get("/api/v3/exchangeInfo", self._exchange_info),
                web.get("/api/v3/klines", self._klines),
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
            return web.Response(status=status, headers=headers, text=body)
        return await handler(request)

    async def _ping(self, _: web.Request) -> web.Response:
        return web.json_response({})

    async def _time(self, _: web.Request) -> web.Response:
        return web.json_response({"serverTime": self.now_ms()})

    async def _exchange_info(self, request: web.Request) -> web.Response:
        wanted = request.query.get("symbol")
        if wanted is not None and wanted != self._id:
            return _refusal(-1121, "Invalid symbol.")
        return web.json_response({"timezone": "UTC", "serverTime": self.now_ms(), "symbols": [self._description()]})

    async def _klines(self, request: web.Request) -> web.Response:
        query = request.query
        if query.get("symbol") != self._id:
            return _refusal(-1121, "Invalid symbol.")
        if query.get("interval") != str(self.tape.interval):
            return _refusal(-1120, "Invalid interval.")
        limit = min(_MOST_ROWS, int(query.get("limit", _USUAL_ROWS)))
        now_ms = self.now_ms()
        start, end = int(query.get("startTime", -1)), int(query.get("endTime", now_ms))
        rows = [candle for candle in self._as_of(now_ms) if candle.open_time_ms not in self.hidden]
        rows = [candle for candle in rows if start <= candle.open_time_ms <= end]
        rows = rows[:limit] if start >= 0 else rows[-limit:]
        return web.json_response([self._row(candle) for candle in rows])

    def _as_of(self, now_ms: int) -> list[Candle]:
        rows = self.tape.until(now_ms)
        if self.stale_answers == 0 or len(rows) < _OPEN_AND_CLOSED:
            return rows
        self.stale_answers -= 1
        return [*rows[:-2], partly(rows[-2], 0.5), rows[-1]]

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        is_combined = request.path == "/stream"
        named = request.query.get("streams", "") if is_combined else request.match_info.get("name", "")
        socket = _Socket(ws, request, {name for name in named.split("/") if "@" in name}, is_combined)
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

    async def _obey(self, socket: _Socket, request: dict[str, Any]) -> None:
        names = set(request.get("params", []))
        match request.get("method"):
            case "SUBSCRIBE":
                socket.streams |= names
            case "UNSUBSCRIBE":
                socket.streams -= names
            case _:
                error = {"error": {"code": 2, "msg": "Invalid request: unknown method"}, "id": request.get("id")}
                await socket.ws.send_json(error)
                return
        if not self._is_stalled:
            await socket.ws.send_json({"result": None, "id": request.get("id")})

    async def _control(self, request: web.Request) -> web.Response:
        match request.match_info["what"]:
            case "cut":
                self.cut()
            case "stall":
                self.stall()
            case "refuse":
                self.refuse()
            case "resume":
                self.resume()
            case "answer":
                retry_after = request.query.get("retry_after")
                self.answer(int(request.query["status"]), None if retry_after is None else int(retry_after))
            case unknown:
                return web.json_response({"error": f"'{unknown}' is not a control"}, status=404)
        return web.json_response({"sockets": self.sockets})

    async def _push_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._push_s)
            if not self._is_stalled:
                for socket in list(self._sockets):
                    with contextlib.suppress(ConnectionError):
                        await self._push(socket)

    async def _push(self, socket: _Socket) -> None:
        name = f"{self._id.lower()}@kline_{self.tape.interval}"
        if name not in socket.streams or socket.ws.closed:
            return
        now_ms = self.now_ms()
        forming = self.tape.forming(now_ms)
        before_ms = socket.last_sent_ms.get(name)
        if forming is None or forming.open_time_ms in self.hidden:
            return
        if before_ms is not None and before_ms < forming.open_time_ms and self._sends_final:
            closed = self.tape.candle(before_ms)
            if closed is not None:
                await self._send(socket, name, closed, is_final=True)
        await self._send(socket, name, forming, is_final=False)
        socket.last_sent_ms[name] = forming.open_time_ms

    async def _send(self, socket: _Socket, name: str, candle: Candle, is_final: bool) -> None:
        message = self._event(candle, is_final)
        await socket.ws.send_json({"stream": name, "data": message} if socket.is_combined else message)

    @property
    def _id(self) -> str:
        return self.symbol.replace("/", "")

    def _row(self, candle: Candle) -> list[Any]:
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        close_ms = candle.open_time_ms + self.tape.interval.duration_ms - 1
        return [candle.open_time_ms, *map(_text, numbers), close_ms, "0.0", 10, "0.0", "0.0", "0"]

    def _event(self, candle: Candle, is_final: bool) -> dict[str, Any]:
        kline = {
            "t": candle.open_time_ms,
            "T": candle.open_time_ms + self.tape.interval.duration_ms - 1,
            "s": self._id,
            "i": str(self.tape.interval),
            "f": 100,
            "L": 200,
            "o": _text(candle.open),
            "c": _text(candle.close),
            "h": _text(candle.high),
            "l": _text(candle.low),
            "v": _text(candle.volume),
            "n": 100,
            "x": is_final,
            "q": "1.0000",
            "V": "500",
            "Q": "0.500",
            "B": "0",
        }
        return {"e": "kline", "E": self.now_ms(), "s": self._id, "k": kline}

    def _description(self) -> dict[str, Any]:
        base, quote = self.symbol.split("/")
        return {
            "symbol": self._id,
            "status": "TRADING",
            "baseAsset": base,
            "baseAssetPrecision": 8,
            "quoteAsset": quote,
            "quotePrecision": 8,
            "quoteAssetPrecision": 8,
            "orderTypes": ["LIMIT", "MARKET"],
            "icebergAllowed": True,
            "isSpotTradingAllowed": True,
            "isMarginTradingAllowed": False,
            "filters": [
                {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000", "tickSize": "0.01"},
                {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
            ],
            "permissions": [],
            "permissionSets": [["SPOT"]],
        }


def _refusal(code: int, text: str) -> web.Response:
    return web.json_response({"code": code, "msg": text}, status=_BAD_REQUEST)


def _text(number: float) -> str:
    return f"{number:.8f}"


@contextlib.contextmanager
def loopback_thread(exchange: LoopbackExchange) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Run the exchange on a thread with a loop of its own. Yields what calls a control there and waits for it:
    ``control(exchange.cut)``."""
    loop = asyncio.new_event_loop()
    started, ended = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with exchange:
            started.set()
            await ended.wait()

    def control(act: Callable[[], None]) -> None:
        async def call() -> None:
            act()

        asyncio.run_coroutine_threadsafe(call(), loop).result(timeout=5.0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="loopback exchange")
    thread.start()
    try:
        if not started.wait(timeout=5.0):
            raise RuntimeError("the loopback exchange did not start")
        yield control
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(timeout=5.0)
        loop.close()


async def _serve(interval: Interval, port: int, speed: float, history: int) -> None:
    clock = AcceleratedClock(_wall_ms(), speed)
    exchange = LoopbackExchange(generated_tape(interval, clock(), history), clock)
    await exchange.start(port)
    print(json.dumps({"public": exchange.urls.public, "ws": exchange.urls.ws}), flush=True)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    await exchange.stop()


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser(description="A Binance-like exchange on 127.0.0.1, for tests.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--interval", type=Interval.parse, default=Interval.parse("1s"))
    parser.add_argument("--speed", type=float, default=1.0, help="how many times faster than the wall its clock runs")
    parser.add_argument("--history", type=int, default=2000, help="closed candles that it has at the start")
    options = parser.parse_args()
    asyncio.run(_serve(options.interval, options.port, options.speed, options.history))


if __name__ == "__main__":
    main()
