"""Replay controls: pause, step by one candle, play, and change the speed while running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.market.feeds.base import ClosedCandle, FeedEvent, FeedState, FeedStatus
from core.market.feeds.many import play_together
from core.market.feeds.replay import ReplayFeed
from core.market.feeds.replay_speed import ReplayPace
from tests.simulation.virtual_time import VirtualLoop, run_virtually
from tests.support.candles import file_of, random_walk

FILE = file_of(random_walk(60))
AT_ONCE = 10


class Replayed:
    """A replay of a candle a second that is under way, on virtual time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.feed = ReplayFeed(FILE, "TEST", ManualClock(), speed=1.0, catch_up=AT_ONCE)
        self.events: list[FeedEvent] = []
        self.task = asyncio.ensure_future(self._take())

    async def _take(self) -> None:
        async for event in self.feed.events():
            self.events.append(event)

    @property
    def pace(self) -> ReplayPace:
        assert self.feed.pace is not None
        return self.feed.pace

    @property
    def come(self) -> int:
        """Candles that came one by one."""
        return sum(isinstance(event, ClosedCandle) and event.is_live for event in self.events)

    @property
    def candles(self) -> list[Candle]:
        return [event.candle for event in self.events if isinstance(event, ClosedCandle)]

    @property
    def said(self) -> list[str]:
        return [event.sentence for event in self.events if isinstance(event, FeedStatus)]


def play(story: Callable[[Replayed], Awaitable[None]]) -> None:
    async def run(loop: VirtualLoop) -> None:
        replayed = Replayed(loop)
        await asyncio.sleep(3.5)
        assert replayed.come == 3
        await story(replayed)
        await replayed.feed.aclose()
        await replayed.task

    run_virtually(run)


def test_a_paused_replay_sends_nothing_until_it_is_resumed() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.pause()
        await asyncio.sleep(1_000.0)
        assert replayed.come == 3 and replayed.said[-1] == "TEST is paused."
        replayed.pace.play()
        await asyncio.sleep(2.5)
        assert replayed.come == 5 and replayed.said[-1] == "TEST at 1 candle per second."

    play(story)


def test_a_step_gives_exactly_one_candle_at_once() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.step()  # pauses as well
        await asyncio.sleep(0.01)
        assert replayed.come == 4
        await asyncio.sleep(100.0)
        assert replayed.come == 4 and replayed.pace.is_paused
        replayed.pace.step()
        replayed.pace.step()
        await asyncio.sleep(0.01)
        assert replayed.come == 6, "each of two at once"
        replayed.pace.play()
        await asyncio.sleep(1.5)
        assert replayed.come == 7

    play(story)


def test_a_new_speed_takes_effect_at_once() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.set_speed(0.001)
        await asyncio.sleep(100.0)
        assert replayed.come == 3 and replayed.said[-1] == "TEST at 0.001 candles per second."
        replayed.pace.set_speed(10.0)
        await asyncio.sleep(1.05)
        assert replayed.come == 13

    play(story)


def test_a_warm_up_with_the_model_is_reported_as_such() -> None:
    """Regression: "at 1 candle per second" was reported while candles came as fast as the model learned them."""

    async def run(loop: VirtualLoop) -> None:
        feed = ReplayFeed(file_of(random_walk(205)), "TEST", ManualClock(), speed=1.0, catch_up=200)
        assert feed.pace is not None
        feed.pace.waits_for_model = True
        said = [event.sentence async for event in feed.events() if isinstance(event, FeedStatus)]
        of_pace = [sentence for sentence in said if "per second" in sentence]
        assert of_pace == [
            "TEST, warming up, then at 1 candle per second.",
            "TEST at 1 candle per second.",
        ]

    run_virtually(run)


def test_a_paused_replay_can_be_closed() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.pause()
        await asyncio.sleep(1.0)
        await replayed.feed.aclose()
        await asyncio.wait_for(replayed.task, 1.0)
        assert not any(isinstance(each, FeedStatus) and each.state is FeedState.ENDED for each in replayed.events)

    play(story)


def test_a_replay_stepped_to_its_end_ends() -> None:
    async def story(replayed: Replayed) -> None:
        for _ in range(len(FILE.candles)):
            replayed.pace.step()
        await asyncio.wait_for(replayed.task, 1.0)
        assert replayed.come == len(FILE.candles) - AT_ONCE and replayed.said[-1].startswith("The end")

    play(story)


def test_an_unpaced_replay_has_no_controls() -> None:
    assert ReplayFeed(FILE, "TEST", ManualClock()).pace is None


def test_a_negative_pace_is_refused() -> None:
    with pytest.raises(ValueError, match="0 candles per second or more"):
        ReplayPace(1.0, [FILE.candles]).set_speed(-1.0)


def test_at_a_speed_of_zero_all_candles_come_at_once() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.set_speed(0.0)
        await asyncio.wait_for(replayed.task, 0.01)
        assert replayed.candles == list(FILE.candles)
        assert "TEST as fast as possible." in replayed.said and replayed.said[-1].startswith("The end")

    play(story)


def test_a_held_replay_sends_nothing_but_steps_and_its_wait_continues() -> None:
    async def story(replayed: Replayed) -> None:
        replayed.pace.hold(is_held=True)
        await asyncio.sleep(100.0)
        assert replayed.come == 3
        replayed.pace.hold(is_held=False)
        await asyncio.sleep(0.01)
        assert replayed.come == 4, "it was due long ago"
        await asyncio.sleep(0.98)
        assert replayed.come == 4
        replayed.pace.hold(is_held=True)
        replayed.pace.step()
        await asyncio.sleep(0.01)
        assert replayed.come == 5

    play(story)


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_jump_brings_all_candles_up_to_there_as_history_and_changes_nothing_else(*, is_paused: bool) -> None:
    async def story(replayed: Replayed) -> None:
        newest_ms = replayed.candles[-1].open_time_ms
        target_ms = replayed.pace.coming(newest_ms, 20)
        assert target_ms == FILE.candles[AT_ONCE + 3 + 19].open_time_ms
        replayed.pace.hold(is_held=True)
        if is_paused:
            replayed.pace.pause()
        replayed.pace.jump_to(target_ms)
        await asyncio.sleep(0.01)
        assert replayed.candles == list(FILE.candles[: AT_ONCE + 23]) and replayed.come == 3
        replayed.pace.hold(is_held=False)
        await asyncio.sleep(1.5)
        assert replayed.come == (3 if is_paused else 4)

    play(story)


def test_a_jump_beyond_the_end_is_to_the_last_candle() -> None:
    pace = ReplayPace(1.0, [FILE.candles[:5], FILE.candles])
    assert pace.coming(FILE.candles[3].open_time_ms, 1_000) == FILE.candles[-1].open_time_ms
    assert pace.coming(FILE.candles[-1].open_time_ms, 1) is None


def test_a_replay_that_waits_for_a_model_shows_little_at_once_and_the_rest_as_fast_as_it_learns() -> None:
    """The model's first ghosts come after seconds, whatever the number of candles that it warms up on."""
    candles = random_walk(500)

    async def run(loop: VirtualLoop) -> None:
        feed = ReplayFeed(file_of(candles), "TEST", ManualClock(), speed=1.0, catch_up=400)
        assert feed.pace is not None
        feed.pace.waits_for_model = True
        feed.pace.hold(is_held=True)
        events: list[ClosedCandle] = []

        async def take() -> None:
            async for event in feed.events():
                if isinstance(event, ClosedCandle):
                    events.append(event)

        task = asyncio.ensure_future(take())
        await asyncio.sleep(100.0)
        assert len(events) == 90 and not any(event.is_live for event in events)
        feed.pace.hold(is_held=False)
        await asyncio.sleep(0.5)
        assert len(events) == 400 and all(event.is_live for event in events[90:])
        await asyncio.sleep(2.0)
        assert len(events) == 402, "from here on at its speed"
        await feed.aclose()
        await task

    run_virtually(run)


def test_several_replays_have_one_pace() -> None:
    files = {"long": FILE, "short": replace(FILE, candles=FILE.candles[:40])}
    feeds = [ReplayFeed(file, name, ManualClock(), 1.0) for name, file in files.items()]
    play_together(feeds)
    pace = feeds[0].pace
    assert pace is not None and pace is feeds[1].pace
    assert pace.left_after(FILE.candles[30].open_time_ms) == 30, "of the longest"
