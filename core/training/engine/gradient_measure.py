"""Measures a step's gradients, packed into one tensor on the device and read back in one piece."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from core.domain.diagnosis import GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.training.engine.flat_parameters import FlatParameters

_NORM, _SUM, _LARGEST, _PARAMETER_NORM, _UPDATE_NORM = range(5)
_COLUMNS = 5


class GradientMeter:
    """Measures gradients, parameters and updates, segment by segment."""

    def __init__(self, flat: FlatParameters) -> None:
        self._flat = flat
        self._before = flat.values.clone()
        self._layer_of = [segment.layer for segment in flat.segments]
        lengths = [segment.size for segment in flat.segments]
        scratch = torch.empty_like(flat.values)
        self._gradient, self._values, self._change = (
            Segments(tensor, lengths, scratch) for tensor in (flat.gradient, flat.values, self._before)
        )
        self._measured: tuple[Tensor, ...] = ()
        self._sizes = [0] * len(flat.layers)
        for segment in flat.segments:
            self._sizes[segment.layer] += segment.size

    def forget(self) -> None:
        """The parameters were changed by a restore."""
        self._before.copy_(self._flat.values)

    @property
    def live(self) -> list[Tensor]:
        """The tensors that a step changes."""
        return [self._before]

    def gradients(self) -> Tensor:
        """Measure the current gradients, before clipping. Returns their total 2-norm, a 0-d tensor."""
        gradient = self._flat.gradient
        self._measured = self._gradient.norms(), self._gradient.sums(), self._gradient.largest()
        return torch.dot(gradient, gradient).sqrt()

    def packed(self) -> Tensor:
        """All numbers, including the parameters' after the step.

        The change is computed in the memory of the old parameters, before that takes the new ones.
        """
        torch.sub(self._flat.values, self._before, out=self._before)
        update_norms = self._change.norms()
        self._before.copy_(self._flat.values)
        return torch.cat((*self._measured, self._values.norms(), update_norms))

    def unpack(self, numbers: list[float]) -> StepMeasurements:
        """numbers: the output of `packed`."""
        rows = [[0.0] * _COLUMNS for _ in self._sizes]
        count = len(self._layer_of)
        for column, join in enumerate(_JOIN):
            for layer, number in zip(self._layer_of, numbers[column * count : (column + 1) * count], strict=True):
                rows[layer][column] = join(rows[layer][column], number)
        return StepMeasurements(rows, self._sizes)

    def nothing(self) -> StepMeasurements:
        """Statistics of a step without measurements."""
        return StepMeasurements([[math.nan] * _COLUMNS for _ in self._sizes], self._sizes)


class StepMeasurements:
    """A step's numbers by layer: norm, sum and largest of the gradient; norms of parameters and update."""

    def __init__(self, rows: list[list[float]], sizes: list[int]) -> None:
        self._rows = rows
        self._sizes = sizes
        self.parameter_norm = math.hypot(*(row[_PARAMETER_NORM] for row in rows))
        self._update_norm = math.hypot(*(row[_UPDATE_NORM] for row in rows))

    def statistics(
        self, norm_after: float, loss_parts: list[float], loss_scale: float | None, origin: NonFiniteOrigin | None
    ) -> GradientStatistics:
        """All of a step's numbers; non-finite ones become None."""
        layers = (_layer_statistics(row, size) for row, size in zip(self._rows, self._sizes, strict=True))
        return GradientStatistics(
            layers=tuple(layers),
            norm_after=finite(norm_after),
            parameter_norm=finite(self.parameter_norm),
            update_ratio=_ratio(self._update_norm, self.parameter_norm),
            loss_parts=tuple(finite(part) for part in loss_parts),
            loss_scale=loss_scale,
            non_finite=origin,
        )


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _layer_statistics(row: list[float], size: int) -> LayerStatistics:
    norm, total, largest, parameter_norm, update_norm = row
    mean = total / size
    variance = norm * norm / size - mean * mean  # of float32 sums, in float64: accurate enough, and one pass less
    std = math.sqrt(max(0.0, variance)) if math.isfinite(variance) else math.nan
    ratios = _ratio(norm, parameter_norm), _ratio(update_norm, parameter_norm)
    return LayerStatistics(finite(norm), finite(mean), finite(std), finite(largest), *ratios)


def _larger(one: float, other: float) -> float:
    """The larger one; NaN if either is."""
    return max(one, other) if one == one and other == other else math.nan


_JOIN = (math.hypot, operator.add, _larger, math.hypot, math.hypot)
"""How two segments of one layer are combined, by column."""


def _ratio(part: float, whole: float) -> float | None:
    return finite(part / whole) if whole > 0.0 else None


class Segments:
    """Norms, sums and largest values of adjacent segments of one tensor, whose numbers change, without a copy of it.

    On the CPU each is one call of NumPy, which needs a fraction of the time of torch's reductions of the segments.
    """

    def __init__(self, flat: Tensor, lengths: Sequence[int], scratch: Tensor) -> None:
        """scratch: memory of the same form for the squares, which several may share."""
        self._flat, self._scratch = flat, scratch
        self._views = torch.split(flat, list(lengths))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        self._starts = offsets[:-1].astype(np.intp)
        self._offsets = torch.tensor(offsets, device=flat.device)
        self._is_host = flat.device.type == "cpu"

    def norms(self) -> Tensor:
        """The 2-norm of each part."""
        if not self._is_host:
            return torch.stack(torch._foreach_norm(self._views))
        squares = torch.mul(self._flat, self._flat, out=self._scratch)
        return self._reduce(squares, np.add, "sum").sqrt_()

    def sums(self) -> Tensor:
        return self._reduce(self._flat, np.add, "sum")

    def largest(self) -> Tensor:
        """The largest absolute values."""
        smallest = self._reduce(self._flat, np.minimum, "min")
        return torch.maximum(self._reduce(self._flat, np.maximum, "max"), smallest.neg_())

    def _reduce(self, flat: Tensor, function: np.ufunc, name: str) -> Tensor:
        """Each part reduced to a number; name: of the function in torch."""
        if not self._is_host:
            return torch.segment_reduce(flat, name, offsets=self._offsets, unsafe=True)
        with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers are measured too
            return torch.from_numpy(function.reduceat(flat.numpy(), self._starts))
