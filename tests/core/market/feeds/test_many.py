"""The feeds of several markets: simulated ones take their steps in one order."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Market
from core.domain.clock import ManualClock
from core.market.feeds.base import ClosedCandle, Feed, FeedError, FeedEvent, FeedKind, FormingCandle
from core.market.feeds.ccxt_tap import by_market
from core.market.feeds.many import open_feeds, play_together
from core.market.feeds.replay import ReplayFeed
from core.market.feeds.simulated import SimulatedFeed
from tests.core.market.feeds.collected import all_of, candles
from tests.simulation.virtual_time import VirtualLoop, run_virtually
from tests.support.candles import MINUTE, file_of, random_walk, without

TEN = [Market(SIMULATED_VENUE, f"SIM-{seed}", MINUTE) for seed in range(11, 21)]
COUNT, CATCH_UP = 12, 8
Moment = tuple[int, Market, FeedEvent]


def ten(speed: float | None, limit: int | None = COUNT) -> dict[Market, Feed]:
    return open_feeds(TEN, ManualClock(), catch_up=CATCH_UP, limit=limit, speed=speed)


async def collected(feeds: dict[Market, Feed], after_ms: dict[Market, int] | None = None) -> list[Moment]:
    """All candles of all feeds, in the order in which they came."""
    found: list[Moment] = []

    async def drain(market: Market, feed: Feed) -> None:
        async for event in feed.events((after_ms or {}).get(market)):
            if isinstance(event, ClosedCandle | FormingCandle):
                found.append((event.candle.open_time_ms, market, event))

    await asyncio.gather(*(drain(market, feed) for market, feed in feeds.items()))
    return found


def moments(speed: float | None, after_ms: dict[Market, int] | None = None) -> list[Moment]:
    return run_virtually(lambda loop: collected(ten(speed), after_ms))


@pytest.mark.parametrize("speed", [0.0, 2.0, None])
def test_ten_simulated_markets_take_each_step_in_their_order(speed: float | None) -> None:
    found = moments(speed)
    closed = [(time_ms, market) for time_ms, market, event in found if isinstance(event, ClosedCandle)]
    times = sorted({time_ms for time_ms, _ in closed})
    assert len(times) == COUNT and closed == [(time_ms, market) for time_ms in times for market in TEN]
    forming = [market for _, market, event in found if isinstance(event, FormingCandle)]
    assert forming == TEN * (len(forming) // 10) and bool(forming) is (speed != 0.0)


def test_each_simulated_market_has_the_candles_that_it_has_alone() -> None:
    found = moments(2.0)
    for market in TEN:
        alone = SimulatedFeed(MINUTE, int(market.symbol[4:]), ManualClock(), 0.0, CATCH_UP, COUNT)
        together = [event for _, each, event in found if each == market]
        assert candles(together) == candles(all_of(alone))


def test_a_market_with_fewer_stored_candles_catches_up_before_the_others_go_on() -> None:
    whole = moments(0.0)
    times = sorted({time_ms for time_ms, _, _ in whole})
    after_ms = dict.fromkeys(TEN, times[7]) | {TEN[4]: times[3]}
    found = [(time_ms, market) for time_ms, market, event in moments(0.0, after_ms) if isinstance(event, ClosedCandle)]
    assert found[:4] == [(time_ms, TEN[4]) for time_ms in times[4:8]]
    assert found[4:] == [(time_ms, market) for time_ms in times[8:] for market in TEN]


def test_ten_simulated_markets_keep_the_pace_of_one() -> None:
    """They waited one after the other: a candle took ten times as long."""

    async def story(loop: VirtualLoop) -> float:
        started_s = loop.time()
        await collected(ten(1.0))
        return loop.time() - started_s

    assert run_virtually(story) == pytest.approx(COUNT - CATCH_UP, abs=0.1)


def test_a_market_that_is_closed_holds_up_nobody() -> None:
    async def story(loop: VirtualLoop) -> list[Candle]:
        feeds = ten(2.0, None)
        found: list[Candle] = []

        async def drain(market: Market, feed: Feed) -> None:
            async for event in feed.events():
                if isinstance(event, ClosedCandle) and market == TEN[-1]:
                    found.append(event.candle)

        tasks = [asyncio.ensure_future(drain(market, feed)) for market, feed in feeds.items()]
        await asyncio.sleep(5.0)
        for market in TEN[:-1]:
            await feeds[market].aclose()
        await asyncio.gather(*tasks[:-1])
        count = len(found)
        await asyncio.sleep(5.0)
        await feeds[TEN[-1]].aclose()
        await tasks[-1]
        assert len(found) >= count + 9
        return found

    run_virtually(story)


def replays() -> dict[Market, Feed]:
    """Of a file with a hole of 20 candles and of one that begins 30 later, ten of each at once if it were alone."""
    walk = random_walk(60)
    found = [
        ReplayFeed(file_of(list(candles), "0" * 16), name, ManualClock(), 2.0, 10)
        for name, candles in (("holed", without(walk, *range(25, 45))), ("late", walk[30:]))
    ]
    play_together(found)
    return {feed.market: feed for feed in found}


def test_replays_are_at_one_time_across_holes_and_late_beginnings() -> None:
    found = run_virtually(lambda loop: collected(replays()))
    paced = [
        (time_ms, market.symbol)
        for time_ms, market, event in found
        if isinstance(event, ClosedCandle) and event.is_live
    ]
    times = [candle.open_time_ms for candle in random_walk(60)]
    late = [(time_ms, "late") for time_ms in times[40:45]]
    assert paced == [*late, *((time_ms, name) for time_ms in times[45:] for name in ("holed", "late"))]
    assert len(found) == 40 + 30, "the others came at once"


def test_a_step_of_several_replays_is_the_next_candle_of_any() -> None:
    async def story(loop: VirtualLoop) -> None:
        feeds = replays()
        (pace,) = {feed.pace for feed in feeds.values() if isinstance(feed, ReplayFeed)}
        assert pace is not None
        found = {market.symbol: 0 for market in feeds}

        async def drain(feed: Feed) -> None:
            async for event in feed.events():
                found[feed.market.symbol] += isinstance(event, ClosedCandle) and event.is_live

        tasks = [asyncio.ensure_future(drain(feed)) for feed in feeds.values()]
        await asyncio.sleep(0.1)
        came = []
        for _ in range(7):
            pace.step()
            await asyncio.sleep(100.0)
            came.append((found["holed"], found["late"]))
        for feed in feeds.values():
            await feed.aclose()
        await asyncio.gather(*tasks)
        assert came == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 6), (2, 7)]

    run_virtually(story)


def test_feeds_come_in_the_order_of_the_markets_each_of_its_kind() -> None:
    markets = [
        Market("kraken", "BTC/USD", MINUTE),
        TEN[1],
        Market(FILE_VENUE, "TEST#ffffff", MINUTE),
        Market("kraken", "ETH/USD", MINUTE),
        TEN[0],
    ]
    feeds = open_feeds(markets, ManualClock())
    assert list(feeds) == markets and [feed.market for feed in feeds.values()] == markets
    kinds = [FeedKind.EXCHANGE, FeedKind.SIMULATED, FeedKind.REPLAY, FeedKind.EXCHANGE, FeedKind.SIMULATED]
    assert [feed.kind for feed in feeds.values()] == kinds


def test_a_simulated_market_needs_a_seed() -> None:
    with pytest.raises(FeedError, match="SIM- and a number"):
        open_feeds([Market(SIMULATED_VENUE, "BTC/USDT", MINUTE)], ManualClock())


def test_a_message_with_rows_of_several_markets_is_read_once_for_each() -> None:
    rows = [{"symbol": "A/USD", "price": 1}, {"symbol": "B/USD", "price": 2}, {"symbol": "A/USD", "price": 3}]
    message = {"channel": "ohlc", "data": rows}
    assert by_market(message) == [{**message, "data": [rows[0], rows[2]]}, {**message, "data": [rows[1]]}]
    for whole in ({**message, "data": rows[:1]}, {"data": [["1", "2"]]}, {"data": {}}, [1], "pong", {"data": []}):
        assert by_market(whole) == [whole]
