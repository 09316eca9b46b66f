"""Training losses of a run over rolling windows, with their trend, as the Loss panel shows them."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Sequence

import numpy as np

from core.domain.events import LossSummary, Trend

_LOSS_WINDOW = 50


class LossLedger:
    """Training losses. "Best" is the lowest mean of the run over a full window. Means and trends never mix two lines of
    weights."""

    def __init__(self) -> None:
        self.best: float | None = None
        self._losses: deque[float] = deque(maxlen=2 * _LOSS_WINDOW)
        self.of_line = 0
        """Number of losses of the current line of weights, at most the number stored."""

    def restore(self, best: float | None, newest: Sequence[float], of_line: int) -> None:
        """Continue from the saved `best`, `newest` and `of_line`."""
        self.best = best
        self._losses = deque(newest, maxlen=2 * _LOSS_WINDOW)
        self.of_line = max(0, min(of_line, len(self._losses)))

    def begin_line(self) -> None:
        """The next losses are of other weights."""
        self.of_line = 0

    def add(self, loss: float) -> None:
        """Append the loss of a completed step (a skipped one has none)."""
        if not math.isfinite(loss):
            raise ValueError(f"a completed step has a finite loss, was {loss}")
        self._losses.append(loss)
        self._count(1)
        windowed = self.windowed
        if windowed is not None:
            self.best = windowed if self.best is None else min(self.best, windowed)

    def extend(self, losses: np.ndarray) -> None:
        """Equivalent to `add` with each of these in a new ledger, about a hundred times as fast. losses: [n]."""
        if len(losses) >= _LOSS_WINDOW:
            means = np.lib.stride_tricks.sliding_window_view(losses, _LOSS_WINDOW).mean(axis=1)
            lowest = int(means.argmin())
            self.best = statistics.fmean(losses[lowest : lowest + _LOSS_WINDOW].tolist())
        self._losses.extend(losses[-2 * _LOSS_WINDOW :].tolist())
        self._count(len(losses))

    def _count(self, new: int) -> None:
        self.of_line = min(self.of_line + new, 2 * _LOSS_WINDOW)

    @property
    def newest(self) -> tuple[float, ...]:
        return tuple(self._losses)

    @property
    def windowed(self) -> float | None:
        """The mean over the newest window, or None before it is full."""
        newest = self._newest_of_line()
        return statistics.fmean(newest) if len(newest) == _LOSS_WINDOW else None

    def summary(self) -> LossSummary:
        newest = self._newest_of_line()
        current = statistics.fmean(newest) if newest else None
        return LossSummary(current, self.best, self._trend())

    def _newest_of_line(self) -> list[float]:
        return list(self._losses)[len(self._losses) - min(self.of_line, _LOSS_WINDOW) :]

    def _trend(self) -> Trend:
        """Newest window against the one before, by ranks, so that a few spikes make no trend. A rank sum two standard
        errors from its mean counts."""
        if self.of_line < 2 * _LOSS_WINDOW:
            return Trend.UNKNOWN
        losses = np.array(self._losses)
        before, after = losses[:_LOSS_WINDOW, None], losses[_LOSS_WINDOW:]
        rises = (np.sign(after - before)).sum() / 2.0
        error = _LOSS_WINDOW * math.sqrt((2 * _LOSS_WINDOW + 1) / 12.0)
        if abs(rises) <= 2.0 * error:
            return Trend.FLAT
        return Trend.IMPROVING if rises < 0.0 else Trend.WORSENING
