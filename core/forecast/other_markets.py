"""What a market knows of the others that are learned with it: numbers of the same close, and of nothing later.

Volatility is common to assets, and forecasts of it gain from the others' (Bollerslev, Hood, Huss and Pedersen, 2018).
What these inputs were worth is in docs/how-good.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.forecast.history import FEATURE_LIMIT, History

_RETURN, _RANGE, _VOLUME = 0, 4, 5
"""Columns of `History.features`, each in units of its market: the newest return, range and volume."""


def exchange_numbers(markets: Sequence[History]) -> None:
    """Give each market the means of the others' newest return, range and volume, and its own return less that mean.

    markets: those with a candle at this close. A market without others keeps zeros.
    """
    if len(markets) < 2:
        return
    newest = np.stack([market.features[-1, [_RETURN, _RANGE, _VOLUME]] for market in markets])
    of_others = (newest.sum(axis=0) - newest) / (len(markets) - 1)
    numbers = np.column_stack([of_others, newest[:, 0] - of_others[:, 0]]).clip(-FEATURE_LIMIT, FEATURE_LIMIT)
    for market, row in zip(markets, numbers, strict=True):
        market.keep_numbers_of_others(row)
