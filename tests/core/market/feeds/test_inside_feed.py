"""A feed that asks for insides, with the real ccxt and two exchanges: one has the minutes, the other their seconds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from core.domain.candle import Candle, Inside, Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock
from core.market.feeds.base import ClosedCandle
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.inside_feed import InsideFeed
from core.market.feeds.rate_limits import RateLimitHold
from core.market.inside import insides
from core.market.resample import ResampledSeries
from tests.support.candles import MINUTE
from tests.support.exchange.server import LoopbackExchange
from tests.support.feeds import RecordedEvents, live, record_events
from tests.support.tape import Tape, generated_tape
from tests.support.virtual_network import loop_time
from tests.venue.rig import FAST, MARKET, SECOND

_CATCH_UP = 4


@dataclass(frozen=True)
class Market2:
    """The market at both exchanges."""

    minutes: LoopbackExchange
    seconds: LoopbackExchange
    clock: Clock

    def feed(self, venue: type[CcxtVenue] = CcxtVenue) -> InsideFeed:
        market = Market(MARKET.venue, MARKET.symbol, MINUTE)
        feed = ExchangeFeed(market, self.clock, _CATCH_UP, urls=self.minutes.urls, times=FAST)
        return InsideFeed(
            feed,
            lambda: venue(Market(MARKET.venue, MARKET.symbol, SECOND), self.seconds.urls, FAST.request_s),
            RateLimitHold(self.clock),
            self.clock,
            SECOND,
        )


class SlowVenue(CcxtVenue):
    opened: ClassVar[list[CcxtVenue]] = []

    async def open(self, older: CcxtVenue | None) -> None:
        await asyncio.sleep(1.0)
        await super().open(older)
        self.opened.append(self)


@asynccontextmanager
async def both_exchanges(without: Container[int] = ()) -> AsyncIterator[Market2]:
    """without: the seconds of each minute in which nothing is traded."""
    clock = loop_time()
    seconds = generated_tape(SECOND, clock.now_ms(), 600, future=600)
    minutes = Tape(joined(seconds.candles, MINUTE), MINUTE)
    traded = [each for each in seconds.candles if each.open_time_ms // 1000 % 60 not in without]
    seconds = Tape(traded, SECOND)
    async with (
        LoopbackExchange(minutes, clock.now_ms) as coarse,
        LoopbackExchange(seconds, clock.now_ms) as fine,
    ):
        yield Market2(coarse, fine, clock)


def joined(finer: list[Candle], interval: Interval) -> list[Candle]:
    source = CandleSeries.from_columns(SECOND, *columns_of(finer))
    return list(ResampledSeries(source, interval).series)


def columns_of(candles: list[Candle]) -> tuple[np.ndarray, np.ndarray]:
    times = np.array([each.open_time_ms for each in candles], dtype=np.int64)
    return times, np.array([(each.open, each.high, each.low, each.close, each.volume) for each in candles]).T


def expected(exchange: LoopbackExchange) -> dict[int, Inside]:
    return insides(*columns_of(exchange.tape.candles), SECOND, MINUTE)


def found(received: RecordedEvents) -> dict[int, Inside | None]:
    return {candle.open_time_ms: candle.inside for candle in received.candles}


async def test_past_and_live_candles_come_with_what_was_inside() -> None:
    async with both_exchanges() as market:
        received = await record_events(market.feed(), until=live(3))
        of = expected(market.seconds)
        assert len(received.candles) == _CATCH_UP + 3
        assert found(received) == {time_ms: of[time_ms] for time_ms in received.open_times()}


async def test_an_exchange_that_opens_slowly_is_asked_once_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart the first candle is a live one, which does not wait for the connection."""
    monkeypatch.setattr(SlowVenue, "opened", [])
    async with both_exchanges() as market:
        newest_ms = market.minutes.tape.closed(market.clock.now_ms())[-1].open_time_ms
        received = await record_events(market.feed(SlowVenue), until=live(3), after_ms=newest_ms)
        assert len(SlowVenue.opened) == 1
        first, *later = received.candles
        assert first.inside is None and [each.inside for each in later] == [
            expected(market.seconds)[each.open_time_ms] for each in later
        ]


@pytest.mark.parametrize("fault", ["silent", "refusing", "failing"])
async def test_without_an_answer_candles_come_all_the_same(fault: str) -> None:
    async with both_exchanges() as market:
        whole = await record_events(market.feed(), until=live(1))
        received = RecordedEvents()
        feed = market.feed()
        async for event in feed.events():
            received.events.append(event)
            if len(received.live) == 1 and fault:
                if fault == "silent":
                    market.seconds.answers_late_s = 1_000.0
                elif fault == "refusing":
                    market.seconds.refuse()
                else:
                    market.seconds.answer(503)
                fault = ""
            if len(received.live) == 3:
                break
        await feed.aclose()
        assert all(candle.inside is not None for candle in (*whole.candles, *received.candles[: _CATCH_UP + 1]))
        assert [candle.inside for candle in received.live[1:]] == [None, None]
        assert received.steps_ms() == {MINUTE.duration_ms}


async def test_a_new_candle_costs_one_request_more() -> None:
    async with both_exchanges() as market:
        received = RecordedEvents()
        feed, counts = market.feed(), list[int]()
        async for event in feed.events():
            received.events.append(event)
            if isinstance(event, ClosedCandle) and event.is_live:
                counts.append(sum("klines" in each for each in market.seconds.requests))
            if len(received.live) == 4:
                break
        await feed.aclose()
        assert [later - earlier for earlier, later in pairwise(counts)] == [1, 1, 1]


async def test_an_inside_whose_end_is_missing_is_taken_after_one_more_request() -> None:
    async with both_exchanges(without=(59, 0)) as market:
        received = await record_events(market.feed(), until=live(3))
        of, asked = expected(market.seconds), sum("klines" in each for each in market.seconds.requests)
        assert found(received) == {time_ms: of[time_ms] for time_ms in received.open_times()}
        assert {of[time_ms].count for time_ms in received.open_times()} == {58} and asked <= _CATCH_UP + 2 * 3
        assert all(candle.inside is not None for candle in received.live)
