"""Rate limits of exchanges, shared by all parts of the program that send requests to one."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.domain.clock import Clock
from core.market.feeds.trouble import VenueError

_EARLY_S = 0.02
"""A timer set for the end may fire this early."""
T = TypeVar("T")


class RateLimitedError(VenueError):
    """No request was sent, because the exchange demands a wait of `wait_s` more seconds. The sentence is the original
    error's."""


class RateLimitHold:
    """The rate limit of one exchange. Thread-safe, given the same clock on all threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until_s = 0.0
        self._error: VenueError | None = None

    @property
    def held(self) -> RateLimitedError | None:
        """Why and for how long no request may be sent; None if it may."""
        with self._lock:
            left_s, error = self._until_s - self._clock.monotonic_s(), self._error
        if error is None or left_s <= _EARLY_S:
            return None
        return RateLimitedError(str(error), wait_s=left_s, is_of_venue=error.is_of_venue)

    @property
    def left_s(self) -> float:
        """Seconds until the next request may be sent; 0 if it may be sent now."""
        held = self.held
        return 0.0 if held is None else held.wait_s

    def record(self, trouble: VenueError) -> None:
        """Start a hold if the exchange has demanded a wait."""
        if not trouble.is_demanded:
            return
        with self._lock:
            until_s = self._clock.monotonic_s() + trouble.wait_s
            if self._error is None or until_s > self._until_s:
                self._until_s, self._error = until_s, trouble

    def drop(self) -> None:
        with self._lock:
            self._error = None

    def check(self) -> None:
        """Raises RateLimitedError while the hold lasts."""
        held = self.held
        if held is not None:
            raise held

    async def send(self, request: Callable[[], Awaitable[T]], *, is_urgent: bool = True) -> T:
        """Send a request at once unless on hold, and record its error. Raises VenueError. is_urgent: unused here, see
        `RequestQueue`."""
        self.check()
        try:
            return await request()
        except VenueError as trouble:
            self.record(trouble)
            raise


class RequestQueue:
    """Sends requests in order of arrival, urgent ones first. When the exchange demands a wait, no waiting request is
    sent any more: each fails with RateLimitedError."""

    def __init__(self, hold: RateLimitHold) -> None:
        """hold: shared with everything else that sends requests to this exchange."""
        self._hold = hold
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._is_busy = False

    @property
    def held(self) -> RateLimitedError | None:
        return self._hold.held

    def record(self, trouble: VenueError) -> None:
        self._hold.record(trouble)

    async def send(self, request: Callable[[], Awaitable[T]], *, is_urgent: bool = True) -> T:
        """Send a request when it is its turn. Raises VenueError. is_urgent: before others that wait."""
        self._hold.check()
        await self._turn(is_urgent)
        try:
            return await self._hold.send(request)
        finally:
            self._next()

    async def _turn(self, is_urgent: bool) -> None:
        if not self._is_busy:
            self._is_busy = True
            return
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not is_urgent, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it had its turn already
                self._next()
            raise

    def _next(self) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[-1]
            if not turn.done():
                turn.set_result(None)
                return
        self._is_busy = False


RequestGate = RateLimitHold | RequestQueue
"""The gate for a feed's requests, to which it also reports errors."""


class RateLimitHolds:
    """The holds of all exchanges, by ccxt id. Shared by all parts of the program that send requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._holds: dict[str, RateLimitHold] = {}

    def of(self, venue: str) -> RateLimitHold:
        """The hold of an exchange; always the same object."""
        with self._lock:
            return self._holds.setdefault(venue, RateLimitHold(self._clock))
