"""How many rollbacks are allowed before a user has to act."""

from __future__ import annotations

from collections import deque
from typing import Any

from core.settings.tree import RecoverySettings


class RollbackBudget:
    """A number of rollbacks within a number of steps."""

    def __init__(self, settings: RecoverySettings) -> None:
        self._allowed = settings.rollbacks
        self._window = settings.rollback_window_steps
        self._steps: deque[int] = deque()

    def spend(self, step: int) -> bool:
        """Count a rollback at this step. False if the budget was spent before."""
        while self._steps and self._steps[0] <= step - self._window:
            self._steps.popleft()
        if len(self._steps) >= self._allowed:
            return False
        self._steps.append(step)
        return True

    def renew(self) -> None:
        """The user resumed training."""
        self._steps.clear()

    def state(self) -> list[int]:
        return list(self._steps)

    def restore(self, steps: list[Any]) -> None:
        self._steps = deque(int(step) for step in steps)
