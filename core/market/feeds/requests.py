"""Requests for candles and for the exchange's time: timed, validated, and without the unfinished candle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from core.domain.candle import Candle, Interval
from core.domain.clock import Clock
from core.domain.validation import problem_of
from core.market.feeds.counters import Tally
from core.market.feeds.rate_limits import RateLimitedError, RequestGate
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.venue import Refused, Venue

T = TypeVar("T")
_LISTED_TOO_FEW = 2
"""A list may lack the candle that has just opened, or an unreadable one."""


@dataclass(frozen=True, slots=True)
class Page:
    """Closed candles, ascending; the opening time of the newest row, closed or not; and the rejected rows.

    is_cut: the exchange's list does not reach back to the requested time.
    """

    closed: list[Candle]
    newest_ms: int | None
    refused: list[Refused] = field(default_factory=list)
    is_cut: bool = False

    def at(self, open_time_ms: int) -> Candle | None:
        """The closed candle that opened at this time."""
        return next((candle for candle in self.closed if candle.open_time_ms == open_time_ms), None)


def is_cut_list(rows: list[Candle], since_ms: int, listed_rows: int | None, interval: Interval) -> bool:
    """Whether the exchange's list begins after the requested time."""
    if listed_rows is None or len(rows) < listed_rows - _LISTED_TOO_FEW:
        return False
    return rows[0].open_time_ms >= since_ms + interval.duration_ms


class Requests:
    """Requests to one venue. All methods raise VenueError: RateLimitedError, without a request, during a rate limit."""

    def __init__(
        self, venue: Venue, gate: RequestGate, clock: Clock, server: ServerClock, times: ExchangeTimes, tally: Tally
    ) -> None:
        """gate: shared with everything else that sends requests to this exchange."""
        self._venue = venue
        self._gate = gate
        self._clock = clock
        self._server = server
        self._times = times
        self._tally = tally
        self._interval = server.interval

    @property
    def held(self) -> RateLimitedError | None:
        """Why and for how long no request may be sent; None if it may."""
        return self._gate.held

    async def open(self, older: Venue | None) -> None:
        await self._gate.ask(lambda: self._venue.open(older))

    async def sync(self) -> None:
        """Sync with the exchange's clock."""
        server_ms, asked_s, _ = await self._ask(self._venue.server_ms)
        self._server.set(server_ms, asked_s)

    async def _ask(self, request: Callable[[], Awaitable[T]], *, is_urgent: bool = True) -> tuple[T, float, int]:
        """The answer, and when the request was sent, which may be long after this call: by the monotonic clock, and at
        least by the exchange's."""

        async def send() -> tuple[T, float, int]:
            asked_s, asked_ms = self._clock.monotonic_s(), self._server.surely_ms()
            return await request(), asked_s, asked_ms

        return await self._gate.ask(send, is_urgent=is_urgent)

    async def _rows(self, since_ms: int, *, is_urgent: bool) -> tuple[list[Candle], int]:
        """One raw page from `since_ms` on, ascending, and a lower bound of the exchange's time at the request.

        That is all that is certain of the response's age: it may take long to arrive, and other requests may set the
        clock meanwhile, forward or back. The earlier of the two clock readings is used."""
        if self._server.age_s > self._times.sync_s:
            await self.sync()
        rows, asked_s, asked_ms = await self._ask(lambda: self._venue.candles(since_ms), is_urgent=is_urgent)
        took_ms = (self._clock.monotonic_s() - asked_s) * 1000.0
        self._tally.request_ms = took_ms
        return rows, min(asked_ms, int(self._server.surely_ms() - took_ms))

    async def page(self, since_ms: int, *, is_urgent: bool = True) -> Page:
        """One validated page from `since_ms` on, without the last row unless that candle had certainly closed when the
        request was sent. is_urgent: before other requests that wait."""
        rows, asked_ms = await self._rows(since_ms, is_urgent=is_urgent)
        if rows and self._server.is_ahead(rows[-1].open_time_ms):
            await self.sync()
        sound, refused = self._sifted(rows)
        self._server.learn(sound)
        if not sound:
            return Page([], None, refused)
        newest_ms = sound[-1].open_time_ms
        final_from_ms = newest_ms + self._interval.duration_ms + self._times.grace_s * 1000.0
        is_final = asked_ms >= final_from_ms
        is_cut = is_cut_list(rows, since_ms, self._venue.listed_rows, self._interval)
        return Page(sound if is_final else sound[:-1], newest_ms, refused, is_cut)

    async def open_candle(self) -> list[Candle]:
        """The open candle, if it has trades."""
        rows, _ = await self._rows(self._server.forming_ms(), is_urgent=True)
        sound, _ = self._sifted(rows)
        return sound

    def _sifted(self, rows: list[Candle]) -> tuple[list[Candle], list[Refused]]:
        sound, refused = [], []
        for row in rows:
            # Weeks start where the exchange has them start; all other intervals count from the epoch.
            phase_ms = row.open_time_ms % self._interval.duration_ms if self._server.has_own_grid else 0
            problem = problem_of(row, self._interval, phase_ms)
            if problem is not None:
                refused.append(Refused(problem.value, str(row)))
            elif self._server.is_ahead(row.open_time_ms):
                refused.append(Refused("a time in the future", str(row)))
            else:
                sound.append(row)
        return sound, refused
