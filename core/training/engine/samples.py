"""Batches for one training step: the newest origin and a replay of older ones, with only closed targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray, Quantity
from core.domain.regimes import Regime
from core.forecast.arrays import Places
from core.forecast.outcomes import targets_of
from core.forecast.panel import FEATURES, Panel
from core.forecast.score import pinball
from core.settings.tree import ModelSettings
from core.training.engine.regime_head import regime_logits

USUAL_WEIGHTS: FloatArray = np.array(
    [1.0 if quantity in (Quantity.CLOSE, Quantity.RANGE) else 0.5 for quantity in Quantity]
)
"""The weight of each quantity in the loss: [Q]."""
USUAL_WEIGHTS.flags.writeable = False
_LARGEST_TARGET = 20.0
"""Normalised targets are clipped here: a crash teaches a direction, not a size."""
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's samples, all float32. B samples, T context, F features, H horizons, Q quantities."""

    features: NDArray[np.float32]
    """[B, T, F]"""
    is_real: NDArray[np.bool_]
    """[B, T]"""
    targets: NDArray[np.float32]
    """Normalised outcomes [B, H, Q]; 0 if the weight is 0."""
    weights: NDArray[np.float32]
    """[B, H, Q]; 0 if the target has not closed or lies beyond a gap."""
    regimes: NDArray[np.float32]
    """[B, 2, 3]: `regime_logits` at the origin, and the mixture's probabilities at the next candle, in the order of
    `Regime`; these are 0 where they are not known, and such a sample teaches the regime head nothing. In a batch with
    padding they are larger, by the share of rows."""

    @property
    def size(self) -> int:
        return int(self.features.shape[0])

    @property
    def samples(self) -> int:
        """The rows that are not padding."""
        return int(self.is_real.any(axis=1).sum())

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays in the order of the fields."""
        return self.features, self.is_real, self.targets, self.weights, self.regimes

    def padded(self, size: int) -> Batch:
        """The batch with rows of weight 0 up to `size`: they change no loss and no gradient. The labels of regimes
        weigh more for it, as the regime head takes the mean over all rows."""
        weighted = self.regimes * np.array([[1.0], [size / max(self.size, 1)]], dtype=np.float32)
        return Batch(*(padded(array, size) for array in (*self.arrays[:-1], weighted)))


@dataclass(frozen=True, slots=True)
class LossWeights:
    """How much more a badly forecast sample counts; 1 for both turns it off."""

    poor_forecast: float
    wrong_direction: float


def padded(array: NDArray[_Number], size: int) -> NDArray[_Number]:
    """The array with rows of zeros up to `size`."""
    missing = size - array.shape[0]
    return np.concatenate([array, np.zeros((missing, *array.shape[1:]), dtype=array.dtype)]) if missing else array


def draw_origins(closed: int, replay: int, window: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Rows of origins with at least one closed target: the newest, then `replay` drawn from the `window` before it."""
    newest = closed - 2
    if newest < 0:
        return np.empty(0, dtype=np.int64)
    oldest = max(0, newest - window)
    drawn = generator.integers(oldest, newest + 1, size=replay if newest > oldest else 0)
    return np.concatenate([np.array([newest], dtype=np.int64), drawn.astype(np.int64)])


def build_batch(
    panel: Panel, places: Places, origins: NDArray[np.int64], context: int, loss_weights: LossWeights
) -> Batch:
    """Assemble the samples of these origins: each a row [B] of a market [B]."""
    features, is_real = panel.windows(places, origins, context)
    natural, _, usable = targets_of(panel, places, origins)
    factor, offset = panel.units(places, origins)
    normalised = np.clip((natural - offset) / factor, -_LARGEST_TARGET, _LARGEST_TARGET)
    weights = usable[..., None] * _weights(panel, places, origins, loss_weights)
    targets = np.where(weights > 0.0, normalised, 0.0)
    regimes = _regimes(panel, places, origins, usable[:, 0])
    return Batch(features, is_real, targets.astype(np.float32), weights.astype(np.float32), regimes)


def joined(batches: Sequence[Batch]) -> Batch:
    """The samples of several markets as one batch; at least one."""
    if len(batches) == 1:
        return batches[0]
    return Batch(*map(np.concatenate, zip(*(each.arrays for each in batches), strict=True)))


def anchor_loss(batch: Batch, anchors: FloatArray) -> float | None:
    """The loss as `TrainingEngine` computes it, with all corrections zero. None if it is not finite.

    To be compared with the model's own loss: the difficulty of the samples is in both and cancels out, so a few steps
    show what a loss alone shows in hundreds. anchors: normalised quantiles that the model corrects: [H, Q, L] for all
    samples, or [B, H, Q, L].
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        losses = pinball(batch.targets.astype(np.float64), np.sort(anchors, axis=-1))
        loss = float((losses * batch.weights).sum() / batch.weights.sum(dtype=np.float64))
    return loss if math.isfinite(loss) else None


def synthetic_batch(model: ModelSettings, samples: int, seed: int = 0) -> Batch:
    """Random numbers in the shapes of a model, for timing steps."""
    generator = np.random.default_rng(seed)
    targets = (samples, model.horizons, QUANTITIES)
    return Batch(
        generator.normal(size=(samples, model.context, FEATURES)).astype(np.float32),
        np.ones((samples, model.context), dtype=bool),
        generator.normal(size=targets).astype(np.float32),
        np.ones(targets, dtype=np.float32),
        np.full((samples, 2, len(Regime)), 1.0 / len(Regime), dtype=np.float32),
    )


def synthetic_reference(model: ModelSettings) -> FloatArray:
    return np.tile(np.linspace(-1.5, 1.5, len(LEVELS)), (model.horizons, QUANTITIES, 1))


def _regimes(
    panel: Panel, places: Places, origins: NDArray[np.int64], is_next_known: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """[B, 2, 3]"""
    now = panel.regimes(places, origins)
    following = panel.regimes(places, np.where(is_next_known, origins + 1, origins))
    is_known = is_next_known & now.any(axis=1)
    return np.stack([regime_logits(now), np.where(is_known[:, None], following, 0.0)], axis=1, dtype=np.float32)


def _weights(panel: Panel, places: Places, origins: NDArray[np.int64], loss_weights: LossWeights) -> FloatArray:
    """[B, 1, Q]. Grows from 1 at the usual loss to `poor_forecast` at twice the usual loss."""
    excess = np.clip(panel.column("error_ratio")[places, origins] - 1.0, 0.0, 1.0)
    poor = 1.0 + (loss_weights.poor_forecast - 1.0) * excess
    weights: FloatArray = (poor[:, None] * USUAL_WEIGHTS)[:, None, :]
    wrong = 1.0 + (loss_weights.wrong_direction - 1.0) * panel.column("wrong_direction")[places, origins]
    weights[..., Quantity.CLOSE] *= wrong[:, None]
    return weights
