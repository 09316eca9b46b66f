"""Prices of many markets on 127.0.0.1, in Binance's REST form: the list of markets, tickers, candles of a quarter hour
(the same for other intervals).

Beside `LoopbackExchange`, which streams one market, this answers for a whole list, and can be in trouble.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from core.market.feeds.venue import ExchangeUrls

QUARTER_MS = 900_000
CHANGE_PERCENT = -1.25
"""Over a day, of all markets."""
_USUAL_ROWS = 500
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LoopbackTickers:
    """prices: the last price by symbol; may be changed while it serves. All candles have it."""

    def __init__(self, prices: Mapping[str, float], now_ms: Callable[[], int] | None = None) -> None:
        self.prices = dict(prices)
        self.now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self.refused_intervals: set[str] = set()
        self.requests: list[str] = []
        self._status: tuple[int, dict[str, str]] | None = None
        self._is_refusing = False
        self._runner: web.AppRunner | None = None
        self._port = 0

    @property
    def urls(self) -> ExchangeUrls:
        return ExchangeUrls(f"http://127.0.0.1:{self._port}/api/v3", f"ws://127.0.0.1:{self._port}/ws")

    def asked(self, path: str) -> int:
        """How many requests for this path have come."""
        return sum(each.split("?")[0].endswith(path) for each in self.requests)

    def answer(self, status: int, retry_after_s: int | None = None) -> None:
        """Answer everything with this status."""
        self._status = (status, {} if retry_after_s is None else {"Retry-After": str(retry_after_s)})

    def refuse(self) -> None:
        """Hang up on everybody."""
        self._is_refusing = True

    def resume(self) -> None:
        """All is well again."""
        self._status, self._is_refusing = None, False

    async def __aenter__(self) -> LoopbackTickers:
        application = web.Application(middlewares=[self._trouble])
        application.add_routes(
            [
                web.get("/api/v3/ping", self._ping),
                web.get("/api/v3/time", self._time),
                web.get("/api/v3/exchangeInfo", self._exchange_info),
                web.get("/api/v3/ticker/24hr", self._tickers),
                web.get("/api/v3/klines", self._klines),
            ]
        )
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @web.middleware
    async def _trouble(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        if self._is_refusing and request.transport is not None:
            request.transport.abort()
        if self._status is not None:
            status, headers = self._status
            return web.Response(status=status, headers=headers, text="")
        return await handler(request)

    async def answer_if_its_own(self, request: web.Request) -> web.StreamResponse | None:
        """For another exchange that is to answer for these prices as well: None where the request is not about them.

        Candles of other intervals than a quarter of an hour are left to the other; so are streams and the time.
        """
        if request.path.endswith("/ticker/24hr"):
            return await self._tickers(request)
        if request.path.endswith("/klines") and request.query.get("interval") == "15m":
            return await self._klines(request)
        is_described = request.path.endswith("/exchangeInfo")
        return await self._exchange_info(request) if is_described else None

    async def _ping(self, _: web.Request) -> web.Response:
        return web.json_response({})

    async def _time(self, _: web.Request) -> web.Response:
        return web.json_response({"serverTime": self.now_ms()})

    async def _exchange_info(self, request: web.Request) -> web.Response:
        wanted = request.query.get("symbol")
        found = [symbol for symbol in self.prices if wanted in (None, _id(symbol))]
        if not found:
            return _bad_symbol()
        described = [_description(symbol) for symbol in found]
        return web.json_response({"timezone": "UTC", "serverTime": self.now_ms(), "symbols": described})

    async def _tickers(self, request: web.Request) -> web.Response:
        wanted = json.loads(request.query.get("symbols", "[]"))
        by_id = {_id(symbol): symbol for symbol in self.prices}
        if any(each not in by_id for each in wanted):
            return _bad_symbol()
        return web.json_response([self._ticker(by_id[each]) for each in wanted or by_id])

    async def _klines(self, request: web.Request) -> web.Response:
        query = request.query
        symbol = next((each for each in self.prices if _id(each) == query.get("symbol")), None)
        if symbol is None:
            return _bad_symbol()
        if query.get("interval") in self.refused_intervals:
            return web.json_response({"code": -1120, "msg": "Invalid interval."}, status=400)
        newest_ms = self.now_ms() // QUARTER_MS * QUARTER_MS
        count = int(query.get("limit", _USUAL_ROWS))
        times = [newest_ms - (count - 1 - number) * QUARTER_MS for number in range(count)]
        return web.json_response([self._row(symbol, time_ms) for time_ms in times])

    def _row(self, symbol: str, time_ms: int) -> list[Any]:
        numbers = (*[self.prices[symbol]] * 4, 10.0)
        return [time_ms, *map(_text, numbers), time_ms + QUARTER_MS - 1, "0.0", 10, "0.0", "0.0", "0"]

    def _ticker(self, symbol: str) -> dict[str, Any]:
        last = _text(self.prices[symbol])
        now_ms = self.now_ms()
        return {
            "symbol": _id(symbol),
            "priceChange": "0.0",
            "priceChangePercent": str(CHANGE_PERCENT),
            "weightedAvgPrice": last,
            "prevClosePrice": last,
            "lastPrice": last,
            "lastQty": "1.0",
            "bidPrice": last,
            "askPrice": last,
            "openPrice": last,
            "highPrice": last,
            "lowPrice": last,
            "volume": "100.0",
            "quoteVolume": "100.0",
            "openTime": now_ms - 86_400_000,
            "closeTime": now_ms,
            "count": 100,
        }


def _id(symbol: str) -> str:
    return symbol.replace("/", "")


def _text(number: float) -> str:
    return f"{number:.8f}"


def _bad_symbol() -> web.Response:
    return web.json_response({"code": -1121, "msg": "Invalid symbol."}, status=400)


def _description(symbol: str) -> dict[str, Any]:
    base, quote = symbol.split("/")
    return {
        "symbol": _id(symbol),
        "status": "TRADING",
        "baseAsset": base,
        "baseAssetPrecision": 8,
        "quoteAsset": quote,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "orderTypes": ["LIMIT"],
        "icebergAllowed": True,
        "isSpotTradingAllowed": True,
        "isMarginTradingAllowed": False,
        "filters": [{"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000", "tickSize": "0.01"}],
        "permissions": [],
        "permissionSets": [["SPOT"]],
    }
