"""The newest state that was seen whole, in memory: all that a step changes, and the generator of the samples."""

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
    tensors: dict[str, Tensor]
    scalars: dict[str, Any]
    generator: dict[str, Any]


class KnownGood:
    """Owns the copy. It is taken only when every parameter, moment and average is a finite number."""

    def __init__(self, engine: TrainingEngine, generator: np.random.Generator) -> None:
        self._engine = engine
        self._generator = generator
        self._state = self._copy(0)
        self.restores = 0
        """How often it was gone back to."""

    @property
    def step(self) -> int:
        """The step after which the copy was taken."""
        return self._state.step

    def remember(self, step: int) -> bool:
        """Take the present state, unless a number in it is not finite: False then, and the former copy stays."""
        if not self._engine.is_finite():
            return False
        self._state = self._copy(step)
        return True

    def restore(self) -> bool:
        """Go back to the copy, all of it. False where it had no usable moments and a new optimizer began."""
        self.restores += 1
        self._generator.bit_generator.state = copy.deepcopy(self._state.generator)
        return self._engine.restore(self._state.tensors, self._state.scalars)

    def _copy(self, step: int) -> _State:
        tensors = {name: tensor.detach().clone() for name, tensor in self._engine.tensors().items()}
        scalars = copy.deepcopy(self._engine.scalars())
        return _State(step, tensors, scalars, copy.deepcopy(dict(self._generator.bit_generator.state)))
