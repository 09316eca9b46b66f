"""An event loop whose time advances only by jumps to the next timer, as soon as it is idle."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from dataclasses import dataclass
from typing import Any, TypeVar

_LEAST_S = 1e-6
"""Every wait takes some time, as it does on a real clock. A shorter one would vanish in the rounding of a large time,
which would then freeze."""

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Waits for nothing: it moves the loop's time on instead."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everybody waits for ever: no timer and no work is left in the simulation")
        if not ready and timeout:
            self._jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` starts at nought and knows no wall."""

    def __init__(self) -> None:
        self._now_s = 0.0
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        return self._now_s

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return super().call_later(max(delay, _LEAST_S), callback, *args, context=context)

    def stay_busy(self, seconds: float) -> None:
        """Let a callback take so long: all that was due meanwhile comes late, and at once."""
        self._jump(seconds)

    def _jump(self, seconds: float) -> None:
        self._now_s += max(seconds, _LEAST_S)


def run_virtually(make: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end on a loop of virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        return runner.run(make(loop))


@dataclass(slots=True)
class VirtualTime:
    """True time, and this computer's clocks in it. While it sleeps, only true time and its wall clock advance."""

    loop: VirtualLoop
    epoch_ms: int
    wall_offset_ms: int = 0
    slept_ms: int = 0
    woke_ms: int = 0
    """When it woke up last, in true time."""

    def true_ms(self) -> int:
        return self.epoch_ms + self.slept_ms + int(self.loop.time() * 1000.0)

    def now_ms(self) -> int:
        """This computer's wall clock, right or wrong."""
        return self.true_ms() + self.wall_offset_ms

    def monotonic_s(self) -> float:
        return self.loop.time()

    def sleep_s(self, seconds: float) -> None:
        raise AssertionError("nothing of the feed blocks its loop")

    def fall_asleep(self, milliseconds: int) -> None:
        """The computer sleeps for so long."""
        self.slept_ms += milliseconds
        self.woke_ms = self.true_ms()
