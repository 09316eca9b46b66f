"""The exchange feed through the real ccxt.pro, from connecting to closing, on virtual time.

What a bad line does to it is in `tests/venue`, and what hours of it do in `tests/simulation`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from core.domain.candle import Candle, Interval
from core.market.feeds.base import FeedState, FormingCandle, StoredCandles
from core.market.feeds.exchange import ExchangeFeed
from tests.support.exchange.clock import loop_s
from tests.support.exchange.server import LoopbackExchange
from tests.support.feeds import RecordedEvents, live, record_events
from tests.support.tape import Tape, generated_tape
from tests.support.virtual_network import loop_time
from tests.venue.rig import FAST, MARKET, SECOND, STEP_MS, a_feed, an_exchange


def assert_whole(received: RecordedEvents, exchange: LoopbackExchange) -> None:
    """Every closed candle is final, in order, once, and none is missing."""
    assert received.steps_ms() == {STEP_MS}
    assert received.candles == [exchange.tape.candle(time_ms) for time_ms in received.open_times()]


async def until_formed(feed: ExchangeFeed) -> object:
    """Iterate until a candle forms. Returns the suspended iterator."""
    events = feed.events()
    while not isinstance(await anext(events), FormingCandle):
        pass
    return events


async def test_history_is_fetched_page_by_page_and_ends_with_the_newest_closed_candle() -> None:
    async with an_exchange(history=1300) as exchange:
        newest_ms = SECOND.open_time_ms(exchange.now_ms()) - STEP_MS
        received = await record_events(a_feed(exchange.urls, catch_up=1200, limit=1200))
        assert_whole(received, exchange)
        assert len(received.candles) == 1200 and received.live == []
        assert received.candles[-1].open_time_ms == newest_ms
        assert (received.progress[-1].done, received.progress[-1].total) == (1200, 1200)
        assert received.states[-1] is FeedState.ENDED


@pytest.mark.parametrize("sends_final", [True, False])
async def test_candles_form_then_close_with_their_final_numbers(sends_final: bool) -> None:
    async with an_exchange(sends_final=sends_final) as exchange:
        received = await record_events(a_feed(exchange.urls), until=live(5))
        assert_whole(received, exchange)
        assert received.live == received.candles[-5:] and len(received.candles) == 15
        assert {candle.open_time_ms for candle in received.forming} >= {
            candle.open_time_ms for candle in received.live[1:]
        }


async def test_a_quiet_market_is_no_dead_socket_and_its_candles_close() -> None:
    clock = loop_time()
    busy = generated_tape(SECOND, clock.now_ms(), 40, future=60).candles
    price = busy[0].close
    quiet = [Candle(each.open_time_ms, price, price, price, price, 0.0) for each in busy]
    async with LoopbackExchange(Tape(quiet, SECOND), clock.now_ms) as exchange:
        exchange.stall()
        received = await record_events(a_feed(exchange.urls), until=lambda _: loop_s() > 3 * FAST.silence_s)
        assert FeedState.RECONNECTING not in received.states and len(received.live) >= 10
        assert_whole(received, exchange)


async def test_a_stale_answer_is_not_final() -> None:
    async with an_exchange(sends_final=False) as exchange:

        def make_stale(received: RecordedEvents) -> bool:
            if len(received.live) in (1, 2):
                exchange.stale_answers = 1
            return len(received.live) >= 5

        assert_whole(await record_events(a_feed(exchange.urls), until=make_stale), exchange)


async def test_without_a_stream_an_answer_must_be_confirmed_by_a_second() -> None:
    misled: set[int] = set()

    def silence_then_mislead(received: RecordedEvents) -> bool:
        """From the second candle on: of the first the stream may have shown just what an older copy has."""
        if FeedState.LIVE not in received.states:
            return False
        if not misled:
            exchange.stall()
            misled.add(0)
        if len(received.live) not in misled:
            misled.add(len(received.live))
            exchange.stale_answers = 1
        return len(received.live) >= 4

    async with an_exchange() as exchange:
        feed = a_feed(exchange.urls, replace(FAST, silence_s=60.0))
        assert_whole(await record_events(feed, until=silence_then_mislead), exchange)


async def test_no_progress_is_reported_when_nothing_is_fetched() -> None:
    """Progress towards nothing never finishes and would stay in the window forever."""
    clock, hour = loop_time(), Interval.parse("1h")
    async with LoopbackExchange(generated_tape(hour, clock.now_ms(), 40, future=9), clock.now_ms) as exchange:
        feed = ExchangeFeed(replace(MARKET, interval=hour), clock, urls=exchange.urls, times=FAST)
        newest_ms = hour.open_time_ms(clock.now_ms()) - hour.duration_ms
        stored = StoredCandles([exchange.tape.candle(newest_ms + back * hour.duration_ms) for back in (-2, -1, 0)])
        received = await record_events(
            feed, until=lambda received: bool(received.forming), after_ms=newest_ms, known=stored
        )
        assert received.closed == []
        assert received.progress == []


async def test_a_wrong_system_clock_closes_no_candle_early() -> None:
    ahead = loop_time()
    ahead.wall_offset_ms = 3_600_000
    async with an_exchange() as exchange:
        received = await record_events(a_feed(exchange.urls, clock=ahead), until=live(1))
        assert_whole(received, exchange)
        assert received.open_times()[-1] + STEP_MS <= exchange.now_ms()


async def test_a_feed_with_an_abandoned_iteration_is_closed() -> None:
    async with an_exchange() as exchange:
        feed = a_feed(exchange.urls)
        events = await until_formed(feed)
        await feed.aclose()
        await asyncio.wait_for(exchange.is_deserted.wait(), 1.0)
        await events.aclose()  # type: ignore[attr-defined]


async def test_a_dead_peer_does_not_hold_up_closing() -> None:
    async with an_exchange() as exchange:
        feed = a_feed(exchange.urls)
        events = await until_formed(feed)
        exchange.stall()
        await asyncio.wait_for(feed.aclose(), 6.0)
        await events.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize("sends_final", [True, False])
async def test_of_missed_candles_only_the_newest_is_live(sends_final: bool) -> None:
    async with an_exchange(sends_final=sends_final) as exchange:
        feed, received = a_feed(exchange.urls), RecordedEvents()
        async for event in feed.events():
            received.events.append(event)
            if received.live and event is received.closed[10]:
                await asyncio.sleep(8.5)  # the subscriber is busy
            if len(received.live) >= 3:
                break
        await feed.aclose()
        assert_whole(received, exchange)
        assert [closed.is_live for closed in received.closed[10:]] == [True, *[False] * 7, True, True]


async def test_a_too_long_pause_is_fetched_in_part_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.market.feeds.reach.FARTHEST_BACK", 20)
    async with an_exchange(history=200) as exchange:
        after_ms = SECOND.open_time_ms(exchange.now_ms()) - 121 * STEP_MS
        received = await record_events(a_feed(exchange.urls), until=live(1), after_ms=after_ms)
        assert_whole(received, exchange)
        assert received.open_times()[0] == after_ms + 101 * STEP_MS
        assert "100 candles before them are skipped" in received.sentence(FeedState.CATCHING_UP)


async def test_a_too_long_break_is_fetched_in_part_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.market.feeds.reach.FARTHEST_BACK", 20)

    def break_once(received: RecordedEvents) -> bool:
        if len(received.live) == 2 and FeedState.RECONNECTING not in received.states:
            exchange.refuse()
            asyncio.get_running_loop().call_later(60.0, exchange.resume)
        return FeedState.RECONNECTING in received.states and len(received.live) >= 4

    async with an_exchange() as exchange:
        received = await record_events(a_feed(exchange.urls), until=break_once)
        before_ms, after_ms = (time_ms for time_ms in received.open_times()[11:13])
        left_out = (after_ms - before_ms) // STEP_MS - 1
        assert left_out >= 30
        assert f"{left_out} candles before them are skipped" in received.sentence(FeedState.CATCHING_UP)
