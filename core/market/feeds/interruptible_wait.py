"""Waiting that ends when the owner is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ClosedError(Exception):
    """The owner was closed."""


class CloseSignal:
    """Set once, by `close`; ends every `run_until_closed` at once."""

    def __init__(self) -> None:
        self.is_closed = False
        self._waiting: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        self.is_closed = True
        for task in self._waiting:
            task.cancel()

    async def run_until_closed(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`. Raises ClosedError, and cancels `work`, if `close` is or was called."""
        if self.is_closed:
            work.close()
            raise ClosedError
        task = asyncio.ensure_future(work)
        self._waiting.add(task)
        try:
            result = await task
        except (Exception, asyncio.CancelledError) as error:
            if self.is_closed and not is_cancelled():
                raise ClosedError from error
            raise
        finally:
            self._waiting.discard(task)
        if self.is_closed:
            raise ClosedError
        return result


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event; False if it has not happened by then."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    if is_cancelled():  # in the moment of the event, `wait_for` of Python 3.11 keeps that to itself
        raise asyncio.CancelledError
    return True


def is_cancelled() -> bool:
    """Whether the current task itself was cancelled, not only what it awaits."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
