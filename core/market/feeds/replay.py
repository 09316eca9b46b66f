"""A candle file as a feed: its first part at once, the rest at a set speed, or all as fast as possible."""

from __future__ import annotations

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
from core.market.feeds.replay_speed import BEFORE_ALL_MS, WATCHABLE_SPEED, ReplayPace
from core.market.feeds.task_feed import TaskFeed
from core.market.history.candle_file import CandleFile, sample_file
from core.market.history.skipped_rows import rejections_text
from core.market.shown_names import SAMPLE_MARKET, file_symbol, shown_market, shown_symbol

_log = logging.getLogger("ghostcandle.feed")
_YIELD_EVERY = 64
"""Candles between two turns of the event loop at full speed."""
_FIRST_SHOWN = 90
"""Candles that come at once in a replay that waits for a model: enough for a chart, and learned in a few seconds."""


def replay_name(path: Path, file: CandleFile) -> str:
    """The symbol under which a file's candles are stored; files with other content are other markets."""
    return file_symbol(path.stem, file.fingerprint)


class ReplayFeed(TaskFeed):
    """Emits a file's candles in order. Their forecasts are never `live`, as the future is in the file already."""

    kind = FeedKind.REPLAY

    def __init__(
        self,
        file: CandleFile,
        name: str,
        clock: Clock,
        speed: float | None = None,
        catch_up: int | None = None,
        limit: int | None = None,
    ) -> None:
        """speed: candles per second after the first `catch_up`, or after half of a shorter file; 0: as fast as
        possible. None: all at once, without a pace. limit: the number of candles used."""
        super().__init__(Market(FILE_VENUE, name, file.interval), clock)
        self.candles = file.candles[:limit]
        self.insides = file.candles.insides
        """Of all of the file's candles, by opening time."""
        self.has_insides = bool(self.insides)
        self._rejections = rejections_text(file.rejected)
        self.skipped = f"{name}: rows of the file were skipped{self._rejections}." if self._rejections else ""
        """A sentence about rows that were left out; empty without any."""
        self._assumption = " UTC is assumed, as the file names no time zone." if file.is_zone_assumed else ""
        self._shown = shown_symbol(FILE_VENUE, name)
        count = len(self.candles)
        if speed is not None and (catch_up or 0) < count:
            count = catch_up or 0
        elif speed is not None and limit is None:
            count //= 2  # as a replay that starts at its end shows nothing; a limited one is short on purpose
        self.warm_up_until_ms = self.candles[count - 1].open_time_ms if count else BEFORE_ALL_MS
        """The newest candle of the part that comes at once, or, if the replay waits for a model, as fast as that."""
        self.pace = None if speed is None else ReplayPace(speed, [self.candles], self.warm_up_until_ms)
        """The pace of its candles after the first part; None: all at once."""
        self._place = 0
        self._is_warm_up = False
        """Whether the next candle comes at the speed of the model, which the replay waits for."""
        self._pace_sentence = ""

    def join(self, pace: ReplayPace, place: int, warm_up_until_ms: int) -> None:
        """Take turns with other replays, by opening time. To be called before `events`."""
        self.pace, self._place, self.warm_up_until_ms = pace, place, warm_up_until_ms

    async def aclose(self) -> None:
        try:
            await super().aclose()
        finally:
            self._leave()

    async def _run(self, after_ms: int | None, known: StoredCandles | None) -> None:
        first = 0 if after_ms is None else bisect_right(self.candles, after_ms, key=attrgetter("open_time_ms"))
        left = self.candles[first:]
        until_ms = self.warm_up_until_ms
        if self.pace is not None and self.pace.waits_for_model:
            shown = self.candles[:_FIRST_SHOWN]
            until_ms = min(until_ms, shown[-1].open_time_ms if shown else until_ms)
        at_once = bisect_right(left, until_ms, key=attrgetter("open_time_ms"))
        await self._emit_at_once(left[:at_once], first)
        if self.pace is not None and at_once < len(left):
            await self._emit_paced(left[at_once:], self.pace)
        self._leave()
        self.emit_status(FeedState.ENDED, f"The end of {self._shown} was reached.")

    async def _emit_at_once(self, candles: Sequence[Candle], done: int) -> None:
        if candles:
            if self.skipped:
                _log.warning("%s", self.skipped)
            if self._assumption:
                _log.warning("%s:%s", self.market.symbol, self._assumption)
            self.emit_status(FeedState.CATCHING_UP, f"Reading {self._shown}{self._rejections}.{self._assumption}")
        for index, candle in enumerate(candles, start=1):
            self.emit(ClosedCandle(candle, is_live=False))
            if index % _YIELD_EVERY == 0 or index == len(candles):
                self.emit(CatchUpProgress(done + index, done + len(candles)))
                await self.delivered()

    async def _emit_paced(self, candles: Sequence[Candle], pace: ReplayPace) -> None:
        pace.on_change(self._report_pace)
        for number, candle in enumerate(candles, start=1):
            self._is_warm_up = pace.is_warm_up(candle.open_time_ms)
            self._report_pace()
            await pace.turn(self._place, candle.open_time_ms)
            is_watched = not pace.is_at_once(candle.open_time_ms)
            self.emit(ClosedCandle(candle, is_live=is_watched))
            if is_watched or number % _YIELD_EVERY == 0:
                await self.delivered()

    def _leave(self) -> None:
        if self.pace is not None:
            self.pace.no_longer_on_change(self._report_pace)
            self.pace.leave(self._place)

    def _report_pace(self) -> None:
        """Report how the candles come, if that has changed."""
        pace = self.pace
        assert pace is not None
        sentence = f"{self._shown} as fast as possible."
        if pace.speed > 0.0:
            warm_up = ", warming up, then" if self._is_warm_up else ""
            sentence = f"{self._shown}{warm_up} at {pace.speed:g} candle{'' if pace.speed == 1.0 else 's'} per second."
        if pace.is_paused:
            sentence = f"{self._shown} is paused."
        if sentence != self._pace_sentence:
            self._pace_sentence = sentence
            self.emit_status(FeedState.REPLAYING, sentence)


def sample_feed(
    clock: Clock,
    speed: float | None = WATCHABLE_SPEED,
    catch_up: int = 1000,
    limit: int | None = None,
    symbol: str = SAMPLE_MARKET.symbol,
) -> ReplayFeed:
    """The included sample: the first part at once, then `speed` candles a second. symbol: of its replay."""
    return ReplayFeed(sample_file(), symbol, clock, speed, catch_up, limit)


class StoredFeed:
    """Yields no candles: chart and trainer read the stored ones themselves."""

    kind = FeedKind.REPLAY
    has_insides = False

    def __init__(self, market: Market, clock: Clock) -> None:
        self.market, self._clock = market, clock

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        sentence = f"The stored candles of {shown_market(self.market)} are shown; no new ones will follow."
        yield FeedStatus(FeedState.STORED, sentence, self._clock.now_ms())

    async def aclose(self) -> None:
        """There is nothing to release."""
