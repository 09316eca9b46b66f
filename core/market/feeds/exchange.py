"""Live candles from an exchange, through ccxt.pro.

The stream tells what the open candle looks like and when it is over. What is over is asked for by request, always
from the newest candle that was passed on: history, a candle that has just closed, and what was missed during a break
are the same question, so a break leaves no hole.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from core.clock import Clock
from core.market.candle import Candle, Market
from core.market.feeds.backoff import Backoff
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    FeedError,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    FormingCandle,
)
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls
from core.market.feeds.venue import Venue

_FARTHEST_BACK = 20_000
"""Candles fetched at most after a long pause; what lies before them stays a hole, and is drawn as one."""
_VOLUME_TOLERANCE = 1e-9
_SEEN_CANDLES = 4
_DIAL_LOOK_S = 0.25
"""Between two looks whether the stream stands: a quiet market sends nothing that would tell."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTimes:
    """How patient the feed is, in seconds."""

    request_s: float = 10.0
    first_look_s: float = 0.3
    """After a candle's close, when the stream has not told of the next one."""
    grace_s: float = 2.0
    """After a candle's close it is final, even where no later candle proves it."""
    patience_s: float = 5.0
    """Spent on a candle that has closed, but is not there yet."""
    retry_s: float = 0.25
    silence_s: float = 20.0
    """Without a message the market is looked at by request."""
    doubt_s: float = 3.0
    """The stream has this long to follow a market that is seen to move."""


@dataclass(frozen=True, slots=True)
class _Page:
    """Closed candles, ascending, and the opening time of the newest row, closed or not."""

    closed: list[Candle]
    newest_ms: int | None


class _ClosedError(Exception):
    """The feed was closed while it waited."""


class ExchangeFeed:
    """Spot candles without a key: history, then live, for as long as it takes. Keeps to `core.market.feeds.base`."""

    def __init__(
        self,
        market: Market,
        clock: Clock,
        catch_up: int = 1000,
        limit: int | None = None,
        urls: ExchangeUrls | None = None,
        times: ExchangeTimes | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        """catch_up: closed candles fetched first. limit: closed candles yielded in all. urls: another address."""
        self._market = market
        self._clock = clock
        self._catch_up = catch_up if limit is None else min(catch_up, limit)
        self._limit = limit
        self._urls = urls
        self._times = times or ExchangeTimes()
        self._backoff = backoff or Backoff()
        self._yielded = 0
        self._position_ms: int | None = None
        self._was_live = False
        self._seen: dict[int, Candle] = {}
        self._venue: Venue | None = None
        self._closed = asyncio.Event()

    @property
    def market(self) -> Market:
        return self._market

    @property
    def kind(self) -> FeedKind:
        return FeedKind.EXCHANGE

    async def events(self, after_ms: int | None = None) -> AsyncIterator[FeedEvent]:
        # No `finally` that awaits: qasync's loop does not close generators, and one that is dropped could not end.
        # Sockets belong to `aclose`.
        yield self._status(FeedState.CONNECTING, f"Connecting to {self._market.venue} for {self._market.symbol}.")
        self._position_ms = after_ms
        try:
            while not self._is_done():
                try:
                    async for event in self._connection():
                        yield event
                except VenueError as trouble:
                    await self._disconnect()
                    if trouble.is_final:
                        raise FeedError(str(trouble)) from trouble
                    wait_s = self._backoff.next_s(trouble.wait_s)
                    yield self._status(FeedState.RECONNECTING, f"{trouble} Next try in {_in_words(wait_s)}.")
                    await self._unless_closed(asyncio.sleep(wait_s))
            await self._disconnect()
            if not self._closed.is_set():
                yield self._status(FeedState.ENDED, f"{_counted(self._yielded)} of {self._market.symbol} have come.")
        except _ClosedError:
            await self._disconnect()

    async def aclose(self) -> None:
        self._closed.set()
        await self._disconnect()

    async def _connection(self) -> AsyncIterator[FeedEvent]:
        """From connecting to the first trouble."""
        venue = await self._connect()
        self._place(venue.forming_ms())
        before = self._yielded
        async for event in self._back_fill(venue):
            yield event
        said = f"Live from {venue.name}: {self._market.symbol}, candles of {self._market.interval}."
        if self._was_live:
            missed = self._yielded - before
            said = f"{said} {_counted(missed)} of the break fetched." if missed else f"{said} The break cost no candle."
        async for event in self._live(venue, said):
            yield event

    def _place(self, forming_ms: int) -> None:
        """The position: the newest candle that the subscriber has, or is not to have."""
        step_ms = self._market.interval.duration_ms
        if self._position_ms is None:
            self._position_ms = forming_ms - (self._catch_up + 1) * step_ms
        self._position_ms = max(self._position_ms, forming_ms - (_FARTHEST_BACK + 1) * step_ms)

    async def _connect(self) -> Venue:
        older = self._venue
        await self._disconnect()
        venue = Venue(self._market, self._clock, self._urls, self._times.request_s)
        self._venue = venue
        await self._unless_closed(venue.open(older))
        return venue

    async def _disconnect(self) -> None:
        if self._venue is not None:
            await self._venue.close()

    async def _back_fill(self, venue: Venue) -> AsyncIterator[FeedEvent]:
        """Every closed candle after the position, page by page."""
        step_ms = self._market.interval.duration_ms
        cursor_ms = started_ms = self._position() + step_ms
        total = max(0, (venue.forming_ms() - started_ms) // step_ms)
        if total and not self._was_live:
            yield self._status(FeedState.CATCHING_UP, f"Fetching {_counted(total)} from {venue.name}.")
        while cursor_ms < venue.forming_ms() and not self._is_done():
            page = await self._unless_closed(self._page(venue, cursor_ms))
            for candle in page.closed:
                if not self._is_done():
                    yield self._pass_on(candle, is_live=False)
            cursor_ms = max(self._position() + step_ms, cursor_ms + (0 if page.closed else venue.page_rows * step_ms))
            if not self._was_live:
                yield CatchUpProgress(min(total, (cursor_ms - started_ms) // step_ms), total)

    async def _live(self, venue: Venue, said: str) -> AsyncIterator[FeedEvent]:
        watch = _StreamWatch(venue, self._times)
        step_ms = self._market.interval.duration_ms
        due_ms = self._first_due_ms(venue)
        is_said = False
        while not self._is_done():
            look_s = (due_ms + step_ms - venue.now_ms()) / 1000.0 + self._times.first_look_s
            newest = self._notice(
                await self._unless_closed(watch.next(look_s if is_said else min(look_s, _DIAL_LOOK_S)))
            )
            if not is_said and (newest is not None or venue.is_streaming):
                is_said = self._was_live = True
                yield self._status(FeedState.LIVE, said)
            over_ms = self._over_ms(venue, newest, due_ms)
            if over_ms is not None:
                if over_ms - self._position() > venue.page_rows * step_ms:  # a long sleep that the socket outlived
                    async for event in self._back_fill(venue):
                        yield event
                async for closed in self._settle(venue, over_ms):
                    yield closed
                due_ms = max(over_ms + step_ms, venue.forming_ms())
            if newest is not None and newest.open_time_ms > self._position() and not self._is_done():
                yield FormingCandle(newest)

    def _notice(self, rows: list[Candle]) -> Candle | None:
        """Remember how the stream showed its last candles. Returns the newest."""
        if not rows:
            return None
        self._backoff.reset()
        self._seen.update((candle.open_time_ms, candle) for candle in rows)
        for time_ms in sorted(self._seen)[:-_SEEN_CANDLES]:
            del self._seen[time_ms]
        return rows[-1]

    def _first_due_ms(self, venue: Venue) -> int:
        """The candle to close next: the open one, or the one before it where its numbers were not final yet."""
        forming_ms = venue.forming_ms()
        before_ms = forming_ms - self._market.interval.duration_ms
        return before_ms if self._position() == before_ms - self._market.interval.duration_ms else forming_ms

    def _over_ms(self, venue: Venue, newest: Candle | None, due_ms: int) -> int | None:
        """The newest candle that has closed and was not asked for, or None."""
        step_ms = self._market.interval.duration_ms
        if newest is not None and newest.open_time_ms > due_ms:
            return newest.open_time_ms - step_ms
        is_over = venue.now_ms() >= due_ms + step_ms + self._times.first_look_s * 1000.0
        return due_ms if is_over else None

    async def _settle(self, venue: Venue, over_ms: int) -> AsyncIterator[ClosedCandle]:
        """Ask for the candle that closed, and any before it that is still missing, until its numbers are final."""
        deadline_s = self._clock.monotonic_s() + self._times.patience_s
        retry_s = self._times.retry_s
        before: Candle | None = None
        while True:
            is_late = self._clock.monotonic_s() >= deadline_s
            page = await self._asked_again(venue, is_last=is_late)
            found = next((candle for candle in page.closed if candle.open_time_ms == over_ms), None)
            if is_late or self._is_final(found, before, over_ms, page.newest_ms):
                break
            before = found
            await self._unless_closed(asyncio.sleep(retry_s))
            retry_s *= 2.0
        newest_ms = page.newest_ms or 0
        for candle in page.closed:
            is_live = candle.open_time_ms >= max(over_ms, newest_ms - self._market.interval.duration_ms)
            if not self._is_done():
                yield self._pass_on(candle, is_live)

    async def _asked_again(self, venue: Venue, is_last: bool) -> _Page:
        """What came after the position. A brief trouble gives an empty page, unless this was the last try."""
        try:
            return await self._unless_closed(self._page(venue, self._position() + 1))
        except VenueError as trouble:
            if is_last or not trouble.is_brief:
                raise
            return _Page([], None)

    def _is_final(self, found: Candle | None, before: Candle | None, over_ms: int, newest_ms: int | None) -> bool:
        """Whether the answer can be believed, for a request may be answered from an older copy.

        It agrees with what the stream showed last, or, where the stream showed less, with the answer `before`. A
        candle that is not there although a later one is had no trades.
        """
        seen = self._seen.get(over_ms)
        if found is None:
            return seen is None and newest_ms is not None and newest_ms > over_ms
        if seen is not None and math.isclose(found.volume, seen.volume, rel_tol=_VOLUME_TOLERANCE):
            return True
        is_older = seen is not None and found.volume < seen.volume
        return found == before and not is_older

    async def _page(self, venue: Venue, since_ms: int) -> _Page:
        """The last row is left out unless its time is well over: it may be unfinished."""
        rows = await venue.candles(since_ms)
        if not rows:
            return _Page([], None)
        newest_ms = rows[-1].open_time_ms
        final_from_ms = newest_ms + self._market.interval.duration_ms + self._times.grace_s * 1000.0
        return _Page(rows if venue.now_ms() >= final_from_ms else rows[:-1], newest_ms)

    def _pass_on(self, candle: Candle, is_live: bool) -> ClosedCandle:
        self._position_ms = candle.open_time_ms
        self._yielded += 1
        return ClosedCandle(candle, is_live)

    def _position(self) -> int:
        assert self._position_ms is not None, "set when the connection stands"
        return self._position_ms

    def _is_done(self) -> bool:
        return self._closed.is_set() or (self._limit is not None and self._yielded >= self._limit)

    async def _unless_closed(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, but not after the feed was closed."""
        if self._closed.is_set():
            work.close()
            raise _ClosedError
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if self._closed.is_set():
                raise _ClosedError
            return task.result()
        finally:
            for waiting in (task, stop):
                waiting.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    def _status(self, state: FeedState, sentence: str) -> FeedStatus:
        return FeedStatus(state, sentence, self._clock.now_ms())


class _StreamWatch:
    """Waits for the stream, and finds out when it is silent although the market moves."""

    def __init__(self, venue: Venue, times: ExchangeTimes) -> None:
        self._venue = venue
        self._times = times
        self._newest: Candle | None = None
        self._patience_s = times.silence_s
        self._quiet_s = 0.0
        self._is_doubted = False

    async def next(self, timeout_s: float) -> list[Candle]:
        """What comes within `timeout_s`, or nothing. Raises VenueError where the stream has died unnoticed."""
        began_ms = self._venue.now_ms()
        rows = await self._venue.updates(max(0.0, min(timeout_s, self._patience_s - self._quiet_s)))
        if rows:
            self._newest, self._is_doubted = rows[-1], False
            self._quiet_s, self._patience_s = 0.0, self._times.silence_s
            return rows
        self._quiet_s += max(0.0, self._venue.now_ms() - began_ms) / 1000.0
        if self._quiet_s >= self._patience_s:
            await self._look()
        return []

    async def _look(self) -> None:
        is_moving = await self._is_moving()
        if is_moving and self._is_doubted:
            raise VenueError(f"{self._venue.name} sends nothing any more, though its market moves.", is_brief=True)
        self._is_doubted = is_moving
        self._quiet_s = 0.0
        self._patience_s = self._times.doubt_s if is_moving else self._times.silence_s

    async def _is_moving(self) -> bool:
        """Whether something was traded that the stream did not tell of."""
        page = await self._venue.candles(self._venue.forming_ms())
        if not page:
            return False
        newest, known = page[-1], self._newest
        if known is None:
            self._newest = newest
            return False
        told = known.volume if known.open_time_ms == newest.open_time_ms else 0.0
        return newest.volume > told


def _counted(candles: int) -> str:
    return "1 candle" if candles == 1 else f"{candles:,} candles"


def _in_words(seconds: float) -> str:
    if seconds < 1.0:
        return "a moment"
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} min"


async def probe(market: Market, urls: ExchangeUrls | None, timeout_s: float, clock: Clock) -> str | None:
    """Ask for the market's newest candles. None where the exchange answers in time, else a sentence that says why."""
    venue: Venue | None = None
    try:
        venue = Venue(market, clock, urls, timeout_s)
        async with asyncio.timeout(timeout_s):
            await venue.open(None)
            await venue.candles(venue.forming_ms() - 2 * market.interval.duration_ms)
    except TimeoutError:
        return f"{market.venue} did not answer within {timeout_s:g} s."
    except VenueError as trouble:
        return str(trouble)
    finally:
        if venue is not None:
            await venue.close()
    return None
