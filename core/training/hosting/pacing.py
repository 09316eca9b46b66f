"""Leaves a share of the time to others: to the desktop's compositor on a GPU, to other programs on a CPU."""

from __future__ import annotations

from core.domain.clock import Clock

WHOLE_TIME_PERCENT = 100


class Pacer:
    """Computes how long to wait before the next candle, so that steps take the configured share of the time.

    The trainer itself never sleeps: it answers commands meanwhile, and so never looks dead.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ended_at_s = clock.monotonic_s()
        self._busy_s = 0.0

    def after_step(self, duration_ms: float) -> None:
        """duration_ms: of the last step."""
        self._ended_at_s = self._clock.monotonic_s()
        self._busy_s = duration_ms / 1000.0

    def left_s(self, percent: int) -> float:
        """Rest time left. percent: the current share. Idle time counts as rest."""
        rest_s = self._busy_s * (WHOLE_TIME_PERCENT / percent - 1.0)
        return max(0.0, self._ended_at_s + rest_s - self._clock.monotonic_s())
