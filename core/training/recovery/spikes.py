"""What counts as a loss spike: a loss far above the running median."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from typing import Any

from core.training.engine.result import StepResult

_FEWEST = 20
_WINDOW = 100
"""Steps, with those that were not done."""


class SpikeWatch:
    """Owns the losses of the newest steps that a spike cost.

    They count in the median too: where the market has changed for good, every loss is above the old median, and a
    trainer that skips them all would never learn again.
    """

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._left_out: deque[tuple[int, float]] = deque(maxlen=_WINDOW)
        """Step and loss."""

    def limit(self, step: int, done_losses: Sequence[float]) -> float | None:
        """Above it the loss of this step is a spike; None while too few are known. done_losses: newest last."""
        while self._left_out and self._left_out[0][0] <= step - _WINDOW:
            self._left_out.popleft()
        left_out = [loss for _, loss in self._left_out]
        newest = [*done_losses[max(0, len(done_losses) + len(left_out) - _WINDOW) :], *left_out]
        return self._factor * statistics.median(newest) if len(newest) >= _FEWEST else None

    def take(self, step: int, result: StepResult) -> None:
        """Remember the loss of a spike that was not trained on."""
        if result.is_spike and result.loss is None and result.gradients is not None:
            self._left_out.append((step, sum(part or 0.0 for part in result.gradients.loss_parts)))

    def state(self) -> list[tuple[int, float]]:
        """As JSON."""
        return list(self._left_out)

    def restore(self, state: Sequence[Sequence[Any]]) -> None:
        self._left_out = deque(((int(step), float(loss)) for step, loss in state), maxlen=_WINDOW)
