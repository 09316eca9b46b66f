"""Smaller micro-batches when memory runs out, larger ones again later. The effective batch stays the same."""

from __future__ import annotations

import gc

import torch

from core.training.engine.engine import TrainingEngine

_FIRST_PATIENCE = 200
_MOST_PATIENCE = 12_800


class MicroBatching:
    """Owns the number of micro-batches of a step beyond the configured one."""

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


def empty_caches() -> None:
    """Free cached memory. Call it outside the `except`."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
