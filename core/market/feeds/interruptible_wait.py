"""Waits that something may end early."""

from __future__ import annotations

import asyncio


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
