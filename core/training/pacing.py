"""Leaves a share of the time to others: to the desktop's compositor on a GPU, to other programs on a CPU."""

from __future__ import annotations

from core.clock import Clock

_LONGEST_PAUSE_S = 2.0
"""A pause must not make the trainer look dead, nor a command wait."""


class Pacer:
    """Pauses after each step, for as long as the wanted share of the time asks for."""

    def __init__(self, percent: int, clock: Clock) -> None:
        self.percent = percent
        self._clock = clock

    def after_step(self, duration_ms: float) -> None:
        """duration_ms: of the step."""
        pause_s = duration_ms / 1000.0 * (100.0 / self.percent - 1.0)
        if pause_s > 0.0:
            self._clock.sleep_s(min(_LONGEST_PAUSE_S, pause_s))
