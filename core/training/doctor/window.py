"""The last few hundred steps as columns, so that a diagnosis needs only a few sorts."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import StepDone

WINDOW = 300
"""Number of steps that the doctor looks at."""
_LARGEST = 1e300
"""Larger numbers are limited to this one, so that no difference of two overflows."""
_ORIGINS = tuple(NonFiniteOrigin)

Numbers = npt.NDArray[np.float64]


class StepWindow:
    """The newest steps, oldest first. Missing values are NaN inside."""

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self._columns = np.full((2 * WINDOW, len(_COLUMNS)), np.nan)
        self._norms = np.full((2 * WINDOW, layers), np.nan)
        self._ratios = np.full((2 * WINDOW, layers), np.nan)
        self._end = 0
        self.seen = 0
        """Steps since the start or the last `clear`, including those that have left the window."""
        self.before_rollback = 0
        """How many of these steps were made before a rollback: see `mark_rollback`."""
        self.counted_since = ""
        """The change since which steps are counted, for a sentence; empty: the start."""

    def __len__(self) -> int:
        return min(self._end, WINDOW)

    def append(self, step: StepDone) -> None:
        if self._end == 2 * WINDOW:  # make room behind the newest half
            for table in (self._columns, self._norms, self._ratios):
                table[:WINDOW] = table[WINDOW:]
            self._end = WINDOW
        statistics = step.gradients
        self._columns[self._end] = _row(step)
        self._norms[self._end] = np.nan
        self._ratios[self._end] = np.nan
        if statistics is not None and len(statistics.layers) == self.layers:
            self._norms[self._end] = [non_negative_or_nan(layer.norm) for layer in statistics.layers]
            self._ratios[self._end] = [non_negative_or_nan(layer.update_ratio) for layer in statistics.layers]
        self._end += 1
        self.seen += 1

    def clear(self, cause: str) -> None:
        self._end = 0
        self.seen = 0
        self.before_rollback = 0
        self.counted_since = cause

    def mark_rollback(self) -> None:
        """The next steps continue from another state: earlier ones stay in the window, but do not count for later
        ones."""
        self.before_rollback = self.seen
        self.counted_since = "the rollback"

    @property
    def has_steps_before_rollback(self) -> bool:
        """Whether the window has steps from before a rollback."""
        return self.before_rollback > self.seen - len(self)

    def column(self, name: str) -> Numbers:
        """[steps]"""
        return self._columns[self._live, _COLUMNS.index(name)]

    @property
    def layer_norms(self) -> Numbers:
        """[steps, layers]"""
        return self._norms[self._live]

    @property
    def layer_update_ratios(self) -> Numbers:
        """[steps, layers]"""
        return self._ratios[self._live]

    @property
    def origins(self) -> list[NonFiniteOrigin | None]:
        """The origin of the first non-finite number in each step, if any."""
        codes = self.column("origin")
        return [None if code < 0 else _ORIGINS[int(code)] for code in codes.tolist()]

    @property
    def _live(self) -> slice:
        return slice(self._end - len(self), self._end)


_COLUMNS = (
    "step",
    "loss",
    "norm",
    "clipped",
    "threshold",
    "rate",
    "update_ratio",
    "largest",
    "loss_scale",
    "origin",
    "is_skipped",
)


def _row(step: StepDone) -> tuple[float, ...]:
    statistics, origin = step.gradients, _origin(step)
    layers = () if statistics is None else statistics.layers
    largest = [value for layer in layers if not math.isnan(value := non_negative_or_nan(layer.largest))]
    return (
        float(step.step),
        finite_or_nan(step.loss),
        non_negative_or_nan(step.gradient_norm),
        float(step.clipped),
        non_negative_or_nan(step.clip_norm),
        non_negative_or_nan(step.learning_rate),
        non_negative_or_nan(None if statistics is None else statistics.update_ratio),
        max(largest, default=math.nan),
        non_negative_or_nan(None if statistics is None else statistics.loss_scale),
        -1.0 if origin is None else float(_ORIGINS.index(origin)),
        float(step.skipped_because is not None or step.loss is None),
    )


def finite_or_nan(value: float | None) -> float:
    """A measured number; NaN if missing or not finite."""
    if value is None or not math.isfinite(value):
        return math.nan
    return max(-_LARGEST, min(_LARGEST, value))


def non_negative_or_nan(value: float | None) -> float:
    """A measured number without a sign: NaN also if negative."""
    measured = finite_or_nan(value)
    return math.nan if measured < 0.0 else measured


def _origin(step: StepDone) -> NonFiniteOrigin | None:
    """The recorded origin, or the one that the numbers show."""
    if step.gradients is not None and step.gradients.non_finite is not None:
        return step.gradients.non_finite
    if step.loss is not None and not math.isfinite(step.loss):
        return NonFiniteOrigin.LOSS
    if step.gradient_norm is not None and not math.isfinite(step.gradient_norm):
        return NonFiniteOrigin.GRADIENTS
    return None
