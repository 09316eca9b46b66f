"""Leaves a share of the time to others: to the desktop's compositor on a GPU, to other programs on a CPU."""

from __future__ import annotations

from core.domain.clock import Clock

WHOLE_TIME_PERCENT = 100


class Pacer:
    """Says for how long no candle is to be passed on after a step, so that steps take the wanted share of the time.

    The trainer itself never sleeps: it answers commands meanwhile, and however long the rest, it does not look dead.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ended_at_s = clock.monotonic_s()
        self._busy_s = 0.0

    def after_step(self, duration_ms: float) -> None:
        """duration_ms: of the step that was just done."""
        self._ended_at_s = self._clock.monotonic_s()
        self._busy_s = duration_ms / 1000.0

    def left_s(self, percent: int) -> float:
        """How much longer to rest. percent: the wanted share, as it is now. Time in which nothing came counts."""
        rest_s = self._busy_s * (WHOLE_TIME_PERCENT / percent - 1.0)
        return max(0.0, self._ended_at_s + rest_s - self._clock.monotonic_s())
