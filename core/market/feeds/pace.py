"""The speed of a replay, and its pausing and stepping, controlled by the user; the order of several feeds."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from core.domain.candle import Candle


class ReplayPace:
    """The pace of one feed. To be used on the thread of the feed's loop."""

    def __init__(self, speed: float, candles: Sequence[Candle] = ()) -> None:
        """speed: candles per second, above 0. candles: all that are replayed, in order."""
        self._candles = candles
        self._speed, self._is_paused, self._steps = speed, False, 0
        self.next_ms: int | None = None
        """When the candle opens that the feed gives next; None before and after its paced ones."""
        self._changed = asyncio.Event()

    @property
    def speed(self) -> float:
        """Candles a second."""
        return self._speed

    @property
    def is_paused(self) -> bool:
        """Whether candles only come by `step`."""
        return self._is_paused

    def left_after(self, time_ms: int) -> int:
        """How many candles open at or after this time."""
        return len(self._candles) - bisect_left(self._candles, time_ms, key=attrgetter("open_time_ms"))

    def set_speed(self, speed: float) -> None:
        """Set the speed from the next candle on; its wait starts again."""
        if speed <= 0.0:
            raise ValueError(f"a speed must be above 0 candles per second, was {speed}")
        self._speed = speed
        self._changed.set()

    def pause(self) -> None:
        self._is_paused = True
        self._changed.set()

    def play(self) -> None:
        self._is_paused, self._steps = False, 0
        self._changed.set()

    def step(self) -> None:
        """Emit exactly one candle, then pause."""
        self._is_paused = True
        self._steps += 1
        self._changed.set()

    def take_step(self) -> bool:
        """Whether a step was requested; each request counts once."""
        is_asked = self._steps > 0
        self._steps -= is_asked
        return is_asked

    def next_change(self) -> asyncio.Event:
        """Set at the next change."""
        self._changed.clear()
        return self._changed


class JointPace(ReplayPace):
    """Several replays at one speed, paused and stepped together."""

    def __init__(self, paces: Sequence[ReplayPace]) -> None:
        """paces: of each feed."""
        self._paces = paces

    @property
    def speed(self) -> float:
        return self._paces[0].speed

    @property
    def is_paused(self) -> bool:
        return self._paces[0].is_paused

    def left_after(self, time_ms: int) -> int:
        return max(pace.left_after(time_ms) for pace in self._paces)

    def set_speed(self, speed: float) -> None:
        for pace in self._paces:
            pace.set_speed(speed)

    def pause(self) -> None:
        for pace in self._paces:
            pace.pause()

    def play(self) -> None:
        for pace in self._paces:
            pace.play()

    def step(self) -> None:
        """The next candle of those whose next one is the earliest; the others wait for them."""
        times_ms = [pace.next_ms for pace in self._paces if pace.next_ms is not None]
        first_ms = min(times_ms, default=None)
        for pace in self._paces:
            if pace.next_ms == first_ms:
                pace.step()
            else:
                pace.pause()


class StepOrder:
    """Nobody takes a step before all others have taken every earlier one, and those before it in order this one too.

    A member has its turn until it announces or asks for the next one, or leaves. One that does neither holds up all
    others.
    """

    def __init__(self, members: int) -> None:
        self._steps = dict.fromkeys(range(members), -1)
        self._turns = {member: asyncio.Event() for member in self._steps}

    async def turn(self, member: int, step: int) -> None:
        """Wait for the member's turn. Returns at once when it has left."""
        if member in self._steps:
            self.announce(member, step)
            await self._turns[member].wait()

    def announce(self, member: int, step: int) -> None:
        """The member will ask for this step next: until then the others may take the earlier ones."""
        if member in self._steps:
            self._steps[member] = step
            self._turns[member].clear()
            self._wake_first()

    def leave(self, member: int) -> None:
        """Take no more steps."""
        if self._steps.pop(member, None) is not None:
            self._turns[member].set()
            self._wake_first()

    def _wake_first(self) -> None:
        if self._steps:
            self._turns[min(self._steps, key=lambda member: (self._steps[member], member))].set()
