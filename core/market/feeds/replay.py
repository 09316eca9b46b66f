"""A candle file as a feed: its first part at once, the rest at a set speed, or all as fast as possible."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from operator import attrgetter
from pathlib import Path

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import Clock
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    StoredCandles,
)
from core.market.feeds.interruptible_wait import happens_within
from core.market.feeds.pace import ReplayPace, StepOrder
from core.market.history.files import CandleFile, rejections_in_words, sample_file
from core.market.shown_names import file_symbol, shown_market, shown_symbol

_log = logging.getLogger("ghostcandle.feed")
_YIELD_EVERY = 64
"""Candles between two turns of the event loop at full speed."""


def replay_name(path: Path, file: CandleFile) -> str:
    """The symbol under which a file's candles are stored; files with other content are other markets."""
    return file_symbol(path.stem, file.fingerprint)


class ReplayFeed:
    """Yields a file's candles in order. Their forecasts are never `live`, as the future is in the file already."""

    kind = FeedKind.REPLAY

    def __init__(
        self,
        file: CandleFile,
        name: str,
        clock: Clock,
        speed: float = 0.0,
        catch_up: int | None = None,
        limit: int | None = None,
    ) -> None:
        """speed: candles per second after the first `catch_up`, or after half of a shorter file; 0: as fast as
        possible. limit: the number of candles used."""
        self._candles = file.candles[:limit]
        self._rejections = rejections_in_words(file.rejected)
        self.market = Market(FILE_VENUE, name, file.interval)
        self._shown = shown_symbol(FILE_VENUE, name)
        self._clock = clock
        self.pace = None if speed == 0.0 else ReplayPace(speed, self._candles)
        """The pace of its candles after the first part; None: all at once."""
        count = len(self._candles) if speed == 0.0 else _at_once(catch_up or 0, len(self._candles), limit)
        self.at_once_until_ms = self._candles[count - 1].open_time_ms if count else 0
        """The newest candle of the part that comes at once."""
        self._order, self._place = StepOrder(1), 0
        self._closed = asyncio.Event()

    def join(self, order: StepOrder, place: int, at_once_until_ms: int) -> None:
        """Take turns with other replays, by opening time. To be called before `events`."""
        self._order, self._place, self.at_once_until_ms = order, place, at_once_until_ms

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        first = 0 if after_ms is None else bisect_right(self._candles, after_ms, key=attrgetter("open_time_ms"))
        left = self._candles[first:]
        done = len(self._candles) - len(left)
        at_once = bisect_right(left, self.at_once_until_ms, key=attrgetter("open_time_ms"))
        async for event in self._at_once(left[:at_once], done):
            yield event
        if self.pace is not None:
            async for event in self._paced(left[at_once:], self.pace):
                yield event
        self._order.leave(self._place)
        if not self._closed.is_set():
            yield self._status(FeedState.ENDED, f"The end of {self._shown} was reached.")

    async def aclose(self) -> None:
        self._closed.set()
        self._order.leave(self._place)

    async def _at_once(self, candles: Sequence[Candle], done: int) -> AsyncIterator[FeedEvent]:
        if candles:
            if self._rejections:
                _log.warning("%s: rows of the file were skipped%s", self.market.symbol, self._rejections)
            yield self._status(FeedState.CATCHING_UP, f"Reading {self._shown}{self._rejections}.")
        for index, candle in enumerate(candles, start=1):
            if self._closed.is_set():
                return
            yield ClosedCandle(candle, is_live=False)
            if index % _YIELD_EVERY == 0 or index == len(candles):
                yield CatchUpProgress(done + index, done + len(candles))
                await asyncio.sleep(0)

    async def _paced(self, candles: Sequence[Candle], pace: ReplayPace) -> AsyncIterator[FeedEvent]:
        shown, is_due = "", False
        for candle in candles:
            pace.next_ms = candle.open_time_ms
            self._order.announce(self._place, candle.open_time_ms)  # all wait at the same time
            while not is_due:
                if self._closed.is_set():
                    return
                if shown != (shown := self._pace_sentence(pace)):
                    yield self._status(FeedState.REPLAYING, shown)
                is_due = await self._is_due(pace)
            is_due = False
            await self._order.turn(self._place, candle.open_time_ms)
            if self._closed.is_set():
                return
            yield ClosedCandle(candle, is_live=True)
        pace.next_ms = None

    def _pace_sentence(self, pace: ReplayPace) -> str:
        if pace.is_paused:
            return f"{self._shown} is paused."
        return f"{self._shown} at {pace.speed:g} candle{'' if pace.speed == 1.0 else 's'} per second."

    async def _is_due(self, pace: ReplayPace) -> bool:
        """Wait for the next candle. False if the pace changed or the feed was closed before it was due."""
        changed = pace.next_change()
        if pace.take_step():
            return True
        closing = self._closed.wait() if pace.is_paused else happens_within(self._closed, 1.0 / pace.speed)
        due, change = asyncio.ensure_future(closing), asyncio.ensure_future(changed.wait())
        try:
            await asyncio.wait({due, change}, return_when=asyncio.FIRST_COMPLETED)
            return due.done() and not due.result()
        finally:
            for each in (due, change):
                each.cancel()
            await asyncio.gather(due, change, return_exceptions=True)

    def _status(self, state: FeedState, sentence: str) -> FeedStatus:
        return FeedStatus(state, sentence, self._clock.now_ms())


def _at_once(catch_up: int, candles: int, limit: int | None) -> int:
    """Half of a short file, as a replay that starts at its end shows nothing. A limited one is short on purpose."""
    return catch_up if catch_up < candles else candles // 2 if limit is None else candles


SAMPLE_NAME = "EUR/USD sample"


def sample_feed(clock: Clock, speed: float = 2.0, catch_up: int = 1000, limit: int | None = None) -> ReplayFeed:
    """The included sample: the first part at once, then `speed` candles a second."""
    return ReplayFeed(sample_file(), SAMPLE_NAME, clock, speed, catch_up, limit)


class StoredFeed:
    """Yields no candles: chart and trainer read the stored ones themselves."""

    kind = FeedKind.REPLAY

    def __init__(self, market: Market, clock: Clock) -> None:
        self.market, self._clock = market, clock

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        sentence = f"The stored candles of {shown_market(self.market)} are shown; no new ones will follow."
        yield FeedStatus(FeedState.ENDED, sentence, self._clock.now_ms())

    async def aclose(self) -> None:
        """There is nothing to release."""
