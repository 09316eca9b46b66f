"""Waits that something may end early."""

from __future__ import annotations

import asyncio

import pytest

from core.market.feeds.timing import happens_within

TIMEOUT_S = 60.0


@pytest.mark.parametrize("turns", range(4))
async def test_a_cancellation_in_the_moment_of_the_event_is_not_lost(turns: int) -> None:
    """Regression: the poll of prices continued after its end, without what it waits for, and logged a KeyError."""
    event, has_continued = asyncio.Event(), False

    async def wait() -> None:
        nonlocal has_continued
        await happens_within(event, TIMEOUT_S)
        has_continued = True

    waiting = asyncio.create_task(wait())
    for _ in range(3):
        await asyncio.sleep(0)
    event.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_in_time = waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert has_continued is not was_in_time
