"""The chance that a price is reached within the next candles: of sample paths, and of a Brownian path.

If k of n paths reach a price, its chance is (k + 1/2) / (n + 1): n paths cannot tell what never happens from what
happens once in more than n times. (The mean of what is then known of the chance, after Jeffreys.)

Where prices have a tick, a price between two is reached only by the further one. The prices of paths have none. Those
reach a tick that come nearer to it than to the tick before: the continuity correction of a distribution over a grid.

The paths are stretched by what forecasts of this time of day have missed so far (`core.forecast.time_of_day`), and the
chance that a price is touched is corrected by how often such chances came true (`core.forecast.chance_correction`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import BAND_90, FloatArray
from core.forecast.chance_correction import corrected
from core.forecast.paths import Paths

WITHIN = (1, 3, 8)
"""Candles, as shown and scored; those beyond a forecast's horizons are left out."""
_SMALLEST = float(np.finfo(np.float64).tiny)
_SAME_TICK = 1e-6
"""Of a tick: a price that is off by less than a rounding error is on the grid."""
_WIDTH_IN_DEVIATIONS = 2.0 * 1.6448536269514722
"""Of a normal distribution's 90 % band."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnedChances:
    """What the chances of a forecast have learned from earlier ones.

    stretch: [H], of the moves within 1, 2, ..., H candles, `PastHeights.stretch`. intercept, slope: [H] each, of the
    chance that a price is touched within so many candles.
    """

    stretch: FloatArray
    intercept: FloatArray
    slope: FloatArray


def nothing_learned(horizons: int) -> LearnedChances:
    return LearnedChances(np.ones(horizons), np.zeros(horizons), np.ones(horizons))


class Chances:
    """Of moves, which are log returns from the origin's close: one of 0 or more is reached from below, one of less from
    above. Further away and sooner is never likelier, nor is a close than a touch."""

    def __init__(self, paths: Paths, learned: LearnedChances | None = None) -> None:
        self._paths = paths
        self._count, self.horizons = paths.close.shape
        self._learned = nothing_learned(self.horizons) if learned is None else learned

    def touched(self, moves: FloatArray, within: int) -> FloatArray:
        """That a candle among the next `within` (1 to `horizons`) trades there or beyond: [n] of moves [n]."""
        shares, rarest = self._shares(self._traded, moves, within), self._share(np.array(0))
        intercept, slope = self._learned.intercept[:within, None], self._learned.slope[:within, None]
        # Learned apart, fewer candles may have more of a chance than more: what is reached sooner is reached later too.
        likely: FloatArray = corrected(shares, intercept, slope).max(axis=0)
        return likely.clip(rarest, 1.0 - rarest)

    def closed_beyond(self, moves: FloatArray, within: int) -> FloatArray:
        """The chance that a candle among the next `within` closes at each of these moves or beyond."""
        closed: FloatArray = self._shares(self._closed, moves, within).max(axis=0)
        return np.minimum(closed, self.touched(moves, within))

    @cached_property
    def _traded(self) -> tuple[FloatArray, FloatArray]:
        return self._extremes(self._paths.high, self._paths.low)

    @cached_property
    def _closed(self) -> tuple[FloatArray, FloatArray]:
        return self._extremes(self._paths.close, self._paths.close)

    def _extremes(self, up: FloatArray, down: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The highest and the lowest of the first candles of each path, stretched: [horizon, path] each."""
        stretch = self._learned.stretch[:, None]
        return np.maximum.accumulate(up.T, axis=0) * stretch, np.minimum.accumulate(down.T, axis=0) * stretch

    def _shares(self, extremes: tuple[FloatArray, FloatArray], moves: FloatArray, within: int) -> FloatArray:
        """Of paths that reach these moves within 1, 2, ... candles: [within, n]. Those within more may be fewer, as
        they are stretched apart."""
        highest, lowest = (each[:within, None] for each in extremes)
        least = self._least_moves(moves)[:, None]
        above, below = np.count_nonzero(highest >= least, axis=-1), np.count_nonzero(lowest <= least, axis=-1)
        return self._share(np.where(moves >= 0.0, above, below))

    def _share(self, paths: NDArray[np.int64]) -> FloatArray:
        share: FloatArray = (paths + 0.5) / (self._count + 1.0)
        return share

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
    """The chance that a Brownian path without drift reaches each of these moves [n], by the reflection principle.

    close_quantiles: [level], of the close at its end, whose 90 % band is the path's.
    """
    deviation = max((close_quantiles[BAND_90[1]] - close_quantiles[BAND_90[0]]) / _WIDTH_IN_DEVIATIONS, _SMALLEST)
    return np.array([math.erfc(abs(move) / (deviation * math.sqrt(2.0))) for move in moves.tolist()])
