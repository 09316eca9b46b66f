"""Simulated markets whose regime is known at every candle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain.candle import Candle
from core.domain.regimes import Regime
from core.forecast.history import History
from tests.support.candles import MINUTE, START_MS

_STEPS = 20
"""Of the walk within a candle, so that its range is a real one."""
_DRIFT_AND_VOLATILITY = {
    Regime.CALM: (0.0, 1e-3),
    Regime.TRENDING: (1.2e-3, 1.2e-3),
    Regime.VOLATILE: (0.0, 5e-3),
}


def market(regimes: Sequence[Regime], seed: int) -> list[Candle]:
    """One candle of each of these regimes, in order, each opening where the one before closed."""
    generator = np.random.default_rng(seed)
    candles, price = [], 100.0
    for row, regime in enumerate(regimes):
        drift, volatility = _DRIFT_AND_VOLATILITY[regime]
        steps = drift / _STEPS + generator.normal(0.0, volatility / np.sqrt(_STEPS), _STEPS)
        path = price * np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
        numbers = (price, path.max(), path.min(), path[-1], generator.gamma(2.0, 10.0))
        candles.append(Candle(START_MS + row * MINUTE.duration_ms, *(float(number) for number in numbers)))
        price = candles[-1].close
    return candles


def stretches(*regimes: Regime, length: int) -> list[Regime]:
    """Each of them for so many candles."""
    return [regime for regime in regimes for _ in range(length)]


def history(capacity: int = 4000) -> History:
    return History.alone(MINUTE, capacity, 3)
