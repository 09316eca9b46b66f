"""A venue's candles through ccxt.pro: history, then live, and after any break exactly what was missed.

A closed candle is always the venue's own, fetched by REST after its time is over; the socket only draws the candle
that is still forming. So a message that was lost, late or repeated cannot change what is stored and learned from.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

from core.clock import Clock
from core.market.candle import Candle, Market
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
from core.market.feeds.urls import ExchangeUrls
from core.market.feeds.venue import Venue, VenueTroubleError

_PAGE = 1000
_MOST_MISSED = 20_000


@dataclass(frozen=True, slots=True)
class ExchangeTiming:
    """All waits, in seconds; tests shorten them."""

    settle_s: float = 0.8
    """After a candle's time is over, before it is fetched."""
    retry_s: float = 0.7
    """Between two looks for a closed candle that the venue does not show yet."""
    patience_s: float = 10.0
    """After which a closed candle that never came is a hole."""
    live_within_s: float = 5.0
    """A closed candle that is fetched later than this after its close did not come live."""
    silence_s: float = 20.0
    """Without a message for so long, REST is asked whether the market is quiet or the socket dead."""
    first_back_off_s: float = 1.0
    longest_back_off_s: float = 60.0


class ExchangeFeed:
    """The feed of one market at one venue. No keys, spot only."""

    def __init__(
        self,
        market: Market,
        clock: Clock,
        *,
        catch_up: int,
        limit: int | None = None,
        urls: ExchangeUrls | None = None,
        timing: ExchangeTiming | None = None,
        jitter: random.Random | None = None,
    ) -> None:
        """catch_up: closed candles fetched where none are stored. limit: closed candles in all, then it ends."""
        self._market = market
        self._clock = clock
        self._catch_up = catch_up
        self._limit = limit
        self._urls = urls
        self._timing = timing or ExchangeTiming()
        self._jitter = jitter or random.Random()
        self._closed = asyncio.Event()
        self._position_ms: int | None = None
        self._ahead_ms = 0
        self._yielded = 0
        self._failures = 0

    @property
    def market(self) -> Market:
        return self._market

    @property
    def kind(self) -> FeedKind:
        return FeedKind.EXCHANGE

    async def aclose(self) -> None:
        self._closed.set()

    async def events(self, after_ms: int | None = None) -> AsyncIterator[FeedEvent]:
        self._position_ms = after_ms
        yield self._status(FeedState.CONNECTING, f"Connecting to {self._market.venue} …")
        while not self._is_done:
            venue = Venue(self._market, self._urls)
            try:
                await self._until_closed(venue.open())
                async for event in self._connected(venue):
                    yield event
            except VenueTroubleError as trouble:
                wait_s = self._back_off_s(trouble.wait_s)
                yield self._status(FeedState.RECONNECTING, f"{trouble} Trying again in {wait_s:.0f} s.")
                await self._sleep(wait_s)
            finally:
                await venue.close()
        yield self._status(FeedState.ENDED, "The feed was closed.")

    @property
    def _is_done(self) -> bool:
        return self._closed.is_set() or (self._limit is not None and self._yielded >= self._limit)

    def _now_ms(self) -> int:
        return self._clock.now_ms() + self._ahead_ms

    async def _connected(self, venue: Venue) -> AsyncIterator[FeedEvent]:
        """History, then live, until the feed is closed or the connection breaks."""
        self._ahead_ms = await venue.server_ahead_ms(self._clock.now_ms())
        yield self._status(FeedState.CATCHING_UP, f"Fetching what is missing of {self._market.symbol} …")
        async for event in self._back_fill(venue):
            yield event
        self._failures = 0
        if not self._is_done:
            yield self._status(FeedState.LIVE, f"Live from {venue.name}.")
        watcher = _Watcher(venue)
        try:
            async for event in self._live(venue, watcher):
                yield event
        finally:
            await watcher.close()

    async def _back_fill(self, venue: Venue) -> AsyncIterator[FeedEvent]:
        """Closed candles from after the position up to now, page by page."""
        step_ms = self._market.interval.duration_ms
        since_ms, first_ms = self._first_missing_ms(), self._first_missing_ms()
        while not self._is_done and since_ms + step_ms <= self._now_ms():
            page = await venue.klines(since_ms, _PAGE)
            async for closed in self._take(page, came_live=False):
                yield closed
            total = max(1, (self._now_ms() - first_ms) // step_ms)
            newest_ms = page[-1].open_time_ms if page else since_ms
            yield CatchUpProgress(min(total, (newest_ms - first_ms) // step_ms), total)
            if len(page) < 2 or newest_ms + step_ms > self._now_ms() - step_ms:
                return
            since_ms = newest_ms + step_ms

    def _first_missing_ms(self) -> int:
        step_ms = self._market.interval.duration_ms
        forming_ms = self._market.interval.open_time_ms(self._now_ms())
        if self._position_ms is None:
            return forming_ms - self._catch_up * step_ms
        return max(self._position_ms + step_ms, forming_ms - max(self._catch_up, _MOST_MISSED) * step_ms)

    async def _live(self, venue: Venue, watcher: _Watcher) -> AsyncIterator[FeedEvent]:
        """Draw the forming candle from the socket; fetch each closed one when its time is over."""
        heard_s = self._clock.monotonic_s()
        while not self._is_done:
            message = await watcher.next(self._wait_s(heard_s), self._closed)
            if message is not None:
                heard_s = self._clock.monotonic_s()
                if self._is_forming(message):
                    yield FormingCandle(message)
            if self._is_due():
                async for closed in self._take(await self._settled(venue), came_live=True):
                    yield closed
            if self._clock.monotonic_s() - heard_s >= self._timing.silence_s:
                await self._tell_quiet_from_dead(venue, watcher)
                heard_s = self._clock.monotonic_s()

    def _wait_s(self, heard_s: float) -> float:
        """How long to wait for a message at most: until a candle is due, or the silence is too long."""
        due_s = (self._due_at_ms() - self._now_ms()) / 1000.0
        silence_s = heard_s + self._timing.silence_s - self._clock.monotonic_s()
        return max(0.01, min(due_s, silence_s))

    def _due_at_ms(self) -> int:
        """When the candle after the position is over and settled."""
        step_ms = self._market.interval.duration_ms
        forming_ms = self._market.interval.open_time_ms(self._now_ms())
        last_ms = self._position_ms if self._position_ms is not None else forming_ms - step_ms
        return last_ms + 2 * step_ms + round(self._timing.settle_s * 1000)

    def _is_due(self) -> bool:
        return self._now_ms() >= self._due_at_ms()

    def _is_forming(self, candle: Candle) -> bool:
        is_new = self._position_ms is None or candle.open_time_ms > self._position_ms
        return is_new and self._market.interval.close_time_ms(candle.open_time_ms) > self._now_ms()

    async def _settled(self, venue: Venue) -> list[Candle]:
        """The closed candles after the position, asked for until the newest is there or it is a hole."""
        step_ms = self._market.interval.duration_ms
        since_ms = self._first_missing_ms()
        wanted_ms = self._market.interval.open_time_ms(self._now_ms()) - step_ms
        until_s = self._clock.monotonic_s() + self._timing.patience_s
        while True:
            page = await venue.klines(since_ms, _PAGE)
            has_wanted = any(candle.open_time_ms >= wanted_ms for candle in page)
            if has_wanted or self._closed.is_set() or self._clock.monotonic_s() >= until_s:
                self._skip_to(wanted_ms, page)
                return page
            await self._sleep(self._timing.retry_s)

    def _skip_to(self, wanted_ms: int, page: list[Candle]) -> None:
        """A candle that the venue does not have is a hole: look for the next one from here on."""
        if not page:
            self._position_ms = wanted_ms

    async def _take(self, candles: list[Candle], came_live: bool) -> AsyncIterator[ClosedCandle]:
        """Yield those that are over and were not yielded before, in order."""
        for candle in candles:
            close_ms = self._market.interval.close_time_ms(candle.open_time_ms)
            is_known = self._position_ms is not None and candle.open_time_ms <= self._position_ms
            if is_known or close_ms > self._now_ms() or self._is_done:
                continue
            self._position_ms = candle.open_time_ms
            self._yielded += 1
            is_fresh = self._now_ms() - close_ms <= self._timing.live_within_s * 1000
            yield ClosedCandle(candle, is_live=came_live and is_fresh)

    async def _tell_quiet_from_dead(self, venue: Venue, watcher: _Watcher) -> None:
        """No message for long. Where REST shows trades that the socket did not, the socket is dead."""
        page = await venue.klines(self._market.interval.open_time_ms(self._now_ms()), 1)
        if page and page[-1] != watcher.newest:
            silence_s = self._timing.silence_s
            raise VenueTroubleError(f"The socket of {venue.name} has been silent for {silence_s:.0f} s of trading.")

    def _back_off_s(self, least_s: float) -> float:
        """Exponential, with jitter, so that many clients do not come back at the same moment."""
        longest = self._timing.longest_back_off_s
        grown = min(longest, self._timing.first_back_off_s * 2.0**self._failures)
        self._failures += 1
        return max(min(least_s, longest), grown * self._jitter.uniform(0.5, 1.0))

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not beyond `aclose`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)

    async def _until_closed(self, work: object) -> None:
        """Await `work`, given up as soon as the feed is closed."""
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        finally:
            for each in (task, closed):
                each.cancel()
            await asyncio.gather(task, closed, return_exceptions=True)

    def _status(self, state: FeedState, sentence: str) -> FeedStatus:
        return FeedStatus(state, sentence, self._clock.now_ms())


class _Watcher:
    """Listens to the socket in a task of its own: a wait that is cancelled half-way would lose messages."""

    def __init__(self, venue: Venue) -> None:
        self._venue = venue
        self._arrived = asyncio.Event()
        self._task = asyncio.ensure_future(self._listen())
        self.newest: Candle | None = None

    async def next(self, timeout_s: float, closed: asyncio.Event) -> Candle | None:
        """The newest candle once a message has come (the latest wins), or None. Raises what the socket raised."""
        if not self._arrived.is_set() and not closed.is_set():
            arrival = asyncio.ensure_future(self._arrived.wait())
            ending = asyncio.ensure_future(closed.wait())
            waits: set[asyncio.Future[object]] = {arrival, ending, self._task}  # type: ignore[arg-type]
            await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            for wait in (arrival, ending):
                wait.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.result()
        if not self._arrived.is_set():
            return None
        self._arrived.clear()
        return self.newest

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _listen(self) -> None:
        while True:
            candles = await self._venue.watch()
            if candles:
                self.newest = candles[-1]
                self._arrived.set()


async def probe(market: Market, urls: ExchangeUrls | None, timeout_s: float) -> str | None:
    """None where the venue answers within the time, else the sentence why it is not used."""
    venue = Venue(market, urls)
    try:
        await asyncio.wait_for(venue.open(), timeout_s)
    except TimeoutError:
        return f"{market.venue.title()} did not answer within {timeout_s:.0f} s."
    except (VenueTroubleError, FeedError) as error:
        return str(error)
    finally:
        await venue.close()
    return None
