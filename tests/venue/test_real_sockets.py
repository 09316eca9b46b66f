"""What only real sockets can show: a reset, a wait, garbage, a burst and a goodbye, as the operating system has them.

The machine may be as busy as it likes: what is waited for is a condition, and nothing is said of how long it took.
"""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from core.market.feeds.base import FeedVitals, RejectedMessage
from core.market.feeds.timing import ExchangeTimes
from tests.support.exchange.clock import loop_s
from tests.support.fault_proxy import Reset
from tests.support.tape import generated_tape
from tests.support.trading_exchange import TradingExchange
from tests.support.virtual_network import loop_time
from tests.venue.hall import MARKETS, hall
from tests.venue.rig import SECOND, Rig, watched

pytestmark = pytest.mark.venue

PATIENT = ExchangeTimes()
"""A busy machine must not be taken for a dead peer."""


def vitals(rig: Rig) -> FeedVitals:
    return next((each for each in reversed(rig.received.reports) if isinstance(each, FeedVitals)), FeedVitals(0, ""))


async def test_the_feed_reconnects_after_a_reset(tmp_path: Path) -> None:
    async with watched(tmp_path, times=PATIENT) as rig:
        await rig.live(1)
        before = rig.exchange.sockets_opened
        reset = Reset()
        rig.venue.proxy.put(reset)
        rig.venue.proxy.take(reset)
        await rig.trouble("was cut")
        await rig.live(2)
        assert rig.exchange.sockets_opened > before
    gc.collect()  # what ccxt or aiohttp did not close would warn now


async def test_the_requested_wait_is_respected(tmp_path: Path) -> None:
    async with watched(tmp_path, times=PATIENT) as rig:
        await rig.live(1)
        before_s = loop_s()
        rig.exchange.answer(429, retry_after_s=1)
        rig.exchange.cut()
        await rig.trouble("demands fewer requests (429)")
        asked = len(rig.exchange.requests)
        rig.venue.heal()
        await rig.until(lambda: len(rig.exchange.requests) > asked, "the next request")
        assert loop_s() - before_s >= 1.0, "it did not wait"
        await rig.live(1)


async def test_no_trade_is_lost_in_garbage_and_bursts(tmp_path: Path) -> None:
    """Five thousand at once: ccxt keeps a thousand. Their numbers would tell of each that is missing."""
    clock = loop_time()
    tape = generated_tape(SECOND, clock.now_ms(), 40, future=1_000)
    exchange = TradingExchange(tape, clock.now_ms)
    async with watched(tmp_path, exchange, PATIENT) as rig:
        await rig.live(1)
        await exchange.garble("{", "hello", '{"e":"kline"}', '{"e":"trade","s":"BTCUSDT","t":"x","p":"NaN","T":0}')
        await exchange.burst(5_000)
        sent = exchange.trades_sent
        await rig.until(lambda: vitals(rig).trades >= sent, "all trades to be counted")
        await rig.live(1)
        assert vitals(rig).lost_trades == vitals(rig).reconnects == 0
        assert sum(isinstance(report, RejectedMessage) for report in rig.received.reports) == vitals(rig).rejected >= 3


async def test_repeated_closing_from_another_task_leaves_no_socket(tmp_path: Path) -> None:
    async with watched(tmp_path, times=PATIENT) as rig:
        await rig.live(1)
        await asyncio.gather(rig.feed.aclose(), rig.feed.aclose())
        await asyncio.wait_for(rig.exchange.is_deserted.wait(), 60.0)
    gc.collect()


async def test_ten_markets_reconnect_over_one_connection_after_a_reset(tmp_path: Path) -> None:
    async with hall(tmp_path, PATIENT, MARKETS) as found:
        await found.live(1)
        reset = Reset()
        found.venue.proxy.put(reset)
        found.venue.proxy.take(reset)
        await found.until(lambda: all(found.reconnects().values()), "all to reconnect")
        await found.live(2)
        assert found.exchange.sockets == 1
        for market in found.received:
            found.assert_whole(market)
    gc.collect()
