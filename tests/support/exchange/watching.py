"""Markets whose price and volume grow evenly, and what a feed reports of them within a time."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from core.domain.candle import Interval
from core.market.feeds.base import FeedState, FeedStatus, RejectedMessage, StoredCandles
from core.market.feeds.exchange import ExchangeFeed
from tests.support.exchange.streaming import StreamingExchange
from tests.support.feeds import RecordedEvents
from tests.support.virtual_network import loop_time

HOUR_MS = 3_600_000
HONG_KONG_MS = 16 * HOUR_MS
PRICE = 50.0
Row = tuple[int, float, float, float, float, float]


def now_ms() -> int:
    return loop_time().now_ms()


def row(open_ms: int, step_ms: int) -> Row:
    """Its price and volume grow evenly until its end."""
    part = max(0.0, min(1.0, (now_ms() - open_ms) / step_ms))
    return open_ms, PRICE, PRICE + part, PRICE, PRICE + part, round(6.0 * part, 6)


def open_of(time_ms: int, step_ms: int, phase_ms: int = 0) -> int:
    return (time_ms - phase_ms) // step_ms * step_ms + phase_ms


def rows_from(since_ms: int, step_ms: int, phase_ms: int = 0) -> list[Row]:
    """Ascending; the last one is open."""
    first_ms = open_of(since_ms + step_ms - 1, step_ms, phase_ms)
    return [row(time_ms, step_ms) for time_ms in range(first_ms, now_ms() + 1, step_ms)][:300]


def htx(step_ms: int, phase_ms: int, odd_ms: int = 0, streamed_price: float = 1.0) -> StreamingExchange:
    """odd_ms: by how much its second row is off the grid. streamed_price: what streamed volumes are multiplied with."""

    def answer(request: web.Request) -> Any:
        listed = [list(each) for each in rows_from(int(request.query["from"]) * 1000, step_ms, phase_ms)]
        if odd_ms and len(listed) > 1:
            listed[1][0] += odd_ms
        return {"status": "ok", "ts": now_ms(), "data": [tick(*each) for each in reversed(listed)]}

    def tick(time_ms: float, o: float, h: float, low: float, c: float, volume: float) -> dict[str, Any]:
        numbers = {"open": o, "high": h, "low": low, "close": c, "amount": volume, "vol": volume * c, "count": 3}
        return {"id": int(time_ms) // 1000, **numbers}

    def stream(texts: list[str]) -> Iterable[Any]:
        for channel in [json.loads(text)["sub"] for text in texts if '"sub"' in text]:
            if "kline" in channel:
                *current, volume = row(open_of(now_ms(), step_ms, phase_ms), step_ms)
                current.append(volume * streamed_price)
                yield gzip.compress(json.dumps({"ch": channel, "ts": now_ms(), "tick": tick(*current)}).encode())

    return StreamingExchange("htx", answer, {"BTC/USDT": "btcusdt"}, stream=stream)


async def watched(
    exchange: StreamingExchange, interval: str, for_s: float, catch_up: int = 3, known: StoredCandles | None = None
) -> RecordedEvents:
    """What a feed reports within a time."""
    market = exchange.market(interval)
    feed = ExchangeFeed(market, loop_time(), catch_up=catch_up, open_venue=lambda: exchange.open_venue(market))
    received = RecordedEvents()
    after_ms = known.candles[-1].open_time_ms if known else None
    try:
        async with exchange.running(), asyncio.timeout(for_s):
            async for event in feed.events(after_ms, known):
                received.events.append(event)
    except TimeoutError:
        pass
    finally:
        await feed.aclose()
    return received


def of(received: RecordedEvents, kind: type[Any]) -> list[Any]:
    return [event for event in received.events if isinstance(event, kind)]


def reasons(received: RecordedEvents) -> set[str]:
    return {each.reason for each in of(received, RejectedMessage)}


def sentences(received: RecordedEvents) -> list[str]:
    return [each.sentence for each in of(received, FeedStatus) if each.state is FeedState.LIVE]


def gate(venue: str, interval: str = "1m", is_deaf: bool = False) -> StreamingExchange:
    """Its stream falls silent after 40 s if it is deaf."""
    begin_ms, step_ms = now_ms(), Interval.parse(interval).duration_ms

    def answer(request: web.Request) -> Any:
        listed = rows_from(int(request.query["from"]) * 1000, step_ms)
        return [[str(t // 1000), str(v * c), *map(str, (c, h, low, o, v)), "true"] for t, o, h, low, c, v in listed]

    def stream(_: list[str]) -> Iterable[Any]:
        if is_deaf and now_ms() - begin_ms > 40_000:
            return
        t, o, h, low, c, v = row(open_of(now_ms(), step_ms), step_ms)
        cells = {"t": t // 1000, "o": o, "h": h, "l": low, "c": c, "v": v * c, "a": v, "n": f"{interval}_BTC_USDT"}
        result = {name: str(cell) for name, cell in cells.items()}
        yield {"time": now_ms() // 1000, "channel": "spot.candlesticks", "event": "update", "result": result}

    return StreamingExchange(venue, answer, {"BTC/USDT": "BTC_USDT"}, stream=stream)
