"""The speed of replays, and their pausing and stepping, controlled by the user; the order of several feeds."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter

from core.domain.candle import Candle
from core.market.feeds.timing import happens_within


class ReplayPace:
    """The pace of one replay, or of several that are at one time. To be used on the thread of the feeds' loop."""

    def __init__(self, speed: float, files: Sequence[Sequence[Candle]]) -> None:
        """speed: candles per second, above 0. files: all candles of each replay, in order."""
        self._files = files
        self._speed, self._is_paused, self._steps = speed, False, 0
        self._order = StepOrder(len(files))
        self._changed = asyncio.Event()
        self._on_change: list[Callable[[], None]] = []

    @property
    def speed(self) -> float:
        return self._speed

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def left_after(self, time_ms: int) -> int:
        """How many candles open at or after this time, in the file that has most of them."""
        return max(len(file) - bisect_left(file, time_ms, key=attrgetter("open_time_ms")) for file in self._files)

    def set_speed(self, speed: float) -> None:
        """Set the speed from the next candle on; its wait starts again."""
        if speed <= 0.0:
            raise ValueError(f"a speed must be above 0 candles per second, was {speed}")
        self._speed = speed
        self._change()

    def pause(self) -> None:
        self._is_paused = True
        self._change()

    def play(self) -> None:
        self._is_paused, self._steps = False, 0
        self._change()

    def step(self) -> None:
        """Let each replay that has a candle at the next time emit it, then pause."""
        self._is_paused = True
        self._steps += 1
        self._change()

    def on_change(self, call: Callable[[], None]) -> None:
        """Register a call at every change, until `no_longer_on_change`."""
        self._on_change.append(call)

    def no_longer_on_change(self, call: Callable[[], None]) -> None:
        self._on_change = [each for each in self._on_change if each != call]

    def _change(self) -> None:
        self._changed.set()
        for call in self._on_change:
            call()

    async def turn(self, place: int, time_ms: int) -> None:
        """Wait until the candle of this time is due. place: the index of its file."""
        await self._order.turn(place, time_ms, self._due)

    async def _due(self) -> None:
        """Wait for the next candle of any file; each step is one."""
        while not self._steps:
            self._changed.clear()
            if self._is_paused:
                await self._changed.wait()
            elif not await happens_within(self._changed, 1.0 / self._speed):
                return
        self._steps -= 1

    def leave(self, place: int) -> None:
        self._order.leave(place)


class StepOrder:
    """Nobody takes a step before all others have taken every earlier one, and those before it in order this one too.

    A member has its turn until it asks for the next one, or leaves. One that does neither holds up all others.
    """

    def __init__(self, members: int) -> None:
        self._steps = dict.fromkeys(range(members), -1)
        self._turns = {member: asyncio.Event() for member in self._steps}
        self._reached = -1

    async def turn(self, member: int, step: int, due: Callable[[], Awaitable[object]] | None = None) -> None:
        """Wait for the member's turn. due: waits for the time of a step; called for the first to take it, so that the
        others take it at that time, too."""
        self._steps[member] = step
        self._turns[member].clear()
        self._wake_first()
        await self._turns[member].wait()
        if due is not None and step > self._reached:
            await due()
        self._reached = max(self._reached, step)

    def leave(self, member: int) -> None:
        if self._steps.pop(member, None) is not None:
            self._wake_first()

    def _wake_first(self) -> None:
        if self._steps:
            self._turns[min(self._steps, key=lambda member: (self._steps[member], member))].set()
