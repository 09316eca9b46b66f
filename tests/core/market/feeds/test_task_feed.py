"""A feed as a task: what its subscriber gets, and that it can always be closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from core.domain.candle import FILE_VENUE, Market
from core.domain.clock import ManualClock
from core.market.feeds.base import FeedError, FeedState, StoredCandles
from core.market.feeds.task_feed import TaskFeed
from tests.simulation.virtual_time import run_virtually
from tests.support.candles import MINUTE


class Scripted(TaskFeed):
    """Does what the test wants."""

    def __init__(self, story: Callable[[TaskFeed], Awaitable[None]]) -> None:
        super().__init__(Market(FILE_VENUE, "TEST", MINUTE), ManualClock())
        self._story = story

    async def _run(self, after_ms: int | None, known: StoredCandles | None) -> None:
        await self._story(self)


def test_what_was_emitted_before_an_error_comes_before_it() -> None:
    async def story(feed: TaskFeed) -> None:
        feed.emit_status(FeedState.CONNECTING, "one")
        feed.emit_status(FeedState.CONNECTING, "two")
        raise FeedError("It failed.")

    async def run() -> list[object]:
        events: list[object] = []
        with pytest.raises(FeedError, match="It failed"):
            async for event in Scripted(story).events():
                events.append(event)
        return events

    assert len(run_virtually(lambda loop: run())) == 2


def test_nothing_is_emitted_while_the_subscriber_is_busy() -> None:
    emitted: list[int] = []

    async def story(feed: TaskFeed) -> None:
        for number in range(3):
            emitted.append(number)
            feed.emit_status(FeedState.CONNECTING, str(number))
            await feed.delivered()

    async def run() -> None:
        async for _ in Scripted(story).events():
            before = len(emitted)
            await asyncio.sleep(10.0)
            assert len(emitted) == before

    run_virtually(lambda loop: run())
    assert emitted == [0, 1, 2]


@pytest.mark.parametrize("is_iterated", [True, False])
def test_a_feed_whose_cancellation_was_swallowed_ends_with_its_next_event(*, is_iterated: bool) -> None:
    async def story(feed: TaskFeed) -> None:
        feed.emit_status(FeedState.CONNECTING, "one")
        while True:
            try:
                await asyncio.sleep(1.0)
            except asyncio.CancelledError:
                feed.emit_status(FeedState.CONNECTING, "continuing")
            await feed.delivered()

    async def run() -> None:
        feed = Scripted(story)
        events = feed.events()
        await anext(events)
        rest = asyncio.ensure_future(anext(events, None)) if is_iterated else None
        await asyncio.sleep(0.5)
        async with asyncio.timeout(10.0):
            await asyncio.gather(feed.aclose(), feed.aclose())
            assert rest is None or await rest is None

    run_virtually(lambda loop: run())
