"""Leaves a share of the time to others: to the desktop's compositor on a GPU, to other programs on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONGEST_PAUSE_S = 2.0
"""A pause must not make the trainer look dead, nor a command wait."""


class Pacer:
    """Pauses after each step, for as long as the wanted share of the time asks for."""

    def __init__(self, percent: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self.percent = percent
        self._sleep = sleep

    def after_step(self, duration_ms: float) -> None:
        """duration_ms: of the step."""
        pause_s = duration_ms / 1000.0 * (100.0 / self.percent - 1.0)
        if pause_s > 0.0:
            self._sleep(min(_LONGEST_PAUSE_S, pause_s))
