"""A feed that is one task, which emits events and is cancelled to close the feed."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator

from core.domain.candle import Market
from core.domain.clock import Clock
from core.market.feeds.base import FeedEvent, FeedState, FeedStatus, StoredCandles

_log = logging.getLogger("ghostcandle.feed")


class TaskFeed(ABC):
    """Implements all of `core.market.feeds.base.Feed` but its kind, around `_run`."""

    has_insides = False

    def __init__(self, market: Market, clock: Clock) -> None:
        self.market = market
        self.clock = clock
        self._events: deque[FeedEvent] = deque()
        self._has_events, self._is_drained = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @abstractmethod
    async def _run(self, after_ms: int | None, known: StoredCandles | None) -> None:
        """Emit all events; `after_ms` and `known` are as in `events`. Raises FeedError. Cancelled by `aclose`."""

    def emit(self, event: FeedEvent) -> None:
        self._events.append(event)
        self._is_drained.clear()
        self._has_events.set()

    def emit_status(self, state: FeedState, sentence: str) -> None:
        self.emit(FeedStatus(state, sentence, self.clock.now_ms()))

    async def delivered(self) -> None:
        """Wait until the subscriber has taken all events and is ready for more."""
        if not self._is_closed:
            await self._is_drained.wait()
        self.end_if_closed()

    def end_if_closed(self) -> None:
        """Third-party code that was awaited may have swallowed the cancellation. Raises it again."""
        if self._is_closed:
            raise asyncio.CancelledError

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        # No `finally` that awaits: qasync's loop does not close generators, and a dropped one could not end.
        # `aclose` ends the task.
        if self._is_closed:
            return
        task = self._task = asyncio.create_task(self._run(after_ms, known))
        task.add_done_callback(self._on_done)
        while True:
            while self._events and not self._is_closed:
                yield self._events.popleft()
            if task.done():
                break
            self._is_drained.set()
            self._has_events.clear()
            await self._has_events.wait()
        if not self._is_closed:
            task.result()

    def _on_done(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and self._is_closed:  # nobody iterates any more
            _log.error("The feed of %s ended with an error while it was closed.", self.market, exc_info=error)
        self._has_events.set()

    async def aclose(self) -> None:
        was_closed, self._is_closed = self._is_closed, True
        if self._task is None:
            return
        if not was_closed:  # a second cancellation would interrupt what the first one has begun to release
            self._task.cancel()
        await asyncio.wait({self._task})
