"""The streams of one ccxt object with more markets than one subscription can have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.market.feeds.ccxt_session import CcxtSession
from core.market.feeds.stream_inbox import StreamInbox
from core.market.feeds.venue import Kline
from tests.support.candles import MINUTE
from tests.support.exchange.streaming import StreamingExchange

SYMBOLS = [f"{base}/USDT" for base in "ABCDEFGHIJKL"]
FIRST, LAST = SYMBOLS[0], SYMBOLS[-1]
TIME_MS = 1_764_417_600_000
ROW = [TIME_MS, 1.0, 1.0, 1.0, 1.0, 1.0]


def message(symbol: str, is_closed: bool) -> dict[str, Any]:
    name = symbol.replace("/", "")
    numbers = dict.fromkeys("ohlcv", "1.0")
    return {"e": "kline", "s": name, "k": {"t": TIME_MS, "s": name, "i": "1m", "x": is_closed, **numbers}}


def described(symbol: str) -> dict[str, Any]:
    base, quote = symbol.split("/")
    return {"id": base + quote, "symbol": symbol, "base": base, "quote": quote, "type": "spot", "spot": True}


async def test_rows_of_two_subscriptions_in_one_burst_come_once_and_close_their_own_market() -> None:
    session = CcxtSession("binance", SYMBOLS, MINUTE, None, 1.0)
    exchange, results = session.exchange, dict[str, asyncio.Future[Any]]()

    def watch(pairs: list[list[str]]) -> asyncio.Future[Any]:
        results[pairs[0][0]] = asyncio.get_running_loop().create_future()
        return results[pairs[0][0]]

    exchange.set_markets([described(symbol) for symbol in SYMBOLS])
    exchange.has["watchTrades"], exchange.watch_ohlcv_for_symbols = False, watch
    inbox, others = session.join(LAST), session.join(FIRST)
    session.watch()
    await inbox.next_updates(0.0)
    client = exchange.client("wss://127.0.0.1/stream")
    for symbol, is_closed in ((LAST, False), (FIRST, True)):
        client.on_message_callback(client, message(symbol, is_closed))
    first, second = results.values()
    first.set_result({FIRST: {"1m": [ROW]}})
    second.set_result({LAST: {"1m": [ROW]}})
    assert [kline.is_closed for kline in await klines(inbox)] == [False]
    results[SYMBOLS[10]].set_result({LAST: {"1m": [ROW]}})
    assert [kline.is_closed for kline in await klines(inbox)] == [False], "it bypassed the tap"
    await session.leave(others)
    await session.leave(inbox)


@pytest.mark.parametrize("units", [1e-3, 1, 1e3, 1e6])
async def test_the_time_of_an_exchange_may_be_in_any_unit(units: float) -> None:
    time = TIME_MS * units
    exchange = StreamingExchange("whitebit", lambda _: {"time": time / 1000.0}, {"BTC/USDT": "BTC_USDT"})
    async with exchange.running():
        venue = exchange.open_venue(exchange.market())
        venue._exchange.has["fetchTime"] = True
        await venue.open(None)
        assert await venue.server_ms() == TIME_MS
        await venue.close()


async def klines(inbox: StreamInbox) -> list[Kline]:
    """What the inbox has received after another round of requests."""
    await asyncio.sleep(1.5)
    return (await inbox.next_updates(0.0)).klines
