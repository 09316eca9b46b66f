"""Trades, closing messages and garbage through the real ccxt.pro, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from core.market.feeds.base import FeedState, FeedVitals, RejectedMessage
from core.market.feeds.ccxt_tap import announces_shutdown, closed_times
from tests.support.feeds import RecordedEvents, record_events
from tests.support.tape import generated_tape
from tests.support.trading_exchange import AMOUNT, TradingExchange
from tests.support.virtual_network import loop_time
from tests.venue.rig import SECOND, STEP_MS, a_feed

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


def an_exchange() -> TradingExchange:
    clock = loop_time()
    return TradingExchange(generated_tape(SECOND, clock.now_ms(), 30, future=100), clock.now_ms, push_s=0.1)


def vitals(received: RecordedEvents) -> list[FeedVitals]:
    return [event for event in received.events if isinstance(event, FeedVitals)]


def rejected(received: RecordedEvents) -> list[RejectedMessage]:
    return [event for event in received.events if isinstance(event, RejectedMessage)]


def assert_whole(received: RecordedEvents, exchange: TradingExchange) -> None:
    assert received.steps_ms() == {STEP_MS}
    assert received.candles == [exchange.tape.candle(time_ms) for time_ms in received.open_times()]


async def hear_and_do(
    exchange: TradingExchange, act: Callable[[], Awaitable[None]], until: Callable[[RecordedEvents], bool]
) -> RecordedEvents:
    """Listen; when two candles have come live, do `act` once."""
    acting: list[asyncio.Task[None]] = []

    def and_then(received: RecordedEvents) -> bool:
        if len(received.live) == 2 and not acting:
            acting.append(asyncio.ensure_future(act()))  # type: ignore[arg-type]
        return bool(acting) and until(received)

    received = await record_events(a_feed(exchange.urls), until=and_then)
    await asyncio.gather(*acting)
    return received


async def test_trades_make_the_forming_candle_and_the_exchange_closes_it() -> None:
    async with an_exchange() as exchange:
        received = await record_events(a_feed(exchange.urls), until=lambda received: len(received.live) >= 6)
        assert_whole(received, exchange)
        whole = {each.open_time_ms for each in received.live[3:]}
        last = {each.open_time_ms: each for each in received.forming if each.open_time_ms in whole}
        assert set(last) == whole
        for open_ms, candle in last.items():
            assert 0.9 * exchange.traded[open_ms] <= candle.volume <= exchange.traded[open_ms]
            assert candle.volume % AMOUNT == 0.0, "the forming candle is not that of the trades"


async def test_five_thousand_trades_at_once_are_all_counted_though_ccxt_keeps_a_thousand() -> None:
    async with an_exchange() as exchange:
        received = await hear_and_do(
            exchange,
            lambda: exchange.burst(5_000),
            until=lambda received: len(received.live) >= 4 and bool(vitals(received)),
        )
        assert_whole(received, exchange)
        assert vitals(received)[-1].lost_trades == vitals(received)[-1].late_trades == 0
        assert 5_000 <= vitals(received)[-1].trades <= exchange.trades_sent
        assert max(each.volume for each in received.forming) >= 5_000 * AMOUNT


async def test_garbage_is_reported_with_its_text_and_ends_no_stream() -> None:
    """ccxt ends its receive loop without a word at the first message that it cannot parse."""
    async with an_exchange() as exchange:
        received = await hear_and_do(
            exchange, lambda: exchange.garble(*NONSENSE), until=lambda received: len(received.live) >= 8
        )
        assert_whole(received, exchange)
        assert FeedState.RECONNECTING not in received.states
        raws = [each.raw for each in rejected(received)]
        assert "[1, 2" in raws and '{"e":"kline"}' in raws
        assert vitals(received)[-1].rejected == len(raws) >= 6
        assert vitals(received)[-1].trades > 100


def test_closing_messages_of_three_exchanges_are_recognised() -> None:
    kline = {"e": "kline", "k": {"t": 60_000, "x": True}}
    okx = {"arg": {"channel": "candle1m"}, "data": [["60000", "1", "1", "1", "1", "1", "1", "1", "1"]]}
    bybit = {"topic": "kline.1.BTCUSDT", "data": [{"start": 60_000, "confirm": True}]}
    for venue, message in (("binance", kline), ("binance", {"data": kline}), ("okx", okx), ("bybit", bybit)):
        assert closed_times(venue, message) == {60_000}
    open_okx = {**okx, "data": [[*okx["data"][0][:-1], "0"]]}  # type: ignore[index]
    for venue, message in (("binance", {"k": {"t": 1, "x": False}}), ("okx", open_okx), ("kraken", kline), ("okx", [])):
        assert closed_times(venue, message) == frozenset()
    assert announces_shutdown("binance", {"data": {"e": "serverShutdown"}}) and not announces_shutdown(
        "okx", {"e": "serverShutdown"}
    )
