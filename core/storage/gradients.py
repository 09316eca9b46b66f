"""A step's gradient statistics to bytes and back: little-endian float32, NaN in the place of None."""

from __future__ import annotations

import math

import numpy as np

from core.domain.diagnosis import GradientStatistics, LayerStatistics, NonFiniteOrigin

_FLOAT = np.dtype("<f4")
_ORIGINS = (None, *NonFiniteOrigin)
_HEAD = 6  # norm after, parameter norm, update ratio, loss scale, origin, number of loss parts
_PER_LAYER = 6
"""The anchor's loss follows the layers; old steps do not have it."""


def pack_gradients(statistics: GradientStatistics | None) -> bytes | None:
    """The column `gradients` of the table `steps`."""
    if statistics is None:
        return None
    head = (
        statistics.norm_after,
        statistics.parameter_norm,
        statistics.update_ratio,
        statistics.loss_scale,
        float(_ORIGINS.index(statistics.non_finite)),
        float(len(statistics.loss_parts)),
    )
    layers = [number for layer in statistics.layers for number in _numbers(layer)]
    numbers = (*head, *statistics.loss_parts, *layers, statistics.anchor_loss)
    values = [math.nan if number is None else number for number in numbers]
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float64).astype(_FLOAT).tobytes()


def unpack_gradients(data: bytes | None) -> GradientStatistics | None:
    """The inverse of `pack_gradients`, to the precision of float32; numbers outside float32 become None."""
    if data is None:
        return None
    values: list[float] = np.frombuffer(data, _FLOAT).tolist()  # a run has thousands; NumPy's scalars are slow
    origin, parts = int(values[4]), int(values[5])
    numbers = [value if math.isfinite(value) else None for value in values]
    after, parameters, update, scale = numbers[:4]
    rest = numbers[_HEAD + parts :]
    rows = [rest[first : first + _PER_LAYER] for first in range(0, len(rest) - _PER_LAYER + 1, _PER_LAYER)]
    return GradientStatistics(
        layers=tuple(LayerStatistics(*row) for row in rows),
        norm_after=after,
        parameter_norm=parameters,
        update_ratio=update,
        loss_parts=tuple(numbers[_HEAD : _HEAD + parts]),
        loss_scale=scale,
        non_finite=_ORIGINS[origin],
        anchor_loss=rest[-1] if len(rest) % _PER_LAYER else None,
    )


def _numbers(layer: LayerStatistics) -> tuple[float | None, ...]:
    return layer.norm, layer.mean, layer.std, layer.largest, layer.gradient_ratio, layer.update_ratio
