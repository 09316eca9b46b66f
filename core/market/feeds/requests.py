"""Requests for candles and for the exchange's time: timed, validated, and without the unfinished candle; and those that
confirm candles: one that has just closed, until its numbers are final, and the last few, once more."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from core.domain.candle import Candle
from core.domain.candle_faults import problem_of
from core.domain.clock import Clock
from core.market.feeds.closed_candles import CandleLedger, FeedCounters
from core.market.feeds.rate_limits import RateLimitedError, RequestGate
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import FUTURE, Refused, Venue

T = TypeVar("T")
_VOLUME_TOLERANCE = 1e-9
_log = logging.getLogger("ghostcandle.feed")


@dataclass(frozen=True, slots=True)
class Page:
    """Closed candles, ascending; the opening time of the newest valid row, closed or not; and the rejected rows.

    first_ms: the opening time of the oldest row, valid or not, but for one in the future.
    unfit: why the rows are no candles of the requested interval, as a sentence; None if they are.
    """

    closed: list[Candle]
    newest_ms: int | None
    refused: list[Refused] = field(default_factory=list)
    first_ms: int | None = None
    unfit: str | None = None

    def at(self, open_time_ms: int) -> Candle | None:
        return next((candle for candle in self.closed if candle.open_time_ms == open_time_ms), None)


class Requests:
    """Requests to one venue. All methods raise VenueError: RateLimitedError, without a request, during a rate limit."""

    def __init__(
        self,
        venue: Venue,
        gate: RequestGate,
        clock: Clock,
        server: ServerClock,
        times: ExchangeTimes,
        counters: FeedCounters,
    ) -> None:
        """gate: shared with everything else that sends requests to this exchange."""
        self._venue = venue
        self._gate = gate
        self._clock = clock
        self._server = server
        self._times = times
        self._counters = counters
        self._interval = server.interval

    @property
    def held(self) -> RateLimitedError | None:
        """Why and for how long no request may be sent; None if it may."""
        return self._gate.held

    async def open(self, older: Venue | None) -> None:
        await self._gate.send(lambda: self._venue.open(older))

    async def sync(self) -> None:
        server_ms, sent_s, _ = await self._send(self._venue.server_ms)
        self._server.set(server_ms, sent_s)

    async def _send(self, request: Callable[[], Awaitable[T]], *, is_urgent: bool = True) -> tuple[T, float, int]:
        """The answer, and when the request was sent, which may be long after this call: by the monotonic clock, and at
        least by the exchange's."""

        async def send() -> tuple[T, float, int]:
            sent_s, sent_ms = self._clock.monotonic_s(), self._server.surely_ms()
            return await request(), sent_s, sent_ms

        return await self._gate.send(send, is_urgent=is_urgent)

    async def _rows(self, since_ms: int, *, is_urgent: bool) -> tuple[list[Candle], int]:
        """One raw page from `since_ms` on, ascending, and a lower bound of the exchange's time at the request.

        That is all that is certain of the response's age: it may take long to arrive, and other requests may set the
        clock meanwhile, forward or back. The earlier of the two clock readings is used."""
        if self._server.age_s > self._times.sync_s:
            await self.sync()
        rows, sent_s, sent_ms = await self._send(lambda: self._venue.candles(since_ms), is_urgent=is_urgent)
        took_ms = (self._clock.monotonic_s() - sent_s) * 1000.0
        self._counters.request_ms = took_ms
        return rows, min(sent_ms, int(self._server.surely_ms() - took_ms))

    async def page(self, since_ms: int, *, is_urgent: bool = True) -> Page:
        """One validated page from `since_ms` on, without the last row unless that candle had certainly closed when the
        request was sent. is_urgent: before other requests that wait."""
        rows, sent_ms = await self._rows(since_ms, is_urgent=is_urgent)
        if rows and self._server.is_ahead(rows[-1].open_time_ms):
            await self.sync()
        times_ms = [row.open_time_ms for row in rows]
        self._server.grid.learn(times_ms)
        unfit = self._server.grid.refusal(self._venue.name, times_ms)
        sound, refused = self._sifted(rows)
        self._server.learn(sound)
        first_ms = min((time_ms for time_ms in times_ms if not self._server.is_ahead(time_ms)), default=None)
        if not sound:
            return Page([], None, refused, first_ms, unfit)
        newest_ms = sound[-1].open_time_ms
        final_from_ms = newest_ms + self._interval.duration_ms + self._times.grace_s * 1000.0
        is_final = sent_ms >= final_from_ms
        return Page(sound if is_final else sound[:-1], newest_ms, refused, first_ms, unfit)

    async def settled(self, over_ms: int, position_ms: int, shown: Candle | None) -> Page:
        """The candles from the position on, with the final candle of `over_ms`, or what is available at the deadline. A
        response may be stale, so it must agree with the stream, which has `shown`, or come twice. Raises VenueError if
        every request has failed."""
        deadline_s = self._clock.monotonic_s() + self._times.patience_s
        retry_s = self._times.retry_s
        before: Candle | None = None
        while True:
            is_late = self._clock.monotonic_s() >= deadline_s
            page = await self._page_or_none(position_ms, is_last=is_late)
            found = page.at(over_ms)
            if is_late or (not page.refused and _is_final(found, before, shown, over_ms, page.newest_ms)):
                return page
            before = found
            left_s = max(0.0, deadline_s - self._clock.monotonic_s())
            await asyncio.sleep(min(retry_s, left_s))
            retry_s *= 2.0

    async def _page_or_none(self, since_ms: int, *, is_last: bool) -> Page:
        """A page, empty after a brief error, except at the last attempt."""
        try:
            return await self.page(since_ms)
        except VenueError as trouble:
            if is_last or not trouble.is_brief:
                raise
            return Page([], None)

    async def open_candle(self) -> list[Candle]:
        """The open candle, if it has trades."""
        rows, _ = await self._rows(self._server.forming_ms(), is_urgent=True)
        sound, _ = self._sifted(rows)
        return sound

    async def newest_ms(self) -> int | None:
        """The opening time of the newest listed candle, even if it lies in the future."""
        rows, _ = await self._rows(self._server.forming_ms(), is_urgent=True)
        return rows[-1].open_time_ms if rows else None

    def _sifted(self, rows: list[Candle]) -> tuple[list[Candle], list[Refused]]:
        sound, refused = [], []
        for row in rows:
            problem = problem_of(row, self._interval, self._server.phase_ms)
            if problem is not None:
                refused.append(Refused(problem.value, str(row)))
            elif self._server.is_ahead(row.open_time_ms):
                refused.append(Refused(FUTURE, str(row)))
            else:
                sound.append(row)
        return sound, refused


def _is_final(
    found: Candle | None, before: Candle | None, shown: Candle | None, over_ms: int, newest_ms: int | None
) -> bool:
    """Whether the response agrees with the stream's newest version, or, if the stream has less volume, with the
    previous response. A missing candle had no trades if a later one is there."""
    if found is None:
        return shown is None and newest_ms is not None and newest_ms > over_ms
    if shown is not None and math.isclose(found.volume, shown.volume, rel_tol=_VOLUME_TOLERANCE):
        return True
    is_older = shown is not None and found.volume < shown.volume
    return found == before and not is_older


class Checks:
    """Compares candles that were passed on with the exchange's own list. One request at a time; a failed one is retried
    later, and the stream continues without it."""

    def __init__(self, requests: Requests, clock: Clock, times: ExchangeTimes, ledger: CandleLedger) -> None:
        self._requests = requests
        self._clock = clock
        self._times = times
        self._ledger = ledger
        self._request: asyncio.Task[Page] | None = None
        self.since_ms = 0
        """Start of the newest request."""
        self._not_before_s = clock.monotonic_s() + times.confirm_s

    def start(self, now_ms: int) -> None:
        """Send a request if a candle is due for comparison and none is running."""
        if self._request is not None or self._clock.monotonic_s() < self._not_before_s:
            return
        since_ms = self._ledger.due_from_ms(now_ms)
        if since_ms is None:
            self._not_before_s = self._clock.monotonic_s() + self._times.vitals_s
        else:
            self.since_ms = since_ms
            self._request = asyncio.ensure_future(self._requests.page(since_ms, is_urgent=False))

    def finished(self) -> Page | None:
        """The result of a finished request, once."""
        if self._request is None or not self._request.done():
            return None
        task, self._request = self._request, None
        try:
            return task.result()
        except VenueError as trouble:
            _log.info("the last candles could not be compared: %s", trouble)
            self._not_before_s = self._clock.monotonic_s() + max(self._times.check_pause_s, trouble.wait_s)
            return None

    def schedule(self) -> None:
        """Schedule the next request: soon, if a difference needs to be confirmed."""
        pause_s = self._times.confirm_s if self._ledger.has_doubts else self._times.check_every_s
        self._not_before_s = self._clock.monotonic_s() + pause_s

    def cancel(self) -> None:
        if self._request is not None:
            self._request.cancel()
            # Its exception is retrieved, so that asyncio does not log it.
            self._request.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._request = None
