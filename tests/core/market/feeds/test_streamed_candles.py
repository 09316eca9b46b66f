"""The open candle, whatever the stream makes of it. On virtual time, through ccxt's objects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from core.domain.candle import Interval
from tests.support.exchange.streaming import StreamingExchange
from tests.support.exchange.watching import gate, now_ms, open_of, reasons, row, rows_from, sentences, watched

MINUTE_MS = 60_000


def gate_with_ends() -> StreamingExchange:
    """Its stream has the end of each candle as its time."""
    exchange = gate("gate")
    whole = exchange.stream

    def ends(texts: list[str]) -> Iterable[Any]:
        for message in whole(texts):
            message["result"]["t"] = str(int(message["result"]["t"]) + 60)
            yield message

    exchange.stream = ends
    return exchange


async def test_a_stream_that_stamps_the_end_of_a_candle_closes_and_shows_no_other_one() -> None:
    exchange = gate_with_ends()
    received = await watched(exchange, "1m", 250.0)
    assert reasons(received) == {"a time in the future", "the end of the candle as its time"}
    assert len(received.live) >= 3 and all(each.volume == 6.0 for each in received.live)
    assert received.forming and max(each.open_time_ms for each in received.forming) <= now_ms()


def trades_only(interval: str) -> StreamingExchange:
    """Gate without a stream of candles."""
    exchange = gate("gate", interval)
    step_ms = Interval.parse(interval).duration_ms

    def trades(texts: list[str]) -> Iterable[Any]:
        if any(json.loads(text).get("channel") == "spot.trades" for text in texts):
            price = str(row(open_of(now_ms(), step_ms), step_ms)[4])
            trade = {"id": now_ms(), "create_time": now_ms() // 1000, "create_time_ms": str(now_ms()), "side": "buy"}
            result = trade | {"currency_pair": "BTC_USDT", "amount": "0.001", "price": price}
            yield {"time": now_ms() // 1000, "channel": "spot.trades", "event": "update", "result": result}

    exchange.stream = trades
    return exchange


async def test_a_long_candle_is_shown_by_request_until_all_of_its_trades_are_known() -> None:
    received = await watched(trades_only("1d"), "1d", 60.0)
    assert received.forming and received.forming[0].open_time_ms == open_of(now_ms(), 86_400_000)
    assert received.forming[0].volume > 0.1


async def test_a_shown_candle_is_not_requested() -> None:
    exchange = gate("gate", "1d")
    requests: list[Any] = []
    answer = exchange.answer
    exchange.answer = lambda request: requests.append(request) or answer(request)
    await watched(exchange, "1d", 300.0)
    assert len(requests) <= 2


async def test_a_market_without_trades_is_reported_as_one() -> None:
    exchange = gate("gate")
    last_ms = open_of(now_ms(), MINUTE_MS)
    exchange.stream = lambda _: ()
    exchange.answer = lambda request: [
        [str(t // 1000), str(v * c), *map(str, (c, h, low, o, v)), "true"]
        for t, o, h, low, c, v in rows_from(int(request.query["from"]) * 1000, MINUTE_MS)
        if t < last_ms
    ]
    received = await watched(exchange, "1m", 300.0)
    assert sentences(received)[1:] == ["No candle of BTC/USDT 1m for 3 min: Gate reports no trades."]
