"""A market that is learned alone: its place in each learner, and values with the axis of the market."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Places

ALONE: Places = np.array([0])


def one(value: float | None) -> FloatArray:
    """[1]; NaN for None, which is how learners read a value that does not exist."""
    return np.array([np.nan if value is None else value])


def at_horizon(horizon: int, horizons: int) -> NDArray[np.bool_]:
    """[1, H]: only the outcome of this horizon, counted from 1, is known."""
    is_known: NDArray[np.bool_] = (np.arange(1, horizons + 1) == horizon)[None]
    return is_known
