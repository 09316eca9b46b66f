"""The ladder's memory from step to step: loss spikes, the search for fp16's loss scale, shortage of memory, and the
number of rollbacks."""

from __future__ import annotations

import gc
import statistics
from collections import deque
from collections.abc import Sequence
from typing import Any

import torch

from core.domain.diagnosis import NonFiniteOrigin
from core.settings.tree import RecoverySettings
from core.training.engine.engine import StepResult, TrainingEngine

_FEWEST = 20
_WINDOW = 100
"""Steps, including skipped ones."""
_FREE_IN_A_ROW = 3
"""Overflows in a row that are accepted silently at a scale that was fine before: up to eight times as large
gradients."""
_FIRST_PATIENCE = 200
_MOST_PATIENCE = 12_800


class SpikeWatch:
    """Owns the losses of recent steps that were skipped as spikes: losses far above the running median.

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

    def observe(self, step: int, result: StepResult) -> None:
        """Append the loss of a spike that was not trained on."""
        if result.is_spike and result.loss is None and result.gradients is not None:
            self._skipped.append((step, sum(part or 0.0 for part in result.gradients.loss_parts)))

    def state(self) -> list[tuple[int, float]]:
        return list(self._skipped)

    def restore(self, state: Sequence[Sequence[Any]]) -> None:
        self._skipped = deque(((int(step), float(loss)) for step, loss in state), maxlen=_WINDOW)


class ScaleSearch:
    """Owns the scale at which a step last had finite gradients: separates overflows by which fp16 finds its loss scale
    from overflows of bad gradients.

    Infinity and NaN are treated alike: in the backward pass an overflow becomes NaN as soon as it is multiplied by 0.
    """

    def __init__(self) -> None:
        self._fitting: float | None = None
        self._in_a_row = 0

    def explains(self, result: StepResult) -> bool:
        """Append a step's result. Returns whether its gradients were non-finite only because of the scale."""
        scale = None if result.gradients is None else result.gradients.loss_scale
        if scale is None:
            return False
        if result.origin is None:
            self._fitting, self._in_a_row = scale, 0
        if result.origin is not NonFiniteOrigin.GRADIENTS or scale <= 1.0:
            return False
        if self._fitting is None or scale > self._fitting:
            return True
        self._in_a_row += 1
        return self._in_a_row <= _FREE_IN_A_ROW

    def reset_count(self) -> None:
        """Reset the count after a rollback, or when the user resumed."""
        self._in_a_row = 0

    def state(self) -> dict[str, Any]:
        return {"fitting": self._fitting, "in_a_row": self._in_a_row}

    def restore(self, state: dict[str, Any]) -> None:
        self._fitting, self._in_a_row = state["fitting"], int(state["in_a_row"])


class MicroBatching:
    """Owns the number of micro-batches of a step beyond the configured one: more when memory runs out, fewer later. The
    effective batch stays the same."""

    def __init__(self, engine: TrainingEngine) -> None:
        self._engine = engine
        self._usual = engine.micro_batches
        self._patience = _FIRST_PATIENCE
        self._clean = 0

    def shrink(self, samples: int) -> bool:
        """Halve the micro-batch; False if it is one sample already. Call it outside the `except`: the traceback there
        keeps the tensors alive that have to be freed."""
        self._clean = 0
        if self._engine.micro_batches >= samples:
            return False
        if self._engine.micro_batches > self._usual:
            self._patience = min(_MOST_PATIENCE, 2 * self._patience)
        self._engine.micro_batches = min(samples, 2 * self._engine.micro_batches)
        empty_caches()
        return True

    def step_was_clean(self) -> bool:
        """Count a step without shortage. True when the micro-batch was doubled again after enough of them."""
        if self._engine.micro_batches == self._usual:
            return False
        self._clean += 1
        if self._clean < self._patience:
            return False
        self._clean = 0
        self._engine.micro_batches = max(self._usual, self._engine.micro_batches // 2)
        return True


class RollbackBudget:
    """Owns the steps of the newest rollbacks: a number is allowed within a window of steps before a user has to act."""

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


def empty_caches() -> None:
    """Free cached memory. Call it outside the `except`."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
