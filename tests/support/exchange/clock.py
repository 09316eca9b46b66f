"""The exchange's time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def loop_s() -> float:
    """Of the running loop, whose time may be virtual."""
    return asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True)
class FastClock:
    """This computer's clock, as fast as an exchange's: for one that has no candle shorter than a minute."""

    ms: AcceleratedClock

    def now_ms(self) -> int:
        return self.ms()

    def monotonic_s(self) -> float:
        return self.ms() / 1000.0

    def sleep_s(self, seconds: float) -> None:
        raise AssertionError("nothing of the feed blocks its loop")


@dataclass(slots=True)
class AcceleratedClock:
    """The exchange's time: starts at a moment and runs `speed` times as fast as the wall's."""

    start_ms: int
    speed: float = 1.0
    _began_s: float = field(default_factory=time.monotonic)

    def __call__(self) -> int:
        return self.start_ms + int((time.monotonic() - self._began_s) * 1000.0 * self.speed)
