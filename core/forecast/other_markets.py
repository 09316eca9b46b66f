"""What a market knows of the others that are learned with it: numbers of the same close, and of nothing later.

Volatility is common to assets, and forecasts of it gain from the others' (Bollerslev, Hood, Huss and Pedersen, 2018).
docs/how-good.md has the gain from learning together, and from these numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, ArrayState
from core.forecast.history import FEATURE_LIMIT, History

MOST_LEADERS = 16
_RETURN, _RANGE, _VOLUME = 0, 4, 5
"""Columns of `History.features`, each in units of its market: the newest return, range and volume."""
_KEEP = 0.9995
_CLEARLY = 1.5
_NO_PLACE = np.zeros(0, dtype=np.int64)


def exchange_numbers(markets: Sequence[History | None]) -> None:
    """Give each market the means of the others' newest return, range and volume, its own return less that mean, and the
    newest return of each other.

    markets: all that are learned together, None in place of one without a candle at this close. A market without others
    keeps zeros.
    """
    if len(markets) < 2:
        return
    with_candle = [market for market in markets if market is not None]
    newest = np.stack([market.features[-1, [_RETURN, _RANGE, _VOLUME]] for market in with_candle])
    of_others = (newest.sum(axis=0) - newest) / max(len(with_candle) - 1, 1)
    numbers = np.column_stack([of_others, newest[:, 0] - of_others[:, 0]]).clip(-FEATURE_LIMIT, FEATURE_LIMIT)
    if len(with_candle) == 1:
        numbers[:] = 0.0
    places = np.flatnonzero([market is not None for market in markets])
    returns = np.zeros(len(markets))
    returns[places] = newest[:, 0]
    for place, market, row in zip(places.tolist(), with_candle, numbers, strict=True):
        market.keep_numbers_of_others(row, np.delete(returns, place))


class Leaders(ArrayState):
    """Which other markets a market's regression of returns reads, each in a fixed place: all of them, or the
    `MOST_LEADERS` whose returns tell most of its next one."""

    _STATE = ("_chosen", "_score", "_before")

    def __init__(self) -> None:
        self._chosen = np.arange(MOST_LEADERS)
        """The other market at each place; one that does not exist has no return."""
        self._score = np.zeros(0)
        """Of each other market: the sum of its returns times this market's next ones; old ones fade."""
        self._before = np.zeros(0)
        """The others' returns one candle ago."""

    def observe(self, own_return: float, of_others: FloatArray) -> NDArray[np.int64]:
        """Take the newest returns. Returns the places that have another market from now on; all of them if the number
        of markets has changed."""
        if self._score.size != of_others.size:
            self._chosen = np.arange(MOST_LEADERS)
            self._score, self._before = np.zeros(of_others.size), of_others
            return self._chosen
        self._score = _KEEP * self._score + own_return * self._before
        self._before = of_others
        return self._replaced() if of_others.size > MOST_LEADERS else _NO_PLACE

    def _replaced(self) -> NDArray[np.int64]:
        """Replace the least of the chosen markets by the best of the others, if that is clearly better."""
        worth = np.abs(self._score)
        least = worth[self._chosen].argmin()
        worth_of_least = worth[self._chosen[least]]
        worth[self._chosen] = 0.0
        best = worth.argmax()
        if worth[best] <= _CLEARLY * worth_of_least:
            return _NO_PLACE
        self._chosen[least] = best
        return np.array([least])

    def returns(self, of_others: FloatArray) -> FloatArray:
        """The newest returns of the chosen markets: [MOST_LEADERS], 0 at a place without a market."""
        padded = np.zeros(max(of_others.size, MOST_LEADERS))
        padded[: of_others.size] = of_others
        chosen: FloatArray = padded[self._chosen]
        return chosen

    def restore(self, state: Arrays) -> None:
        """Two of the arrays are as long as there were other markets."""
        self._chosen = state["chosen"].astype(np.int64)
        self._score, self._before = state["score"].astype(np.float64), state["before"].astype(np.float64)
