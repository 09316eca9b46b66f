"""Minimum and maximum over any range of columns, by groups of 64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SHIFT = 6
_GROUP = 1 << _SHIFT


class Extremes:
    """Over all rows of an array [row, n] that the owner passes to every method, and whose changes the owner reports.

    A changed column costs one group, and a question one comparison a group: of a million columns, some microseconds. A
    group in which a column is NaN is NaN: a stretch that is asked for must have none.
    """

    def __init__(self) -> None:
        self._groups: FloatArray = np.empty((2, 0))
        """Low and high of each group, with spare room; the last group may be shorter."""

    def change(self, rows: FloatArray, first: int, stop: int) -> None:
        """Columns first..stop - 1 have changed, or are new."""
        if first >= stop:
            return
        self._reserve(-(-rows.shape[1] >> _SHIFT))
        begin, end = first >> _SHIFT, -(-stop >> _SHIFT)
        below = rows[:, begin << _SHIFT : end << _SHIFT]
        places = np.arange(0, below.shape[1], _GROUP)
        with np.errstate(invalid="ignore"):  # in columns not computed yet
            self._groups[0, begin:end] = np.minimum.reduceat(below, places, axis=1).min(axis=0)
            self._groups[1, begin:end] = np.maximum.reduceat(below, places, axis=1).max(axis=0)

    def between(self, rows: FloatArray, first: int, stop: int) -> tuple[float, float]:
        """The minimum and maximum of columns first..stop - 1, of which there must be one and none may be NaN."""
        begin, end = -(-first >> _SHIFT), stop >> _SHIFT
        if begin >= end:
            return float(rows[:, first:stop].min()), float(rows[:, first:stop].max())
        edges = (rows[:, first : begin << _SHIFT], rows[:, end << _SHIFT : stop])
        lows, highs = self._groups[:, begin:end]
        there = [(lows, highs), *((edge, edge) for edge in edges if edge.size)]
        return min(float(low.min()) for low, _ in there), max(float(high.max()) for _, high in there)

    def _reserve(self, count: int) -> None:
        former = self._groups
        if former.shape[1] < count:
            self._groups = np.empty((2, count + count // 4 + 1))
            self._groups[:, : former.shape[1]] = former
