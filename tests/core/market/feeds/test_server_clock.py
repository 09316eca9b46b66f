"""Estimating the exchange's time from a delayed answer."""

from __future__ import annotations

from datetime import UTC, datetime

from core.domain.candle import Candle, Interval
from core.domain.clock import ManualClock
from core.market.feeds.server_clock import ServerClock
from tests.support.candles import MINUTE, START_MS

WEEK = Interval.parse("1w")


def test_server_time_is_estimated_at_half_the_round_trip() -> None:
    clock = ManualClock(START_MS)
    server, sent_s = ServerClock(clock, MINUTE), clock.monotonic_s()
    clock.advance_ms(4_000)
    server.set(START_MS + 900_000, sent_s)
    assert (server.now_ms(), server.surely_ms()) == (START_MS + 902_000, START_MS + 900_000)
    clock.advance_ms(1_000)
    assert (server.now_ms(), server.surely_ms()) == (START_MS + 903_000, START_MS + 901_000)


def test_weeks_start_as_the_exchange_defines() -> None:
    monday, wednesday = (round(datetime(2020, 12, day, tzinfo=UTC).timestamp() * 1000) for day in (7, 9))
    server = ServerClock(ManualClock(wednesday), WEEK)
    server.learn([Candle(monday, 1.0, 1.0, 1.0, 1.0, 1.0)])
    assert server.forming_ms() == monday


def test_an_existing_candle_has_opened() -> None:
    server = ServerClock(ManualClock(START_MS), MINUTE)
    server.learn([Candle(START_MS + 120_000, 1.0, 1.0, 1.0, 1.0, 1.0)])
    assert server.now_ms() == START_MS + 120_000
