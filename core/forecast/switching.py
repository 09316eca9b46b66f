"""Markov switching between a calm and a volatile regime: their probabilities, and the candles of each.

A hidden Markov chain over the log range of each candle (Hamilton, 1989), fitted online by expectation-maximisation with
forgetting (after Cappé, 2011): each candle's regime probabilities are those at its close, and are not revised.
Averages move gradually between two regimes; the chain jumps. The forecast is the past candles, each weighted by the
forecast probability of its regimes: no distribution is assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, FloatArray
from core.forecast.arrays import Arrays, ArrayState, Places

_REGIMES = 2
_KEEP = 1.0 - 1.0 / 2000.0
_STAY = 0.95
_TRANSITIONS_BEFORE = 40.0
"""Weight of the prior transition probabilities, in candles per regime."""
_TRANSITIONS_SEEN_BEFORE = _TRANSITIONS_BEFORE * np.where(
    np.eye(_REGIMES, dtype=np.bool_), _STAY, (1.0 - _STAY) / (_REGIMES - 1)
)
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
_AT_ONCE = 8
"""Markets whose quantiles are computed together: the arrays of more would not fit into a core's cache."""
_LAST = np.finfo(np.float64).max
"""Placeholder for candles not yet seen: sorts after all others."""


class RegimeSwitching(ArrayState):
    """Owns the chain and the newest `window` candles of each market. `observe` each closed candle once, in order."""

    _STATE = (
        *("_log_ranges", "_order", "_returns", "_has_return", "_shares"),
        *("_seen", "_now", "_level", "_moments", "_switches"),
    )

    def __init__(self, window: int, horizons: int, markets: int) -> None:
        self._horizons = horizons
        self._log_ranges = np.full((markets, window), _LAST)
        self._order = np.tile(np.arange(window, dtype=np.int32), (markets, 1))
        """The indices that put the log ranges in ascending order."""
        self._returns = np.zeros((markets, window))
        """Their size."""
        self._has_return = np.zeros((markets, window), dtype=np.bool_)
        """False for the first candle and after a hole."""
        self._shares = np.zeros((markets, window, _REGIMES))
        """Each candle's regime probabilities at its close."""
        self._seen = np.zeros(markets, dtype=np.int64)
        """Candles seen, also those no longer kept."""
        self._now = np.full((markets, _REGIMES), 1.0 / _REGIMES)
        self._level = np.zeros((markets, 3))
        """Of the log ranges, with forgetting: weight, sum, sum of squares."""
        self._moments = np.zeros((markets, 3, _REGIMES))
        """The same of each regime."""
        self._switches = np.zeros((markets, _REGIMES, _REGIMES))
        self._ahead = np.full((markets, horizons, _REGIMES), 1.0 / _REGIMES)
        """The probability of each regime in the next candles, calm first: it follows from the rest."""

    def seen(self, places: Places) -> NDArray[np.int64]:
        """Candles seen of each market: [n]."""
        return self._seen[places]

    def observe(self, places: Places, log_range: FloatArray, log_return: FloatArray) -> None:
        """Learn from the next closed candles [n]; log_return: from the close before it, NaN without one or after a
        hole."""
        powers = np.stack([np.ones_like(log_range), log_range, log_range**2], axis=1)
        self._level[places] = _KEEP * self._level[places] + powers
        mean, spread = self._positions(places)
        fit = np.exp(-0.5 * ((log_range[:, None] - mean) / spread) ** 2) / spread + _LEAST_LIKELY
        both = self._now[places][:, :, None] * self._chain(places) * fit[:, None, :]
        both /= both.sum(axis=(1, 2), keepdims=True)
        now = both.sum(axis=1)
        self._now[places] = now
        self._switches[places] = _KEEP * self._switches[places] + both
        self._moments[places] = _KEEP * self._moments[places] + powers[:, :, None] * now[:, None, :]
        slot = self._seen[places] % self._log_ranges.shape[1]
        self._log_ranges[places, slot], self._shares[places, slot] = log_range, now
        self._returns[places, slot] = np.abs(np.nan_to_num(log_return))
        self._has_return[places, slot] = ~np.isnan(log_return)
        self._seen[places] += 1
        self._look_ahead(places)
        self._reorder(places)

    def _kept(self, places: Places) -> int:
        """The slots that have a candle in any of these markets."""
        return int(min(self._seen[places].max(), self._log_ranges.shape[1]))

    def _reorder(self, places: Places) -> None:
        kept = self._kept(places)
        order = self._order[places, :kept]
        again = np.take_along_axis(self._log_ranges[places], order, axis=1).argsort(axis=1, kind="stable")
        self._order[places, :kept] = np.take_along_axis(order, again, axis=1)

    def log_range_quantiles(self, places: Places) -> FloatArray:
        """Quantiles of the log range of each of the next candles: [n, H, L], ascending."""
        parts = (places[first : first + _AT_ONCE] for first in range(0, len(places), _AT_ONCE))
        return np.concatenate([self._quantiles_of(part) for part in parts])

    def _quantiles_of(self, places: Places) -> FloatArray:
        order = self._order[places, : self._kept(places)]
        log_ranges = np.take_along_axis(self._log_ranges[places], order, axis=1)
        shares = self._shares[places]
        of_regime = shares / np.maximum(shares.sum(axis=1, keepdims=True), _LEAST_LIKELY)
        of_candle = of_regime[np.arange(len(places))[:, None], order]
        ahead = self._ahead[places][..., None]
        weights = ahead[:, :, 0] * of_candle[:, None, :, 0]
        weights += ahead[:, :, 1] * of_candle[:, None, :, 1]
        last = np.minimum(self._seen[places], self._log_ranges.shape[1])[:, None] - 1
        summed = np.cumsum(weights, axis=2)  # its last is the sum, however many candles the other markets have
        reached = (summed - 0.5 * weights) / np.take_along_axis(summed, last[..., None], axis=2)
        return _interpolated(reached, log_ranges, last)

    def moves(self, places: Places) -> FloatArray:
        """The expected size of each of the next returns: [n, H]; NaN before the first observation."""
        kept = self._kept(places)
        has_return = self._has_return[places, :kept]
        shares = self._shares[places, :kept] * has_return[..., None]
        of_regime = (self._returns[places, :kept, None] * shares).sum(axis=1)
        of_regime /= np.maximum(shares.sum(axis=1), _LEAST_LIKELY)
        moves = np.sqrt((self._ahead[places] * of_regime[:, None] ** 2).sum(axis=-1))
        return np.where(has_return.sum(axis=1, keepdims=True) > 0, moves, np.nan)

    def _look_ahead(self, places: Places) -> None:
        chain, likely = self._chain(places), self._now[places]
        for candle in range(self._horizons):
            likely = (likely[:, :, None] * chain).sum(axis=1)
            self._ahead[places, candle] = likely

    def restore(self, state: Arrays, market: int) -> None:
        super().restore(state, market)
        self._look_ahead(np.array([market]))

    def _positions(self, places: Places) -> tuple[FloatArray, FloatArray]:
        """Mean and spread of the log range in each regime [n, regime], shrunk to the initial positions."""
        weight, first, second = self._level[places].T[..., None]
        level = first / weight
        deviation = np.maximum(np.sqrt(np.maximum(second / weight - level**2, 0.0)), _SMALLEST_DEVIATION)
        mass, total, square = np.moveaxis(self._moments[places], 1, 0)
        mean = (total + _ANCHOR_WEIGHT * (level + deviation * _ANCHORS)) / (mass + _ANCHOR_WEIGHT)
        around = square - 2.0 * mean * total + mass * mean**2
        variance = (around + _ANCHOR_WEIGHT * (_ANCHOR_DEVIATION * deviation) ** 2) / (mass + _ANCHOR_WEIGHT)
        return mean, np.maximum(np.sqrt(np.maximum(variance, 0.0)), _SMALLEST_SPREAD)

    def _chain(self, places: Places) -> FloatArray:
        """The transition probabilities: [n, from, to]."""
        seen = self._switches[places] + _TRANSITIONS_SEEN_BEFORE
        chain: FloatArray = seen / seen.sum(axis=2, keepdims=True)
        return chain


def _interpolated(reached: FloatArray, values: FloatArray, last: NDArray[np.int64]) -> FloatArray:
    """As `numpy.interp` at LEVELS, [n, H, L]. reached: [n, H, k], ascending; values: [n, k]; last: [n, 1], the
    last that counts."""
    rows = reached.reshape(-1, reached.shape[-1])
    found = np.stack([row.searchsorted(LEVELS, side="right") for row in rows]).reshape(*reached.shape[:2], len(LEVELS))
    above = np.minimum(found, last[..., None])
    below = np.maximum(above - 1, 0)
    before, after = (np.take_along_axis(reached, index, axis=2) for index in (below, above))
    low, high = (values[np.arange(len(values))[:, None, None], index] for index in (below, above))
    share = np.clip((LEVELS - before) / np.maximum(after - before, np.finfo(np.float64).tiny), 0.0, 1.0)
    between: FloatArray = np.minimum(low + share * (high - low), high)  # rounded, the sum may be larger
    return between
