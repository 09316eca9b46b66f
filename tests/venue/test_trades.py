"""The exchange's trades through real ccxt, by stream and by request: they are the tape's, and make its candles."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.support.exchange.toxics import Late
from tests.support.loopback_exchange import FaultyVenue
from tests.venue.clients import client
from tests.venue.rig import STEP_MS, an_exchange

pytestmark = pytest.mark.venue
SYMBOL = "BTC/USDT"


@pytest.mark.parametrize("name", ["trade", "aggTrade"])
async def test_streamed_trades_are_the_tapes_in_order(name: str) -> None:
    async with FaultyVenue(an_exchange(speed=3.0)) as venue, client(venue.urls) as exchange:
        seen: dict[int, tuple[int, float, float]] = {}
        until_s = time.monotonic() + 10.0
        while len(seen) < 100 and time.monotonic() < until_s:
            for trade in await exchange.watch_trades(SYMBOL, params={"name": name}):
                seen[int(trade["id"])] = (trade["timestamp"], trade["price"], trade["amount"])
        first, last = min(seen), max(seen)
        tape = venue.exchange.tape
        told = {
            trade.id: (trade.time_ms, trade.price, trade.amount)
            for trade in tape.trades_from(first, seen[last][0])
            if trade.id <= last
        }
        assert len(seen) >= 100 and list(seen) == sorted(seen) and seen == told


async def test_fetched_trades_are_the_tapes_page_by_page() -> None:
    async with FaultyVenue(an_exchange(speed=1.0)) as venue, client(venue.urls) as exchange:
        tape = venue.exchange.tape
        start_ms = tape.candles[5].open_time_ms
        expected = list(tape.trades_between(start_ms, start_ms + 20 * STEP_MS))
        rows = await exchange.fetch_trades(SYMBOL, since=start_ms, limit=100)
        while int(rows[-1]["id"]) < expected[-1].id:
            rows += await exchange.fetch_trades(SYMBOL, limit=100, params={"fromId": int(rows[-1]["id"]) + 1})
        found = [(int(row["id"]), row["timestamp"], row["price"], row["amount"]) for row in rows[: len(expected)]]
        assert found == [(trade.id, trade.time_ms, trade.price, trade.amount) for trade in expected]
        newest = await exchange.fetch_trades(SYMBOL, limit=10, params={"fetchTradesMethod": "publicGetTrades"})
        assert len(newest) == 10 and newest[-1]["timestamp"] > venue.exchange.now_ms() - 2 * STEP_MS


async def test_late_trades_come_after_the_candle_that_they_belong_to_has_closed() -> None:
    async with FaultyVenue(an_exchange(speed=10.0)) as venue, client(venue.urls) as exchange:
        venue.exchange.toxics.append(Late(0.3))
        async with asyncio.timeout(60.0):
            trades = await exchange.watch_trades(SYMBOL)
        assert trades[0]["timestamp"] < venue.exchange.now_ms() - 2 * STEP_MS
