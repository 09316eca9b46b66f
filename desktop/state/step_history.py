"""The newest steps, as the panels draw them: columns of each step's numbers, and measurements of each layer."""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.diagnosis import GradientStatistics
from core.domain.events import StepDone

STEPS_KEPT = 1_000
LAYER_STEPS_KEPT = 100

FloatArray = NDArray[np.float64]


class Steps(Protocol):
    """Steps in ascending order, with the columns of `StepHistory`."""

    def __len__(self) -> int: ...

    def column(self, name: str) -> FloatArray: ...

    def why_skipped(self, step: int) -> str | None: ...


class StepHistory:
    """The newest steps, as columns in ascending order of steps. Missing measurements are NaN, which no curve draws."""

    _OF_STEP = ("step", "loss", "prequential_loss", "gradient_norm", "learning_rate", "clip_norm", "duration_ms")
    _WHEN = ("at_ms", "candle_open_time_ms")
    _OF_GRADIENTS = ("norm_after", "update_ratio", "loss_scale")
    _COLUMNS = (*_OF_STEP, *_WHEN, *_OF_GRADIENTS, "clipped", "skipped")

    def __init__(self, capacity: int = STEPS_KEPT) -> None:
        self._capacity = capacity
        # Twice the room: the columns move to the front once in `capacity` steps, not with each.
        self._values = np.full((len(self._COLUMNS), 2 * capacity), np.nan)
        self._first = 0
        self._end = 0
        self._reasons: dict[int, str] = {}
        self.last: StepDone | None = None

    def __len__(self) -> int:
        return self._end - self._first

    def add(self, step: StepDone) -> None:
        """Append. A step at or before the newest means that the model went back: later steps are removed."""
        kept = int(np.searchsorted(self.column("step"), step.step))
        self._end = self._first + kept
        if self._end == self._values.shape[1]:
            self._values[:, : self._capacity - 1] = self._values[:, self._end - self._capacity + 1 : self._end]
            self._first, self._end = 0, self._capacity - 1
        self._values[:, self._end] = self._row(step)
        self._end += 1
        self._first = max(self._first, self._end - self._capacity)
        if self._reasons:
            oldest = self._values[0, self._first]
            self._reasons = {number: each for number, each in self._reasons.items() if oldest <= number < step.step}
        if step.skipped_because is not None:
            self._reasons[step.step] = step.skipped_because
        self.last = step

    def column(self, name: str) -> FloatArray:
        """One of step, loss, prequential_loss, gradient_norm, learning_rate, clip_norm, duration_ms, at_ms,
        candle_open_time_ms, norm_after, update_ratio, loss_scale; or clipped or skipped, which are 1 for such steps and
        0 otherwise.

        A view that holds until the next `add`.
        """
        view = self._values[self._COLUMNS.index(name), self._first : self._end]
        view.flags.writeable = False
        return view

    def why_skipped(self, step: int) -> str | None:
        """The reason of a skipped step; None for a step that was not skipped."""
        return self._reasons.get(step)

    def clear(self) -> None:
        self._first = self._end = 0
        self._reasons.clear()
        self.last = None

    def _row(self, step: StepDone) -> FloatArray:
        gradients = step.gradients
        numbers = [_finite(getattr(step, name)) for name in (*self._OF_STEP, *self._WHEN)]
        numbers += [_finite(getattr(gradients, name, None)) for name in self._OF_GRADIENTS]
        return np.array([*numbers, float(step.clipped), float(step.skipped_because is not None)])


class RecentGradients:
    """Gradient measurements of the newest steps. Converted to arrays only when a panel asks for them."""

    def __init__(self, capacity: int = LAYER_STEPS_KEPT) -> None:
        self._steps: deque[tuple[StepDone, GradientStatistics]] = deque(maxlen=capacity)
        self._after_ms: int | None = None

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def newest(self) -> GradientStatistics | None:
        """The statistics of the newest step that was measured."""
        return self._steps[-1][1] if self._steps else None

    def add(self, step: StepDone) -> None:
        """Append, unless nothing was measured. After a step back, and for another model, outdated measurements are
        dropped."""
        while self._steps and self._steps[-1][0].step >= step.step:
            self._steps.pop()
        if step.gradients is None or not self._counts(step):
            return
        if self.newest is not None and len(self.newest.layers) != len(step.gradients.layers):
            self._steps.clear()
        self._steps.append((step, step.gradients))

    def leave_out_until(self, at_ms: int) -> None:
        """Leave out steps up to this one, as the weights were replaced after it."""
        self._after_ms = at_ms
        while self._steps and not self._counts(self._steps[0][0]):
            self._steps.popleft()

    def layers(self, name: str) -> FloatArray:
        """A field of `LayerStatistics`, as [steps, layers]; NaN where it was not finite."""
        rows = [[_finite(getattr(layer, name)) for layer in each.layers] for _step, each in self._steps]
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows and rows[0] else 0)

    def loss_parts(self) -> FloatArray:
        """The loss of each quantity, as [steps, quantities]; NaN where it was not finite."""
        parts = self.newest.loss_parts if self.newest is not None else ()
        rows = [[_finite(part) for part in each.loss_parts] for _step, each in self._steps]
        rows = [row for row in rows if len(row) == len(parts)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(parts))

    def clear(self) -> None:
        self._steps.clear()
        self._after_ms = None

    def _counts(self, step: StepDone) -> bool:
        return self._after_ms is None or step.at_ms > self._after_ms


def nearest(x: FloatArray, place: float) -> int:
    """The index of the value nearest to a place. x: [n], ascending, not empty."""
    after = int(np.searchsorted(x, place))
    return max(after - 1, 0) if after == x.size or (after and place - x[after - 1] <= x[after] - place) else after


def medians(values: FloatArray) -> FloatArray:
    """The median of the measured values in each column of [n, columns]; NaN for a column without any."""
    measured = (column[np.isfinite(column)] for column in values.T)
    return np.array([np.median(column) if column.size else np.nan for column in measured], dtype=np.float64)


def means(values: FloatArray) -> FloatArray:
    """The mean of the measured values in each column of [n, columns]; NaN for a column without any."""
    measured = (column[np.isfinite(column)] for column in values.T)
    return np.array([column.mean() if column.size else np.nan for column in measured], dtype=np.float64)


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else math.nan
