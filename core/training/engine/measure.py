"""What a step measures of its gradients, packed into one tensor on the device and read back in one piece."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from core.events import GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.training.engine.flat import FlatGroup, FlatParameters
from core.training.engine.segments import Segments

_SQUARES, _SUM, _LARGEST, _PARAMETER_SQUARES, _UPDATE_SQUARES = range(5)
_COLUMNS = 5


class Gauge:
    """Measures gradients, parameters and the change of a step, segment by segment."""

    def __init__(self, flat: FlatParameters) -> None:
        self._parts = [_PartGauge(group) for group in flat.groups]
        self._sizes = [0] * len(flat.layers)
        for group in flat.groups:
            for segment in group.segments:
                self._sizes[segment.layer] += segment.stop - segment.start

    def forget(self) -> None:
        """The parameters were changed from outside: by a restore."""
        for part in self._parts:
            part.forget()

    def gradients(self) -> None:
        """Measure the gradients as they are now: before clipping."""
        for part in self._parts:
            part.measure_gradient()

    def packed(self) -> Tensor:
        """All numbers, with those of the parameters as they are now: after the step."""
        return torch.cat([part.packed() for part in self._parts])

    def unpack(self, numbers: list[float]) -> Measured:
        """numbers: what `packed` gave."""
        rows = [[0.0] * _COLUMNS for _ in self._sizes]
        place = 0
        for part in self._parts:
            place = part.unpack(numbers, place, rows)
        return Measured(rows, self._sizes)

    def nothing(self) -> Measured:
        """As if nothing could be measured."""
        return Measured([[math.nan] * _COLUMNS for _ in self._sizes], self._sizes)


class Measured:
    """A step's numbers by layer: squares, sum and largest of the gradient; squares of parameters and update."""

    def __init__(self, rows: list[list[float]], sizes: list[int]) -> None:
        self._rows = rows
        self._sizes = sizes
        self.parameter_norm = _root(sum(row[_PARAMETER_SQUARES] for row in rows))
        self._update_norm = _root(sum(row[_UPDATE_SQUARES] for row in rows))

    def statistics(
        self, norm_after: float, loss_parts: list[float], loss_scale: float | None, origin: NonFiniteOrigin | None
    ) -> GradientStatistics:
        """All of a step's numbers, with None in the place of those that are not finite."""
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


class _PartGauge:
    """Measures one flat tensor."""

    def __init__(self, group: FlatGroup) -> None:
        self._group = group
        self._layers = [segment.layer for segment in group.segments]
        lengths = [segment.stop - segment.start for segment in group.segments]
        self._segments = Segments(lengths, group.parameter.device)
        self._before = group.parameter.detach().clone()
        self._measured: tuple[Tensor, ...] = ()

    def forget(self) -> None:
        self._before.copy_(self._group.parameter.detach())

    def measure_gradient(self) -> None:
        gradient = self._group.gradient
        self._measured = (
            self._segments.sums(gradient * gradient),
            self._segments.sums(gradient),
            self._segments.largest(gradient.abs()),
        )

    def packed(self) -> Tensor:
        after = self._group.parameter.detach()
        update = after - self._before
        changed = self._segments.sums(after * after), self._segments.sums(update * update)
        self._before.copy_(after)
        return torch.cat((*self._measured, *changed))

    def unpack(self, numbers: list[float], place: int, rows: list[list[float]]) -> int:
        """Add this part's numbers to the rows of its layers. Returns where the next part begins."""
        count = len(self._layers)
        for column in range(_COLUMNS):
            own = numbers[place + column * count : place + (column + 1) * count]
            for layer, number in zip(self._layers, own, strict=True):
                row = rows[layer]
                row[column] = _larger(row[column], number) if column == _LARGEST else row[column] + number
        return place + _COLUMNS * count


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _layer_statistics(row: list[float], size: int) -> LayerStatistics:
    squares, total, largest, parameter_squares, update_squares = row
    norm, mean = _root(squares), total / size
    variance = squares / size - mean * mean  # of float32 sums, in float64: exact enough, and one pass less
    std = _root(max(0.0, variance)) if math.isfinite(variance) else math.nan
    parameter_norm = _root(parameter_squares)
    ratios = _ratio(norm, parameter_norm), _ratio(_root(update_squares), parameter_norm)
    return LayerStatistics(finite(norm), finite(mean), finite(std), finite(largest), *ratios)


def _larger(one: float, other: float) -> float:
    """A NaN wins, as it must."""
    return max(one, other) if one == one and other == other else math.nan


def _root(squares: float) -> float:
    return math.sqrt(squares) if squares >= 0.0 else math.nan


def _ratio(part: float, whole: float) -> float | None:
    return finite(part / whole) if whole > 0.0 else None
