"""The newest state known to be finite, in memory: everything that a step changes, and the sample generator."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from core.training.engine.engine import TrainingEngine


@dataclass(frozen=True, slots=True)
class _State:
    step: int
    pieces: dict[str, Tensor]
    scalars: dict[str, Any]
    generator: dict[str, Any]


class KnownGood:
    """Owns the copy, taken only when every parameter, moment and average is finite."""

    def __init__(self, engine: TrainingEngine, generator: np.random.Generator) -> None:
        self._engine = engine
        self._generator = generator
        self._state = self._copy(0)
        self.restores = 0
        """Number of restores."""

    @property
    def step(self) -> int:
        """The step after which the copy was taken."""
        return self._state.step

    def remember(self, step: int) -> bool:
        """Copy the current state. False if a number in it is not finite; the previous copy then stays."""
        if not self._engine.is_finite():
            return False
        self._state = self._copy(step)
        return True

    def restore(self) -> bool:
        """Restore the copy. False if it had no usable moments, so that a new optimizer started."""
        self.restores += 1
        self._generator.bit_generator.state = copy.deepcopy(self._state.generator)
        return self._engine.restore_pieces(self._state.pieces, self._state.scalars)

    def _copy(self, step: int) -> _State:
        pieces = {name: tensor.detach().clone() for name, tensor in self._engine.pieces().items()}
        scalars = copy.deepcopy(self._engine.scalars())
        return _State(step, pieces, scalars, copy.deepcopy(dict(self._generator.bit_generator.state)))
