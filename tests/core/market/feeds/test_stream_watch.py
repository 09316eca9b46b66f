"""A quiet market and a dead socket: what the watch decides after each silence."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import Any, cast

import pytest

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.market.feeds.forming import FormingCandles
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.stream_watch import StreamWatch
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import Kline, Updates, Venue
from tests.support.candles import MINUTE, START_MS, random_walk

(CANDLE,) = random_walk(1)
BRIEF = VenueError("Did not answer in time.", is_brief=True)


class SilentVenue:
    """Only time passes, unless there is an update to pass on."""

    name = "Silent"
    has_stream = True

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.updates_to_come: deque[Updates] = deque()

    async def updates(self, timeout_s: float) -> Updates:
        if self.updates_to_come:
            return self.updates_to_come.popleft()
        self._clock.advance_ms(round(1000.0 * timeout_s))
        return Updates()


class Watched:
    """A watch over a silent stream, whose requests for the open candle get these answers in turn."""

    def __init__(self, *answers: Candle | VenueError) -> None:
        self._clock = ManualClock(START_MS)
        self._answers = deque(answers)
        forming = FormingCandles(ServerClock(self._clock, MINUTE), has_consecutive_ids=True)
        self.venue = SilentVenue(self._clock)
        self._watch = StreamWatch(
            cast("Venue", cast("Any", self.venue)), self._clock, ExchangeTimes(), forming, self._ask
        )

    async def _ask(self) -> list[Candle]:
        answer = self._answers.popleft()
        if isinstance(answer, VenueError):
            raise answer
        return [answer]

    def listen(self, looks: int) -> float:
        """Until the open candle was requested so many times more; the seconds that passed."""
        left, began_s = len(self._answers) - looks, self._clock.monotonic_s()
        while len(self._answers) > left:
            asyncio.run(self._watch.next(60.0))
        return self._clock.monotonic_s() - began_s


def test_a_flat_market_is_quiet() -> None:
    watched = Watched(*[CANDLE] * 5)
    assert watched.listen(looks=5) == pytest.approx(5 * ExchangeTimes().silence_s)


def test_a_silent_socket_in_a_moving_market_is_dead() -> None:
    moved = replace(CANDLE, volume=2.0 * CANDLE.volume)
    watched = Watched(CANDLE, moved, moved)
    watched.listen(looks=2)
    with pytest.raises(VenueError, match="has stopped sending data"):
        watched.listen(looks=1)


def test_the_third_failed_request_ends_the_stream() -> None:
    watched = Watched(BRIEF, BRIEF, BRIEF)
    watched.listen(looks=2)
    with pytest.raises(VenueError, match="in time"):
        watched.listen(looks=1)


def test_a_message_resets_the_failed_requests() -> None:
    watched = Watched(BRIEF, BRIEF, BRIEF, BRIEF)
    watched.listen(looks=2)
    watched.venue.updates_to_come.append(Updates(klines=[Kline(CANDLE)], messages=1))
    watched.listen(looks=2)


def test_a_permanent_error_ends_the_stream_at_once() -> None:
    watched = Watched(VenueError("Does not serve this location."))
    with pytest.raises(VenueError, match="location"):
        watched.listen(looks=1)
