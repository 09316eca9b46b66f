"""Empirical quantiles of the newest residuals of forecasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, SIZE_LEVELS, FloatArray
from core.forecast.arrays import Arrays, ArrayState

_LAST = np.finfo(np.float32).max
"""Placeholder for unknown residuals: sorts after all others."""


class ResidualQuantiles(ArrayState):
    """The newest `window` residuals of each series and horizon, kept as float32.

    is_symmetric: the series [S] whose residuals count with both signs, so that their quantiles are symmetric about 0.
    """

    _STATE = ("_newest", "_seen")

    def __init__(self, is_symmetric: NDArray[np.bool_], horizons: int, window: int) -> None:
        self._is_symmetric = is_symmetric
        self._newest = np.full((is_symmetric.size, horizons, window), _LAST, dtype=np.float32)
        self._seen = np.zeros(horizons, dtype=np.int64)

    @property
    def known(self) -> NDArray[np.int64]:
        """How many residuals each horizon has: [H]."""
        return np.minimum(self._seen, self._newest.shape[-1])

    def add(self, residuals: FloatArray, is_known: NDArray[np.bool_]) -> None:
        """One residual of each series and horizon [S, H], taken where the horizon's is known [H]."""
        horizons = np.flatnonzero(is_known)
        places = self._seen[horizons] % self._newest.shape[-1]
        self._newest[:, horizons, places] = residuals[:, horizons]
        self._seen[horizons] += 1

    def quantiles(self) -> FloatArray:
        """[S, H, L], ascending; undefined for a horizon without residuals."""
        filled = max(int(self.known.max()), 1)
        ordered = self._newest[..., :filled].copy()
        ordered[self._is_symmetric] = np.abs(ordered[self._is_symmetric])
        ordered.sort(axis=-1)
        quantiles = self._at(ordered, LEVELS)
        mirrored = np.sign(LEVELS - 0.5) * self._at(ordered[self._is_symmetric], SIZE_LEVELS)
        quantiles[self._is_symmetric] = mirrored
        return quantiles

    def _at(self, ordered: NDArray[np.float32], levels: FloatArray) -> FloatArray:
        """The quantiles of residuals in ascending order: [S, H, window] to [S, H, L]."""
        last = np.maximum(self.known - 1, 0)[:, None]
        position = levels * last
        below = position.astype(np.int64)
        above = np.minimum(below + 1, last)
        low, high = (np.take_along_axis(ordered, index[None], axis=-1).astype(np.float64) for index in (below, above))
        interpolated: FloatArray = low + (position - below) * (high - low)
        return interpolated

    def restore(self, state: Arrays) -> None:
        super().restore(state)
        self._newest[:, np.arange(self._newest.shape[-1]) >= self.known[:, None]] = _LAST  # 0 in an older checkpoint
