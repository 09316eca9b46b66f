"""The requests of several markets to one exchange, one at a time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.market.feeds.rate_limits import RateLimitedError, RateLimitHold
from core.market.feeds.trouble import VenueError

T = TypeVar("T")


class RequestQueue:
    """In order of arrival, urgent ones first. When the exchange demands a wait, none that waits here is sent any more:
    each fails with RateLimitedError. Implements `core.market.feeds.rate_limits.RequestGate`."""

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

    async def ask(self, request: Callable[[], Awaitable[T]], *, is_urgent: bool = True) -> T:
        self._hold.check()
        await self._turn(is_urgent)
        try:
            return await self._hold.ask(request)
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
