"""The exchange feed through the real ccxt.pro, against an exchange on 127.0.0.1."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from core.clock import SystemClock
from core.market.candle import Candle, Interval, Market
from core.market.feeds.backoff import Backoff
from core.market.feeds.base import FeedState, FormingCandle, Known
from core.market.feeds.exchange import ExchangeFeed, ExchangeTimes
from tests.support.feeds import Heard, hear
from tests.support.loopback_exchange import AcceleratedClock, LoopbackExchange
from tests.support.tape import Tape, generated_tape

pytestmark = pytest.mark.venue

SECOND = Interval.parse("1s")
STEP_MS = SECOND.duration_ms
MARKET = Market("binance", "BTC/USDT", SECOND)
FAST = ExchangeTimes(
    request_s=2.0, first_look_s=0.02, grace_s=0.2, patience_s=2.0, retry_s=0.02, silence_s=0.5, doubt_s=0.2
)
HISTORY = 40


def an_exchange(speed: float = 10.0, history: int = HISTORY, **options: Any) -> LoopbackExchange:
    clock = AcceleratedClock(time.time_ns() // 1_000_000, speed)
    return LoopbackExchange(generated_tape(SECOND, clock(), history, future=2000), clock, push_s=0.01, **options)


def a_feed(exchange: LoopbackExchange, catch_up: int = 10, **options: Any) -> ExchangeFeed:
    backoff = Backoff(first_s=0.05, longest_s=0.2, random=Random(1))
    return ExchangeFeed(
        MARKET, SystemClock(), catch_up=catch_up, urls=exchange.urls, times=FAST, backoff=backoff, **options
    )


def live(count: int) -> Callable[[Heard], bool]:
    return lambda heard: len(heard.live) >= count


def assert_whole(heard: Heard, exchange: LoopbackExchange) -> None:
    """Every closed candle is final, in order, once, and none is missing."""
    assert heard.steps_ms() == {STEP_MS}
    assert heard.candles == [exchange.tape.candle(time_ms) for time_ms in heard.open_times()]


def test_history_is_fetched_page_by_page_and_ends_with_the_newest_closed_candle() -> None:
    async def scenario() -> None:
        async with an_exchange(speed=1.0, history=1300) as exchange:
            heard = await hear(a_feed(exchange, catch_up=1200, limit=1200))
            assert len(heard.candles) == 1200
            assert_whole(heard, exchange)
            assert len(heard.live) <= 1, "but for one that closed while the others were fetched"
            assert heard.candles[-1] in exchange.tape.closed(exchange.now_ms())[-10:]
            assert (heard.progress[-1].done, heard.progress[-1].total) == (1200, 1200)
            assert heard.states[-1] is FeedState.ENDED

    asyncio.run(scenario())


@pytest.mark.parametrize("sends_final", [True, False])
def test_candles_form_then_close_with_their_final_numbers(sends_final: bool) -> None:
    async def scenario() -> None:
        async with an_exchange(sends_final=sends_final) as exchange:
            heard = await hear(a_feed(exchange), until=live(5))
            assert_whole(heard, exchange)
            assert len(heard.candles) - len(heard.live) >= 10
            assert set(heard.live) <= set(heard.candles[-7:])
            assert {candle.open_time_ms for candle in heard.forming} >= {heard.live[2].open_time_ms}

    asyncio.run(scenario())


def test_a_forming_candle_is_always_newer_than_every_closed_one() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            heard = await hear(a_feed(exchange), until=live(4))
            newest_ms = 0
            for event in heard.events:
                if isinstance(event, FormingCandle):
                    assert event.candle.open_time_ms > newest_ms
                elif hasattr(event, "candle"):
                    newest_ms = event.candle.open_time_ms

    asyncio.run(scenario())


def test_a_cut_socket_comes_back_without_a_hole() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:

            def cut_once(heard: Heard) -> bool:
                if len(heard.live) == 3 and FeedState.RECONNECTING not in heard.states:
                    exchange.cut()
                return FeedState.RECONNECTING in heard.states and len(heard.live) >= 7

            heard = await hear(a_feed(exchange), until=cut_once)
            assert_whole(heard, exchange)
            assert "was cut" in heard.sentence(FeedState.RECONNECTING)
            assert exchange.sockets_opened >= 2

    asyncio.run(scenario())


def test_candles_of_a_long_outage_are_fetched_and_do_not_count_as_live() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            feed = a_feed(exchange)
            heard = Heard()
            async with asyncio.timeout(60.0):
                async for event in feed.events():
                    heard.events.append(event)
                    if len(heard.live) == 2 and FeedState.RECONNECTING not in heard.states:
                        exchange.refuse()
                        asyncio.get_running_loop().call_later(0.8, exchange.resume)
                    if heard.states[-1] is FeedState.LIVE and len(heard.states) > 4 and len(heard.live) >= 5:
                        break
            await feed.aclose()
            assert_whole(heard, exchange)
            missed = [closed for closed in heard.closed[10:] if not closed.is_live]
            assert len(missed) >= 5  # 0.8 s at ten candles a second
            assert "cannot be reached" in heard.sentence(FeedState.RECONNECTING)

    asyncio.run(scenario())


def test_a_socket_that_dies_silently_is_noticed_and_replaced() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:

            def stall_once(heard: Heard) -> bool:
                if len(heard.live) == 2 and FeedState.RECONNECTING not in heard.states:
                    exchange.stall()
                if FeedState.RECONNECTING in heard.states:
                    exchange.resume()
                return FeedState.RECONNECTING in heard.states and heard.states[-1] is FeedState.LIVE

            heard = await hear(a_feed(exchange), until=stall_once)
            assert_whole(heard, exchange)
            assert "moves" in heard.sentence(FeedState.RECONNECTING)

    asyncio.run(scenario())


def test_a_quiet_market_is_not_taken_for_a_dead_socket_and_its_candles_still_close() -> None:
    async def scenario() -> None:
        clock = AcceleratedClock(time.time_ns() // 1_000_000)
        busy = generated_tape(SECOND, clock(), HISTORY, future=60).candles
        price = busy[0].close
        quiet = [Candle(each.open_time_ms, price, price, price, price, 0.0) for each in busy]
        async with LoopbackExchange(Tape(quiet, SECOND), clock, push_s=0.02) as exchange:
            exchange.stall()
            heard = await hear(a_feed(exchange), until=live(2))
            assert FeedState.RECONNECTING not in heard.states
            assert_whole(heard, exchange)

    asyncio.run(scenario())


def test_an_answer_from_an_older_copy_is_not_taken_for_final() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:

            def make_stale(heard: Heard) -> bool:
                if len(heard.live) in (1, 2):
                    exchange.stale_answers = 1
                return len(heard.live) >= 5

            assert_whole(await hear(a_feed(exchange), until=make_stale), exchange)

    asyncio.run(scenario())


def test_without_a_stream_to_compare_with_an_answer_must_be_given_twice() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            patient = replace(FAST, silence_s=60.0)
            feed = ExchangeFeed(MARKET, SystemClock(), catch_up=10, urls=exchange.urls, times=patient)

            misled: set[int] = set()

            def silence_then_mislead(heard: Heard) -> bool:
                """From the second candle on: of the first the stream may have shown just what an older copy has."""
                if FeedState.LIVE not in heard.states:
                    return False
                if not misled:
                    exchange.stall()
                    misled.add(0)
                if len(heard.live) not in misled:
                    misled.add(len(heard.live))
                    exchange.stale_answers = 1
                return len(heard.live) >= 4

            assert_whole(await hear(feed, until=silence_then_mislead), exchange)

    asyncio.run(scenario())


def test_a_sleep_of_many_pages_that_the_socket_outlived_is_fetched_at_once() -> None:
    async def scenario() -> None:
        clock = AcceleratedClock(time.time_ns() // 1_000_000, speed=10.0)
        tape = generated_tape(SECOND, clock(), HISTORY, future=4000)
        async with LoopbackExchange(tape, clock, push_s=0.01) as exchange:
            patient = replace(FAST, patience_s=60.0)
            feed = ExchangeFeed(MARKET, SystemClock(), catch_up=10, urls=exchange.urls, times=patient)
            slept = False

            def sleep_once(heard: Heard) -> bool:
                nonlocal slept
                if len(heard.live) == 2 and not slept:
                    slept = True
                    clock.start_ms += 2500 * STEP_MS
                return len(heard.candles) > 2500 and len(heard.live) >= 5

            heard = await hear(feed, until=sleep_once, within_s=60.0)
            assert_whole(heard, exchange)
            assert FeedState.RECONNECTING not in heard.states

    asyncio.run(scenario())


def test_a_candle_that_the_exchange_does_not_have_stays_missing() -> None:
    async def scenario() -> None:
        async with an_exchange(speed=5.0) as exchange:
            soon_ms = SECOND.open_time_ms(exchange.now_ms())
            # Connecting takes candles' time: the hole in history must still lie in what is fetched.
            in_history, to_come = soon_ms - 4 * STEP_MS, soon_ms + 12 * STEP_MS
            exchange.hidden = {in_history, to_come}
            heard = await hear(a_feed(exchange, catch_up=35), lambda heard: heard.open_times()[-1:] > [to_come])
            assert not exchange.hidden & set(heard.open_times())
            assert heard.steps_ms() == {STEP_MS, 2 * STEP_MS}
            assert sum(time_ms + STEP_MS in exchange.hidden for time_ms in heard.open_times()) == 2

    asyncio.run(scenario())


def test_only_candles_after_the_stored_ones_come() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            after_ms = SECOND.open_time_ms(exchange.now_ms()) - 6 * STEP_MS
            heard = await hear(a_feed(exchange, catch_up=30), until=live(1), after_ms=after_ms)
            assert heard.open_times()[0] == after_ms + STEP_MS
            assert_whole(heard, exchange)

    asyncio.run(scenario())


def test_what_has_nothing_to_fetch_tells_of_no_progress() -> None:
    """Progress of nothing has no end, and would stand in the window for ever."""

    async def scenario() -> None:
        clock = AcceleratedClock(time.time_ns() // 1_000_000, 1.0)
        hour = Interval.parse("1h")
        async with LoopbackExchange(generated_tape(hour, clock(), HISTORY, future=9), clock, push_s=0.01) as exchange:
            feed = ExchangeFeed(replace(MARKET, interval=hour), SystemClock(), urls=exchange.urls, times=FAST)
            newest_ms = hour.open_time_ms(clock()) - hour.duration_ms
            stored = Known([exchange.tape.candle(newest_ms + back * hour.duration_ms) for back in (-2, -1, 0)])
            heard = await hear(feed, until=lambda heard: bool(heard.forming), after_ms=newest_ms, known=stored)
            assert heard.closed == []
            assert heard.progress == []

    asyncio.run(scenario())


def test_a_wrong_clock_of_this_computer_closes_no_candle_early() -> None:
    class HourAhead(SystemClock):
        def now_ms(self) -> int:
            return super().now_ms() + 3_600_000

    async def scenario() -> None:
        async with an_exchange(speed=1.0) as exchange:
            feed = ExchangeFeed(MARKET, HourAhead(), catch_up=5, urls=exchange.urls, times=FAST)
            heard = await hear(feed, until=live(1))
            assert_whole(heard, exchange)
            assert heard.open_times()[-1] <= exchange.now_ms()

    asyncio.run(scenario())


def test_closing_is_prompt_leaves_no_socket_and_may_be_repeated() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            feed = a_feed(exchange)
            is_live = asyncio.Event()

            async def iterate() -> Heard:
                heard = Heard()
                async for event in feed.events():
                    heard.events.append(event)
                    if heard.live:
                        is_live.set()
                return heard

            task = asyncio.create_task(iterate())
            await asyncio.wait_for(is_live.wait(), 60.0)
            began = time.monotonic()
            await feed.aclose()
            await feed.aclose()
            await asyncio.wait_for(task, 60.0)
            assert time.monotonic() - began < 2.0
            await asyncio.wait_for(exchange.is_deserted.wait(), 60.0)

    asyncio.run(scenario())
    gc.collect()  # what ccxt or aiohttp did not close would warn now


def test_a_feed_whose_iteration_was_dropped_is_closed_all_the_same() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            feed = a_feed(exchange)
            events = feed.events()
            async with asyncio.timeout(60.0):
                while not isinstance(await anext(events), FormingCandle):
                    pass
            await feed.aclose()
            await asyncio.wait_for(exchange.is_deserted.wait(), 60.0)
            await events.aclose()  # type: ignore[attr-defined]

    asyncio.run(scenario())


def test_a_dead_peer_does_not_hold_up_closing() -> None:
    async def scenario() -> float:
        async with an_exchange() as exchange:
            feed = a_feed(exchange)
            events = feed.events()
            async with asyncio.timeout(60.0):
                while not isinstance(await anext(events), FormingCandle):
                    pass
            exchange.stall()
            began = time.monotonic()
            await feed.aclose()
            took_s = time.monotonic() - began
            await events.aclose()  # type: ignore[attr-defined]
            return took_s

    assert asyncio.run(scenario()) < 6.0


def test_of_candles_that_closed_while_nobody_listened_only_the_newest_is_live() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            feed, heard, pauses = a_feed(exchange), Heard(), 0
            async with asyncio.timeout(60.0):
                async for event in feed.events():
                    heard.events.append(event)
                    if len(heard.live) == 1 and not pauses:
                        pauses = len(heard.closed)
                        await asyncio.sleep(0.8)  # eight candles, during which the subscriber is busy
                    if len(heard.live) >= 3:
                        break
            await feed.aclose()
            assert_whole(heard, exchange)
            held_back = [closed.is_live for closed in heard.closed[pauses:-1]]
            assert held_back.count(False) >= 4
            assert held_back == sorted(held_back)

    asyncio.run(scenario())


def test_a_pause_that_is_too_long_is_fetched_in_part_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("core.market.feeds.connection.FARTHEST_BACK", 20)
        async with an_exchange(speed=1.0, history=200) as exchange:
            after_ms = SECOND.open_time_ms(exchange.now_ms()) - 121 * STEP_MS
            heard = await hear(a_feed(exchange), until=live(1), after_ms=after_ms)
            assert_whole(heard, exchange)
            assert heard.open_times()[0] > after_ms + 90 * STEP_MS
            left_out = (heard.open_times()[0] - after_ms) // STEP_MS - 1
            assert f"{left_out} candles before them are left out" in heard.sentence(FeedState.CATCHING_UP)

    asyncio.run(scenario())
