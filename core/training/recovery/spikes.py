"""What counts as a loss spike: a loss far above the running median."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from typing import Any

from core.training.engine.result import StepResult

_FEWEST = 20
_WINDOW = 100
"""Steps, including skipped ones."""


class SpikeWatch:
    """Owns the losses of recent steps that were skipped as spikes.

    They count in the median too: after a lasting change of the market every loss is above the old median, and a trainer
    that skips them all would never learn again.
    """

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._skipped: deque[tuple[int, float]] = deque(maxlen=_WINDOW)
        """Step and loss."""

    def limit(self, step: int, done_losses: Sequence[float]) -> float | None:
        """A loss above this is a spike; None while too few are known. done_losses: newest last."""
        while self._skipped and self._skipped[0][0] <= step - _WINDOW:
            self._skipped.popleft()
        skipped = [loss for _, loss in self._skipped]
        newest = [*done_losses[max(0, len(done_losses) + len(skipped) - _WINDOW) :], *skipped]
        return self._factor * statistics.median(newest) if len(newest) >= _FEWEST else None

    def take(self, step: int, result: StepResult) -> None:
        """Remember the loss of a spike that was not trained on."""
        if result.is_spike and result.loss is None and result.gradients is not None:
            self._skipped.append((step, sum(part or 0.0 for part in result.gradients.loss_parts)))

    def state(self) -> list[tuple[int, float]]:
        """As JSON."""
        return list(self._skipped)

    def restore(self, state: Sequence[Sequence[Any]]) -> None:
        self._skipped = deque(((int(step), float(loss)) for step, loss in state), maxlen=_WINDOW)
