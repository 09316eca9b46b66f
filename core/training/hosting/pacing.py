"""The pace of steps. A share of the time is left to others: to the desktop's compositor on a GPU, to other programs."""

from __future__ import annotations

from collections import deque

from core.domain.clock import Clock

WHOLE_TIME_PERCENT = 100
_RATE_WINDOW = 50
_RATE_HOLDS_S = 10.0
"""A speed needs consecutive steps: after this long without one it is unknown."""


class Pacer:
    """Computes how long to wait before the next candle, so that steps take the configured share of the time.

    The trainer itself never sleeps: it answers commands meanwhile, and so never looks dead.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ended_at_s = clock.monotonic_s()
        self._busy_s = 0.0

    def after_step(self, duration_ms: float) -> None:
        """duration_ms: the last step's."""
        self._ended_at_s = self._clock.monotonic_s()
        self._busy_s = duration_ms / 1000.0

    def left_s(self, percent: int) -> float:
        """Rest time left. percent: the current share. Idle time counts as rest."""
        rest_s = self._busy_s * (WHOLE_TIME_PERCENT / percent - 1.0)
        return max(0.0, self._ended_at_s + rest_s - self._clock.monotonic_s())


class StepRate:
    """The speed over the newest consecutive steps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times_s: deque[float] = deque(maxlen=_RATE_WINDOW)

    def step_done(self) -> None:
        """A step was made just now."""
        self._forget_old()
        self._times_s.append(self._clock.monotonic_s())

    @property
    def per_s(self) -> float | None:
        """Steps a second; None if unknown."""
        self._forget_old()
        times_s = self._times_s
        if len(times_s) < 2 or times_s[-1] <= times_s[0]:
            return None
        return (len(times_s) - 1) / (times_s[-1] - times_s[0])

    def _forget_old(self) -> None:
        if self._times_s and self._clock.monotonic_s() - self._times_s[-1] > _RATE_HOLDS_S:
            self._times_s.clear()
