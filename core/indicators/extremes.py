"""Minimum and maximum over any range of columns, by a tree of groups of 64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SHIFT = 6
_GROUP = 1 << _SHIFT


class Extremes:
    """Over all rows of an array [row, n] that the owner passes to every method, and whose changes the owner reports.

    A changed column costs O(log n), and so does a question. A group in which a column is NaN is NaN: a stretch that is
    asked for must have none.
    """

    def __init__(self) -> None:
        self._levels: list[FloatArray] = []
        """Levels of [low and high, group], with spare room; the first level groups columns."""

    def change(self, rows: FloatArray, first: int, stop: int) -> None:
        """Columns first..stop - 1 have changed, or are new."""
        lows, highs, number = rows, rows, 0
        while first < stop and lows.shape[1] > _GROUP:
            if number == len(self._levels):
                self._levels.append(np.empty((2, 0)))
                first, stop = 0, lows.shape[1]  # none of its groups is computed yet
            level = self._with_room(number, -(-lows.shape[1] >> _SHIFT))
            first, stop = first >> _SHIFT, -(-stop >> _SHIFT)
            _reduce(lows, highs, level, first, stop)
            lows, highs, number = level[:1], level[1:], number + 1

    def between(self, rows: FloatArray, first: int, stop: int) -> tuple[float, float]:
        """The minimum and maximum of columns first..stop - 1, of which there must be one and none may be NaN."""
        lows, highs = rows, rows
        parts: list[tuple[FloatArray, FloatArray]] = []
        for level in self._levels:
            begin, end = -(-first >> _SHIFT), stop >> _SHIFT
            if begin >= end:
                break
            for edge in (slice(first, begin << _SHIFT), slice(end << _SHIFT, stop)):
                parts.append((lows[:, edge], highs[:, edge]))
            lows, highs, first, stop = level[:1], level[1:], begin, end
        parts.append((lows[:, first:stop], highs[:, first:stop]))
        there = [part for part in parts if part[0].size]
        return min(float(low.min()) for low, _ in there), max(float(high.max()) for _, high in there)

    def _with_room(self, number: int, count: int) -> FloatArray:
        """The level's first `count` groups."""
        level = self._levels[number]
        if level.shape[1] < count:
            grown = np.empty((2, count + count // 4 + 1))
            grown[:, : level.shape[1]] = level
            self._levels[number] = level = grown
        return level[:, :count]


def _reduce(lows: FloatArray, highs: FloatArray, groups: FloatArray, first: int, stop: int) -> None:
    """Fill groups first..stop - 1 from the level below; the last one may be shorter."""
    below = slice(first << _SHIFT, min(stop << _SHIFT, lows.shape[1]))
    places = np.arange(0, below.stop - below.start, _GROUP)
    with np.errstate(invalid="ignore"):  # in columns not computed yet
        groups[0, first:stop] = np.minimum.reduceat(lows[:, below], places, axis=1).min(axis=0)
        groups[1, first:stop] = np.maximum.reduceat(highs[:, below], places, axis=1).max(axis=0)
