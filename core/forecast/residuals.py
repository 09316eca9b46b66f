"""Empirical quantiles of the newest residuals of forecasts, of many markets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, SIZE_LEVELS, FloatArray
from core.forecast.arrays import Arrays, ArrayState, Places, replace_in_order

_LAST = np.finfo(np.float32).max
"""Placeholder for unknown residuals: sorts after all others."""


class ResidualQuantiles(ArrayState):
    """The newest `window` residuals of each series and horizon, kept as float32: as they came, and in order.

    is_symmetric: the series [S] whose residuals count with both signs, so that their quantiles are symmetric about 0.
    """

    _STATE = ("_newest", "_seen")

    def __init__(self, is_symmetric: NDArray[np.bool_], horizons: int, window: int, markets: int) -> None:
        self._is_symmetric = is_symmetric
        self._newest = np.full((markets, horizons, is_symmetric.size, window), _LAST, dtype=np.float32)
        self._ordered = self._newest.copy()
        """The same, or the absolute ones of a symmetric series, in ascending order."""
        self._seen = np.zeros((markets, horizons), dtype=np.int64)

    def known(self, places: Places) -> NDArray[np.int64]:
        """How many residuals each horizon has: [n, H]."""
        return np.minimum(self._seen[places], self._newest.shape[-1])

    def add(self, places: Places, residuals: FloatArray, is_known: NDArray[np.bool_]) -> None:
        """One residual of each horizon and series [n, H, S], taken where the horizon's is known [n, H]."""
        market, horizon = np.nonzero(is_known)
        at = places[market], horizon
        slot = self._seen[at] % self._newest.shape[-1]
        new = residuals[market, horizon].astype(np.float32)
        old = self._newest[*at, :, slot]
        self._newest[*at, :, slot] = new
        self._seen[at] += 1
        replaced = np.zeros((2, *residuals.shape), dtype=np.float32)
        replaced[:, market, horizon] = self._sizes(np.stack([old, new]))
        for row in np.flatnonzero(is_known.any(axis=1)):
            self._reorder(places[row], is_known[row], *replaced[:, row])

    def _reorder(
        self, place: np.int64, is_known: NDArray[np.bool_], old: NDArray[np.float32], new: NDArray[np.float32]
    ) -> None:
        """Of one market, in place if it can: all markets at once would be copied, 512 kB each. old, new: [H, S]."""
        filled = int(min(self._seen[place, is_known].max(), self._newest.shape[-1]))
        ordered = self._ordered[place, :, :, :filled]
        if is_known.all():
            replace_in_order(ordered, old, new)
            return
        some = ordered[is_known]
        replace_in_order(some, old[is_known], new[is_known])
        ordered[is_known] = some

    def _sizes(self, residuals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Residuals as they are ordered: [..., S]."""
        return np.where(self._is_symmetric, np.abs(residuals), residuals)

    def quantiles(self, places: Places) -> FloatArray:
        """[n, H, S, L], ascending; undefined for a horizon without residuals."""
        is_symmetric = self._is_symmetric[:, None]
        levels = np.where(is_symmetric, SIZE_LEVELS, LEVELS)
        position = levels * np.maximum(self.known(places) - 1, 0)[..., None, None]
        below = position.astype(np.int64)
        above = np.minimum(below + 1, np.maximum(self.known(places) - 1, 0)[..., None, None])
        low, high = (self._at(places, index) for index in (below, above))
        quantiles: FloatArray = low + (position - below) * (high - low)
        return np.where(is_symmetric, np.sign(LEVELS - 0.5) * quantiles, quantiles)

    def _at(self, places: Places, index: NDArray[np.int64]) -> FloatArray:
        """The residuals at these places of the order: [n, H, S, L]."""
        _, horizons, series, _ = self._ordered.shape
        market = places[:, None, None, None]
        horizon, of = np.arange(horizons)[:, None, None], np.arange(series)[:, None]
        return self._ordered[market, horizon, of, index].astype(np.float64)

    def restore(self, state: Arrays, market: int) -> None:
        super().restore(state, market)
        self._ordered[market] = np.sort(np.moveaxis(self._sizes(np.moveaxis(self._newest[market], 1, 2)), 2, 1))
