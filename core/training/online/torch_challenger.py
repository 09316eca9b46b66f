"""A challenger that is a torch module, with a separate engine that trains it like the main model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.domain.quantities import FloatArray
from core.storage.weights import CheckpointError
from core.training.engine.engine import TrainingEngine, part_of
from core.training.engine.samples import Batch
from core.training.online.challenger import Challenger, MarketInputs

_FORECAST, _STEP = 0, 1


class TorchChallenger(Challenger):
    """Corrects the forecast without any model. Reads features, no candles.

    A module may draw random numbers, as dropout does: they depend on the seed and the moment alone, and torch's
    generators are left as they were.
    """

    def __init__(self, name: str, engine: TrainingEngine, seed: int) -> None:
        self.name = name
        self._engine = engine
        self._seed = seed

    def forecast(self, markets: Sequence[MarketInputs]) -> Sequence[FloatArray]:
        features, is_real = (np.stack([getattr(each, name) for each in markets]) for name in ("features", "is_real"))
        with self._own_randomness(_FORECAST, markets[0].open_time_ms):
            corrections = self._engine.corrections(features, is_real)
        if len(corrections) != len(markets):
            raise ValueError(f"it gave {len(corrections)} forecasts of {len(markets)} samples")
        return [each.without_model + own for each, own in zip(markets, corrections, strict=True)]

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        """Raises ArithmeticError if the step was not done, or left a number that is not finite."""
        with self._own_randomness(_STEP, step):
            result = self._engine.step(batch, anchors)
        if result.skipped_because is not None:
            raise ArithmeticError(result.skipped_because)
        if not result.parameters_are_finite:
            raise ArithmeticError("a step left a parameter that is not finite")

    def compare(self, own: FloatArray, without_model: FloatArray) -> None:
        self._engine.schedule.compare(own, without_model)

    def tensors(self) -> dict[str, Tensor]:
        return self._engine.tensors()

    def scalars(self) -> dict[str, Any]:
        return self._engine.scalars()

    def restore(self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any]) -> None:
        """Raises CheckpointError for another architecture."""
        shapes = {name: tensor.shape for name, tensor in part_of(dict(tensors), "model").items()}
        if shapes != {name: tensor.shape for name, tensor in self._engine.model.state_dict().items()}:
            raise CheckpointError("its weights have the shapes of another architecture")
        self._engine.restore(dict(tensors), dict(scalars))

    @contextmanager
    def _own_randomness(self, *moment: int) -> Iterator[None]:
        device = self._engine.device
        places = [] if device.type != "cuda" else [device.index or 0]
        seed = int(np.random.SeedSequence([self._seed, *moment]).generate_state(1)[0])
        with torch.random.fork_rng(devices=places):
            torch.default_generator.manual_seed(seed)
            for place in places:
                torch.cuda.default_generators[place].manual_seed(seed)
            yield
