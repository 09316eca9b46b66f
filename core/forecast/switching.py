"""Markov switching between a calm and a volatile regime: their probabilities, and the candles of each.

A hidden Markov chain over the log range of each candle (Hamilton, 1989), fitted online by expectation-maximisation with
forgetting (after Cappé, 2011): each candle's regime probabilities are those at its close, and are not revised.
Averages move gradually between two regimes; the chain jumps. The forecast is the past candles, each weighted by the
forecast probability of its regimes: no distribution is assumed.
"""

from __future__ import annotations

import numpy as np

from core.domain.quantities import LEVELS, FloatArray
from core.forecast.arrays import Arrays, ArrayState

_REGIMES = 2
_KEEP = 1.0 - 1.0 / 2000.0
_STAY = 0.95
_TRANSITIONS_BEFORE = 40.0
"""Weight of the prior transition probabilities, in candles per regime."""
_ANCHOR_WEIGHT = 50.0
"""Weight of each regime's initial position, in candles."""
_ANCHORS = np.array([-0.7, 0.7])
"""From the mean log range, in its standard deviations."""
_ANCHOR_DEVIATION = 0.5
_SMALLEST_DEVIATION = 0.2
"""Lower bound for the log range: a uniform market has no second regime."""
_SMALLEST_SPREAD = 0.1
_LEAST_LIKELY = 1e-9
"""Lower bound of a candle's likelihood in either regime: one that fits neither has no effect."""


class RegimeSwitching(ArrayState):
    """Owns the chain and the newest `window` candles. `observe` each closed candle once, in order."""

    _STATE = ("_log_ranges", "_returns", "_has_return", "_shares", "_now", "_level", "_moments", "_switches")

    def __init__(self, window: int) -> None:
        self._log_ranges = np.zeros(window)
        self._returns = np.zeros(window)
        self._has_return = np.zeros(window, dtype=np.bool_)
        """False for the first candle and after a hole."""
        self._shares = np.zeros((window, _REGIMES))
        """Each candle's regime probabilities at its close."""
        self.seen = 0
        """Candles seen, also those no longer kept."""
        self._now = np.full(_REGIMES, 1.0 / _REGIMES)
        self._level = np.zeros(3)
        """Of the log ranges, with forgetting: weight, sum, sum of squares."""
        self._moments = np.zeros((3, _REGIMES))
        """The same of each regime."""
        self._switches = np.zeros((_REGIMES, _REGIMES))

    def observe(self, log_range: float, log_return: float | None) -> None:
        """Take the next closed candle; log_return: from the close before it, None without one or after a hole."""
        powers = np.array([1.0, log_range, log_range**2])
        self._level = _KEEP * self._level + powers
        mean, spread = self._places()
        fit = np.exp(-0.5 * ((log_range - mean) / spread) ** 2) / spread + _LEAST_LIKELY
        both = self._now[:, None] * self._chain() * fit
        both /= both.sum()
        self._now = both.sum(axis=0)
        self._switches = _KEEP * self._switches + both
        self._moments = _KEEP * self._moments + powers[:, None] * self._now
        place = self.seen % self._log_ranges.size
        self._log_ranges[place], self._shares[place] = log_range, self._now
        self._returns[place], self._has_return[place] = log_return or 0.0, log_return is not None
        self.seen += 1

    def log_range_quantiles(self, horizons: int) -> FloatArray:
        """Quantiles of the log range of each of the next candles: [H, L], ascending."""
        kept = slice(0, min(self.seen, self._log_ranges.size))
        shares = self._shares[kept]
        order = np.argsort(self._log_ranges[kept])
        likely = self._ahead(horizons)
        weights = (shares / np.maximum(shares.sum(axis=0), _LEAST_LIKELY))[order] @ likely.T
        reached = (np.cumsum(weights, axis=0) - 0.5 * weights) / weights.sum(axis=0)
        values = self._log_ranges[kept][order]
        return np.stack([np.interp(LEVELS, column, values) for column in reached.T])

    def moves(self, horizons: int) -> FloatArray:
        """The expected size of each of the next returns: [H]; NaN before the first observation."""
        if not self._has_return.any():
            return np.full(horizons, np.nan)
        shares = self._shares[self._has_return]
        of_regime = np.abs(self._returns[self._has_return]) @ shares / np.maximum(shares.sum(axis=0), _LEAST_LIKELY)
        moves: FloatArray = np.sqrt(self._ahead(horizons) @ of_regime**2)
        return moves

    def state(self) -> Arrays:
        return super().state() | {"seen": np.array([self.seen], dtype=np.int64)}

    def restore(self, state: Arrays) -> None:
        super().restore(state)
        self.seen = int(state["seen"][0])

    def _ahead(self, horizons: int) -> FloatArray:
        """The probability of each regime in the next candles: [H, regime], calm first."""
        chain, likely = self._chain(), [self._now]
        for _ in range(horizons):
            likely.append(likely[-1] @ chain)
        return np.stack(likely[1:])

    def _places(self) -> tuple[FloatArray, FloatArray]:
        """Mean and spread of the log range in each regime, shrunk to the initial positions."""
        weight, first, second = self._level
        level = first / weight
        deviation = max(float(np.sqrt(max(second / weight - level**2, 0.0))), _SMALLEST_DEVIATION)
        mass, total, square = self._moments
        mean = (total + _ANCHOR_WEIGHT * (level + deviation * _ANCHORS)) / (mass + _ANCHOR_WEIGHT)
        around = square - 2.0 * mean * total + mass * mean**2
        variance = (around + _ANCHOR_WEIGHT * (_ANCHOR_DEVIATION * deviation) ** 2) / (mass + _ANCHOR_WEIGHT)
        return mean, np.maximum(np.sqrt(np.maximum(variance, 0.0)), _SMALLEST_SPREAD)

    def _chain(self) -> FloatArray:
        """The transition probabilities: [from, to]."""
        believed = np.where(np.eye(_REGIMES, dtype=np.bool_), _STAY, (1.0 - _STAY) / (_REGIMES - 1))
        seen = self._switches + _TRANSITIONS_BEFORE * believed
        chain: FloatArray = seen / seen.sum(axis=1, keepdims=True)
        return chain
