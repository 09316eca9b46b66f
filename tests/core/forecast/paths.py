"""Sample paths of a random walk, and the quantiles that they are drawn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray, Quantity
from core.forecast.paths import Paths, sample_paths
from tests.support.candles import MINUTE, START_MS

HORIZONS = 8


def past(count: int, memory: float = 0.0, seed: int = 1) -> tuple[NDArray[np.int64], FloatArray]:
    """Opening times and prices of candles; each close moves on by `memory` of the move before."""
    generator = np.random.default_rng(seed)
    moves = generator.normal(0.0, 1e-3, count)
    for place in range(1, count):
        moves[place] += memory * moves[place - 1]
    close = np.cumsum(moves)
    opening = np.concatenate([[0.0], close[:-1]])
    high = np.maximum(opening, close) + generator.exponential(3e-4, count)
    low = np.minimum(opening, close) - generator.exponential(3e-4, count)
    times = START_MS + MINUTE.duration_ms * np.arange(count)
    return times, 100.0 * np.exp(np.stack([opening, high, low, close]))


def spread_quantiles() -> FloatArray:
    """Of a market that moves by about 0.1 % a candle, as wide as it is."""
    scores = np.array([-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645])
    natural = np.zeros((HORIZONS, QUANTITIES, len(LEVELS)))
    root = np.sqrt(np.arange(1, HORIZONS + 1))[:, None]
    natural[:, Quantity.CLOSE] = 1e-3 * root * scores
    natural[:, Quantity.UPPER_WICK] = natural[:, Quantity.LOWER_WICK] = -3e-4 * np.log(1.0 - LEVELS)
    natural[:, Quantity.RANGE] = np.log(1.5e-3) + 0.4 * scores
    return natural


def drawn(natural: FloatArray | None = None, *, count: int = 1200, memory: float = 0.0) -> Paths:
    found = sample_paths(spread_quantiles() if natural is None else natural, *past(count, memory), MINUTE)
    assert found is not None
    return found
