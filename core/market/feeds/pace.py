"""How fast the candles of a replay come, and whether they do: set by a user while it runs."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from core.domain.candle import Candle


class ReplayPace:
    """Belongs to one feed. Set on the thread of the loop that the feed runs on."""

    def __init__(self, speed: float, candles: Sequence[Candle] = ()) -> None:
        """speed: candles a second, above 0. candles: all that are replayed, in order."""
        self._candles = candles
        self._speed, self._is_paused, self._steps = speed, False, 0
        self._changed = asyncio.Event()

    @property
    def speed(self) -> float:
        """Candles a second."""
        return self._speed

    @property
    def is_paused(self) -> bool:
        """Whether none comes but those that are asked for one by one."""
        return self._is_paused

    def left_after(self, time_ms: int) -> int:
        """How many candles open at this time or later."""
        return len(self._candles) - bisect_left(self._candles, time_ms, key=attrgetter("open_time_ms"))

    def set_speed(self, speed: float) -> None:
        """From the next candle on; the wait for it begins anew."""
        if speed <= 0.0:
            raise ValueError(f"a pace is above 0 candles a second, was {speed}")
        self._speed = speed
        self._changed.set()

    def pause(self) -> None:
        """Let no more come."""
        self._is_paused = True
        self._changed.set()

    def play(self) -> None:
        """Let them come."""
        self._is_paused, self._steps = False, 0
        self._changed.set()

    def step(self) -> None:
        """Let exactly one come at once, then none."""
        self._is_paused = True
        self._steps += 1
        self._changed.set()

    def take_step(self) -> bool:
        """Whether one was asked for; each is told once."""
        is_asked = self._steps > 0
        self._steps -= is_asked
        return is_asked

    def watched(self) -> asyncio.Event:
        """Set at the next change."""
        self._changed.clear()
        return self._changed
