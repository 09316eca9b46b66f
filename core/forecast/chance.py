"""The chance that a price is reached within the next candles: of sample paths, and of a Brownian path.

If k of n paths reach a price, its chance is (k + 1/2) / (n + 1): n paths cannot tell what never happens from what
happens once in more than n times. (The mean of what is then known of the chance, after Jeffreys.)

Where prices have a tick, a price between two is reached only by the further one. The prices of paths have none. Those
reach a tick that come nearer to it than to the tick before: the continuity correction of a distribution over a grid.

The paths are stretched by what forecasts of this time of day have missed so far: see `core.forecast.time_of_day`.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from core.domain.quantities import BAND_90, FloatArray
from core.forecast.paths import Paths

WITHIN = (1, 3, 8)
"""Candles, as shown and scored; those beyond a forecast's horizons are left out."""
_SAME_TICK = 1e-6
"""Of a tick: a price that is off by less than a rounding error is on the grid."""
_WIDTH_IN_DEVIATIONS = 2.0 * 1.6448536269514722
"""Of a normal distribution's 90 % band."""


class Chances:
    """Of moves, which are log returns from the origin's close: one of 0 or more is reached from below, one of less from
    above. Further away and sooner is never likelier."""

    def __init__(self, paths: Paths, stretch: FloatArray | None = None) -> None:
        """stretch: [H], of the moves within so many candles, `PastHeights.stretch`; without it, the paths as they
        are."""
        self._paths = paths
        self._count, self.horizons = paths.close.shape
        self._stretch = np.ones(self.horizons) if stretch is None else stretch

    def touched(self, moves: FloatArray, within: int) -> FloatArray:
        """That a candle among the next `within` (1 to `horizons`) trades there or beyond: [n] of moves [n]."""
        return self._share(self._traded, moves, within)

    def closed_beyond(self, moves: FloatArray, within: int) -> FloatArray:
        """That one of them closes there or beyond."""
        return self._share(self._closed, moves, within)

    @cached_property
    def _traded(self) -> tuple[FloatArray, FloatArray]:
        return self._extremes(self._paths.high, self._paths.low)

    @cached_property
    def _closed(self) -> tuple[FloatArray, FloatArray]:
        return self._extremes(self._paths.close, self._paths.close)

    def _extremes(self, up: FloatArray, down: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The highest and the lowest of the first candles of each path, stretched: [horizon, path] each."""
        highest, lowest = np.maximum.accumulate(up.T, axis=0), np.minimum.accumulate(down.T, axis=0)
        return highest * self._stretch[:, None], lowest * self._stretch[:, None]

    def _share(self, extremes: tuple[FloatArray, FloatArray], moves: FloatArray, within: int) -> FloatArray:
        """Stretched apart, fewer candles may reach further than more: what is reached sooner is reached later too."""
        highest, lowest = (each[:within, None] for each in extremes)
        least = self._least_moves(moves)[:, None]
        above, below = np.count_nonzero(highest >= least, axis=-1), np.count_nonzero(lowest <= least, axis=-1)
        chance: FloatArray = (np.where(moves >= 0.0, above, below).max(axis=0) + 0.5) / (self._count + 1.0)
        return chance

    def _least_moves(self, moves: FloatArray) -> FloatArray:
        """How far a path has to move to reach each: half a tick before the first tick that is there or beyond."""
        tick = self._paths.tick
        if not tick:
            return moves
        ticks = np.exp(moves) / tick
        least = np.where(moves >= 0.0, np.ceil(ticks - _SAME_TICK) - 0.5, np.floor(ticks + _SAME_TICK) + 0.5)
        halfway: FloatArray = np.log(np.maximum(least * tick, _SMALLEST))
        return halfway


def brownian_touch(moves: FloatArray, close_quantiles: FloatArray) -> FloatArray:
    """That a Brownian path without drift reaches each of these moves [n], by the reflection principle.

    close_quantiles: [level], of the close at its end, whose 90 % band is the path's.
    """
    deviation = max((close_quantiles[BAND_90[1]] - close_quantiles[BAND_90[0]]) / _WIDTH_IN_DEVIATIONS, _SMALLEST)
    return np.array([math.erfc(abs(move) / (deviation * math.sqrt(2.0))) for move in moves.tolist()])


_SMALLEST = float(np.finfo(np.float64).tiny)
