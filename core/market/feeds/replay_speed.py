"""The speed of replays, and their pausing, stepping and jumping, controlled by the user; the order of several feeds."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from operator import attrgetter

from core.domain.candle import Candle
from core.market.feeds.timing import happens_within

_OPENED = attrgetter("open_time_ms")
BEFORE_ALL_MS = -(2**63)
WATCHABLE_SPEED = 2.0
"""Candles per second of a replay for which no speed was chosen: the user watches it."""


class ReplayPace:
    """The pace of one replay, or of several that are at one time. To be used on the thread of the feeds' loop."""

    def __init__(self, speed: float, files: Sequence[Sequence[Candle]], warm_up_until_ms: int = BEFORE_ALL_MS) -> None:
        """speed: candles per second; 0: as fast as possible. files: all candles of each replay, in order.
        warm_up_until_ms: up to here candles come as fast as possible whatever the speed."""
        self._files = files
        self._speed, self._is_paused, self._steps = speed, False, 0
        self.waits_for_model = False
        """Whether somebody holds the replay while a model is behind. Candles then come one at a time at any speed."""
        self._is_held = False
        self._warm_up_until_ms, self._jump_until_ms = warm_up_until_ms, BEFORE_ALL_MS
        self._order = StepOrder(len(files))
        self._changed = asyncio.Event()
        self._begins_again = False
        self._on_change: list[Callable[[], None]] = []

    @property
    def speed(self) -> float:
        return self._speed

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def left_after(self, time_ms: int) -> int:
        """How many candles open at or after this time, in the file that has most of them."""
        return max(len(file) - bisect_left(file, time_ms, key=_OPENED) for file in self._files)

    def set_speed(self, speed: float) -> None:
        """Set the speed from the next candle on; its wait starts again. 0: as fast as possible."""
        if speed < 0.0:
            raise ValueError(f"a speed must be 0 candles per second or more, was {speed}")
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

    def coming(self, after_ms: int, count: int) -> int | None:
        """The opening time of the `count`-th candle after this time, or of the last, in the file that has most of them;
        None if none has any."""
        starts = [bisect_right(file, after_ms, key=_OPENED) for file in self._files]
        file, start = max(zip(self._files, starts, strict=True), key=lambda each: len(each[0]) - each[1])
        return file[min(start + count, len(file)) - 1].open_time_ms if start < len(file) else None

    def jump_to(self, time_ms: int) -> None:
        """Let all candles up to this time come at once. A paused replay stays paused there."""
        self._jump_until_ms = max(self._jump_until_ms, time_ms)
        self._change()

    def hold(self, *, is_held: bool) -> None:
        """Send no candle while it is held, but for a step or a jump. The wait for the next one continues meanwhile."""
        if is_held is not self._is_held:
            self._is_held = is_held
            self._changed.set()

    def is_at_once(self, time_ms: int) -> bool:
        """Whether candles of this time are not watched one by one."""
        is_unwatched = not self.waits_for_model and (self._speed == 0.0 or self.is_warm_up(time_ms))
        return is_unwatched or time_ms <= self._jump_until_ms

    def is_warm_up(self, time_ms: int) -> bool:
        """Whether candles of this time come as fast as possible whatever the speed."""
        return time_ms <= self._warm_up_until_ms

    def on_change(self, call: Callable[[], None]) -> None:
        """Register a call at every change, until `no_longer_on_change`."""
        self._on_change.append(call)

    def no_longer_on_change(self, call: Callable[[], None]) -> None:
        self._on_change = [each for each in self._on_change if each != call]

    def _change(self) -> None:
        self._begins_again = True
        self._changed.set()
        for call in self._on_change:
            call()

    async def turn(self, place: int, time_ms: int) -> None:
        """Wait until the candle of this time is due. place: the index of its file."""
        await self._order.turn(place, time_ms, partial(self._due, time_ms))

    async def _due(self, time_ms: int) -> None:
        """Wait for the next candle of any file; each step is one."""
        loop = asyncio.get_running_loop()
        self._begins_again = True
        begun_s = 0.0
        while not self._is_due_now(time_ms):
            self._changed.clear()
            if self._begins_again:
                begun_s, self._begins_again = loop.time(), False
            left_s = begun_s + self._interval_s(time_ms) - loop.time()
            if self._is_paused or self._is_held:
                await self._changed.wait()
            elif not await happens_within(self._changed, max(left_s, 0.0)):
                return
        if self._steps and time_ms > self._jump_until_ms:
            self._steps -= 1

    def _is_due_now(self, time_ms: int) -> bool:
        is_jumped = time_ms <= self._jump_until_ms
        return is_jumped or self._steps > 0 or (self.is_at_once(time_ms) and not self._is_paused)

    def _interval_s(self, time_ms: int) -> float:
        return 0.0 if self._speed == 0.0 or self.is_warm_up(time_ms) else 1.0 / self._speed

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
