"""The only place that reads the time. Everything else receives a `Clock`, so that tests control it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations."""

    def now_ms(self) -> int:
        """UTC wall time, integer milliseconds since the epoch."""
        ...

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back. Only differences mean anything."""
        ...

    def sleep_s(self, seconds: float) -> None:
        """Block this thread for so long."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep_s(self, seconds: float) -> None:
        time.sleep(seconds)


class SleepWatch:
    """Compares the wall clock with the monotonic one, which stops while the computer sleeps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall_ms, self._monotonic_s = clock.now_ms(), clock.monotonic_s()

    def jump_s(self) -> float:
        """How far the wall clock ran ahead since the last call: the computer slept, or the clock was set. Negative: it
        was set back."""
        wall_ms, monotonic_s = self._clock.now_ms(), self._clock.monotonic_s()
        jump_s = (wall_ms - self._wall_ms) / 1000.0 - (monotonic_s - self._monotonic_s)
        self._wall_ms, self._monotonic_s = wall_ms, monotonic_s
        return jump_s


class ManualClock:
    """A clock that only moves when it is advanced, for tests and simulations."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_s(self) -> float:
        return self._now_ms / 1000.0

    def sleep_s(self, seconds: float) -> None:
        self.advance_ms(round(1000.0 * seconds))

    def advance_ms(self, milliseconds: int) -> None:
        """Move forward. A negative step raises ValueError: monotonic time cannot go back."""
        if milliseconds < 0:
            raise ValueError(f"a clock goes forward only, was asked for {milliseconds} ms")
        self._now_ms += milliseconds
