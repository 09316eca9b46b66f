"""Trades, closing messages and garbage through the real ccxt.pro."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from core.clock import SystemClock
from core.market.candle import Interval, Market
from core.market.feeds.base import FeedState, FeedVitals, RejectedMessage
from core.market.feeds.ccxt_tap import closed_times, says_it_ends
from core.market.feeds.exchange import ExchangeFeed, ExchangeTimes
from tests.support.feeds import Heard, hear
from tests.support.loopback_exchange import AcceleratedClock
from tests.support.tape import generated_tape
from tests.support.trading_exchange import TradingExchange

SECOND = Interval.parse("1s")
MARKET = Market("binance", "BTC/USDT", SECOND)
TIMES = ExchangeTimes(first_look_s=0.02, retry_s=0.02, vitals_s=0.1)
NONSENSE = (
    "{",
    "[1, 2",
    "hello",
    '{"e":"kline"}',
    '{"e":"kline","s":"BTCUSDT","k":{"t":"soon","s":"BTCUSDT","i":"1s","o":"a","h":"b","l":"c","c":"d","v":"e"}}',
    '{"e":"kline","s":"BTCUSDT","k":[]}',
    '{"e":"trade","s":"BTCUSDT"}',
    '{"e":"trade","s":"BTCUSDT","t":"x","p":"NaN","q":"-1","T":0}',
    '{"e":"unheard of","k":7}',
)


def an_exchange(speed: float = 4.0) -> TradingExchange:
    clock = AcceleratedClock(time.time_ns() // 1_000_000, speed)
    return TradingExchange(generated_tape(SECOND, clock(), 30, future=2000), clock, push_s=0.02)


def a_feed(exchange: TradingExchange, times: ExchangeTimes = TIMES) -> ExchangeFeed:
    return ExchangeFeed(MARKET, SystemClock(), catch_up=5, urls=exchange.urls, times=times)


def vitals(heard: Heard) -> list[FeedVitals]:
    return [event for event in heard.events if isinstance(event, FeedVitals)]


def rejected(heard: Heard) -> list[RejectedMessage]:
    return [event for event in heard.events if isinstance(event, RejectedMessage)]


def assert_whole(heard: Heard, exchange: TradingExchange) -> None:
    assert heard.steps_ms() == {SECOND.duration_ms}
    assert heard.candles == [exchange.tape.candle(time_ms) for time_ms in heard.open_times()]


async def hear_and_do(
    exchange: TradingExchange, act: Callable[[], Awaitable[None]], until: Callable[[Heard], bool]
) -> Heard:
    """Listen; when two candles have come live, do `act` once."""
    acting: list[asyncio.Task[None]] = []

    def and_then(heard: Heard) -> bool:
        if len(heard.live) == 2 and not acting:
            acting.append(asyncio.ensure_future(act()))  # type: ignore[arg-type]
        return bool(acting) and until(heard)

    heard = await hear(a_feed(exchange), until=and_then, within_s=60.0)
    await asyncio.gather(*acting)
    return heard


@pytest.mark.venue
def test_trades_make_the_forming_candle_and_the_exchange_closes_it() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            heard = await hear(a_feed(exchange), until=lambda heard: len(heard.live) >= 6)
            assert_whole(heard, exchange)
            whole = {each.open_time_ms for each in heard.live[3:]}
            last = {each.open_time_ms: each for each in heard.forming if each.open_time_ms in whole}
            assert last, "no candle formed"
            for open_ms, candle in last.items():
                assert candle.volume % 64.0 == 0.0, "the forming candle is not that of the trades"
                assert candle.volume <= exchange.traded[open_ms]

    asyncio.run(scenario())


@pytest.mark.venue
def test_five_thousand_trades_at_once_are_all_counted_though_ccxt_keeps_a_thousand() -> None:
    async def scenario() -> None:
        async with an_exchange(speed=1.0) as exchange:
            heard = await hear_and_do(
                exchange,
                lambda: exchange.burst(5_000),
                until=lambda heard: bool(vitals(heard)) and vitals(heard)[-1].trades > 5_000 and len(heard.live) >= 4,
            )
            assert vitals(heard)[-1].lost_trades == 0
            assert vitals(heard)[-1].trades <= exchange.trades_sent
            assert max(each.volume for each in heard.forming) >= 5_000 * 64.0

    asyncio.run(scenario())


@pytest.mark.venue
def test_garbage_is_told_with_its_text_and_kills_no_stream() -> None:
    """ccxt ends its receive loop without a word at the first message that it cannot parse."""

    async def scenario() -> None:
        async with an_exchange() as exchange:
            heard = await hear_and_do(
                exchange, lambda: exchange.garble(*NONSENSE), until=lambda heard: len(heard.live) >= 8
            )
            assert_whole(heard, exchange)
            assert FeedState.RECONNECTING not in heard.states
            raws = [each.raw for each in rejected(heard)]
            assert "[1, 2" in raws and '{"e":"kline"}' in raws
            assert vitals(heard)[-1].rejected == len(raws) >= 6
            assert heard.live[-1].open_time_ms > heard.live[3].open_time_ms
            assert vitals(heard)[-1].trades > 100

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_server_that_says_it_ends_is_left_before_it_does() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            heard = await hear_and_do(
                exchange,
                lambda: exchange.garble('{"e":"serverShutdown","E":1770123456789}'),
                until=lambda heard: heard.states.count(FeedState.LIVE) == 2 and len(heard.live) >= 6,
            )
            assert_whole(heard, exchange)
            assert "hang up" in heard.sentence(FeedState.RECONNECTING)

    asyncio.run(scenario())


def test_closing_messages_are_known_in_the_forms_of_three_exchanges() -> None:
    kline = {"e": "kline", "k": {"t": 60_000, "x": True}}
    okx = {"arg": {"channel": "candle1m"}, "data": [["60000", "1", "1", "1", "1", "1", "1", "1", "1"]]}
    bybit = {"topic": "kline.1.BTCUSDT", "data": [{"start": 60_000, "confirm": True}]}
    for venue, message in (("binance", kline), ("binance", {"data": kline}), ("okx", okx), ("bybit", bybit)):
        assert closed_times(venue, message) == {60_000}
    open_okx = {**okx, "data": [[*okx["data"][0][:-1], "0"]]}  # type: ignore[index]
    for venue, message in (("binance", {"k": {"t": 1, "x": False}}), ("okx", open_okx), ("kraken", kline), ("okx", [])):
        assert closed_times(venue, message) == frozenset()
    assert says_it_ends("binance", {"data": {"e": "serverShutdown"}}) and not says_it_ends(
        "okx", {"e": "serverShutdown"}
    )
