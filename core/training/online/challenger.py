"""A challenger: a further model that forecasts the same candles as the main one, and is judged like it.

Whatever it does, the main model, the baselines and the forecast without challengers stay as in a run without them:
`GuardedChallenger` ensures that. Kinds: a torch module that is trained here (`TorchChallenger`), a process
(`ProcessChallenger` in `core.training.hosting.challengers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.domain.quantities import FloatArray
from core.storage.weights import CheckpointError
from core.training.commands import MarketCandle
from core.training.engine.engine import TrainingEngine, part_of
from core.training.engine.samples import Batch
from core.training.recovery.incident_draft import IncidentDraft

_FORECAST, _STEP = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class MarketInputs:
    """The inputs of a market at the close of its newest candle; a challenger's own copy. T context, F features, H
    horizons, Q quantities, L levels."""

    market: int
    """Its place among the markets of the run."""
    open_time_ms: int
    """The opening time of the newest candle."""
    features: NDArray[np.float32]
    """[T, F], the other markets' last; see `core.forecast.history`."""
    is_real: NDArray[np.bool_]
    """[T]; False is padding on the left."""
    without_model: FloatArray
    """Normalised quantiles [H, Q, L] forecast without any model, which a torch model corrects."""
    factor: FloatArray
    """[H, Q]. A quantile in natural units is `offset + factor * normalised`."""
    offset: FloatArray


class UnusableError(Exception):
    """Raised by a challenger that cannot forecast any more in this session: it is suspended at once."""


class Challenger:
    """One further model. Its exceptions, and answers of another shape or not finite, count as its failures.

    At each close: `observe`, then `forecast`, then `learn` if a training step is due. Methods that a kind does not need
    do nothing.
    """

    name: str
    """Its name in tables and checkpoints; unique in a run."""

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        """Append the candles that have just closed, of one opening time."""

    def forecast(self, markets: Sequence[MarketInputs]) -> Sequence[FloatArray | None]:
        """The normalised quantiles [H, Q, L] of the next candles, for each market. None: not ready yet, which is no
        failure; the forecast without any model replaces it."""
        raise NotImplementedError

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        """One training step on the samples that the main model has just learned from; its own copies.

        anchors: normalised quantiles [B, H, Q, L] that are forecast without any model.
        """

    def compare(self, own: FloatArray, without_model: FloatArray) -> None:
        """Take losses [K] on the newest candles: its forecasts', and those without any model, each for a horizon and
        quantity; NaN if unknown."""

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that, with `scalars`, it needs to continue, for a checkpoint. Not copies."""
        return {}

    def scalars(self) -> dict[str, Any]:
        """The rest of the state, as JSON."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any]) -> None:
        """Continue from such a state. If it is of another version, raise an error with a sentence."""

    def pop_incidents(self) -> Sequence[IncidentDraft]:
        """Incidents since the last call, besides its failures."""
        return ()

    def resume(self) -> None:
        """The user resumed training."""

    def close(self) -> None:
        """The session ends. May be called twice."""


class TorchChallenger(Challenger):
    """A torch module, with a separate engine that trains it like the main model: it corrects the forecast without any
    model. Reads features, no candles.

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
