"""Iterates a feed in tests, with a time limit, and collects its events by kind; and a listener of backfills."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from core.domain.candle import Candle
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    Feed,
    FeedEvent,
    FeedState,
    FeedStatus,
    FormingCandle,
    StoredCandles,
)

_WITHIN_S = 3_600.0
"""Most loops that a feed is iterated on are on virtual time; where one is not, pytest ends the test long before."""


@dataclass(slots=True)
class RecordedEvents:
    """Everything that a feed yielded."""

    events: list[FeedEvent] = field(default_factory=list)

    @property
    def closed(self) -> list[ClosedCandle]:
        return [event for event in self.events if isinstance(event, ClosedCandle)]

    @property
    def candles(self) -> list[Candle]:
        return [event.candle for event in self.closed]

    @property
    def live(self) -> list[Candle]:
        return [event.candle for event in self.closed if event.is_live]

    @property
    def forming(self) -> list[Candle]:
        return [event.candle for event in self.events if isinstance(event, FormingCandle)]

    @property
    def progress(self) -> list[CatchUpProgress]:
        return [event for event in self.events if isinstance(event, CatchUpProgress)]

    @property
    def states(self) -> list[FeedState]:
        return [event.state for event in self.events if isinstance(event, FeedStatus)]

    def sentence(self, state: FeedState) -> str:
        """The sentence of the last status of this kind."""
        said = [event.sentence for event in self.events if isinstance(event, FeedStatus) and event.state is state]
        return said[-1]

    def open_times(self) -> list[int]:
        return [candle.open_time_ms for candle in self.candles]

    def steps_ms(self) -> set[int]:
        """The distances between neighbouring closed candles; one single distance means: no hole, no repetition."""
        times = self.open_times()
        return {later - earlier for earlier, later in itertools.pairwise(times)}


def live(count: int) -> Callable[[RecordedEvents], bool]:
    """So many candles have come live."""
    return lambda received: len(received.live) >= count


async def record_events(
    feed: Feed,
    until: Callable[[RecordedEvents], bool] = lambda _: False,
    after_ms: int | None = None,
    within_s: float = _WITHIN_S,
    known: StoredCandles | None = None,
) -> RecordedEvents:
    """Iterate until `until` says so or the feed ends; close it then. Raises TimeoutError after `within_s`."""
    received = RecordedEvents()
    try:
        async with asyncio.timeout(within_s):
            async for event in feed.events(after_ms, known):
                received.events.append(event)
                if until(received):
                    break
    finally:
        await feed.aclose()
    return received


class Silent:
    """Ignores the progress of a backfill."""

    def notify(self, sentence: str) -> None: ...

    def show(self, done: int, total: int) -> None: ...
