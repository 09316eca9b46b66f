"""What a market knows of the others that are learned with it: numbers of the same close, and of nothing later.

Volatility is common to assets, and forecasts of it gain from the others' (Bollerslev, Hood, Huss and Pedersen, 2018).
docs/research/results.md has the gain from learning together, and from these numbers alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, ArrayState, Places
from core.forecast.panel import FEATURE_LIMIT, Panel

MOST_LEADERS = 16
_RETURN, _RANGE, _VOLUME = 0, 4, 5
"""Columns of `Panel.features`, each in units of its market: the newest return, range and volume."""
_KEEP = 0.9995
_CLEARLY = 1.5


def exchange_numbers(panel: Panel, places: Places) -> FloatArray:
    """Give each of these markets, which have a candle at this close, the means of the others' newest return, range and
    volume, and its own return less that mean.

    Returns the newest returns of the others: [n, markets - 1], each in units of that market's volatility; 0 of one
    without a candle at this close. A market without others keeps zeros.
    """
    newest = panel.features(places, panel.newest(places))[:, [_RETURN, _RANGE, _VOLUME]]
    if len(places) > 1:
        of_others = (newest.sum(axis=0) - newest) / (len(places) - 1)
        numbers = np.column_stack([of_others, newest[:, 0] - of_others[:, 0]])
        panel.keep_numbers_of_others(places, numbers.clip(-FEATURE_LIMIT, FEATURE_LIMIT))
    returns = np.zeros(panel.markets)
    returns[places] = newest[:, 0]
    others = np.arange(panel.markets - 1)
    return returns[others + (others >= places[:, None])]


class Leaders(ArrayState):
    """Which other markets each market's regression of returns reads, each in a fixed place: all of them, or the
    `MOST_LEADERS` whose returns tell most of its next one."""

    _STATE = ("_chosen", "_score", "_before")

    def __init__(self, markets: int) -> None:
        self._chosen = np.tile(np.arange(MOST_LEADERS), (markets, 1))
        """The other market at each place; one that does not exist has no return."""
        self._score = np.zeros((markets, markets - 1))
        """Of each other market: the sum of its returns times this market's next ones; old ones fade."""
        self._before = np.zeros((markets, markets - 1))
        """The others' returns one candle ago."""
        self._is_new = np.ones(markets, dtype=np.bool_)
        """Whether nothing is known of the others yet."""

    def observe(self, places: Places, own_return: FloatArray, of_others: FloatArray) -> NDArray[np.bool_]:
        """Take the newest returns: own_return [n], of_others [n, markets - 1]. Returns which of the chosen places have
        another market from now on: [n, MOST_LEADERS]."""
        is_new = self._is_new[places]
        score = _KEEP * self._score[places] + own_return[:, None] * self._before[places]
        self._score[places] = np.where(is_new[:, None], 0.0, score)
        self._before[places], self._is_new[places] = of_others, False
        replaced = np.repeat(is_new[:, None], MOST_LEADERS, axis=1)
        if of_others.shape[1] > MOST_LEADERS:
            self._replace(places[~is_new], np.flatnonzero(~is_new), replaced)
        return replaced

    def _replace(self, places: Places, rows: NDArray[np.int64], replaced: NDArray[np.bool_]) -> None:
        """Replace the least of the chosen markets by the best of the others, if that is clearly better."""
        worth, chosen = np.abs(self._score[places]), self._chosen[places]
        of_chosen = np.take_along_axis(worth, chosen, axis=1)
        least = of_chosen.argmin(axis=1)
        np.put_along_axis(worth, chosen, 0.0, axis=1)
        best = worth.argmax(axis=1)
        is_better = worth.max(axis=1) > _CLEARLY * of_chosen.min(axis=1)
        self._chosen[places[is_better], least[is_better]] = best[is_better]
        replaced[rows[is_better], least[is_better]] = True

    def returns(self, places: Places, of_others: FloatArray) -> FloatArray:
        """The newest returns of the chosen markets: [n, MOST_LEADERS], 0 at a place without a market."""
        padded = np.zeros((len(places), max(of_others.shape[1], MOST_LEADERS)))
        padded[:, : of_others.shape[1]] = of_others
        return np.take_along_axis(padded, self._chosen[places], axis=1)

    def forget(self, market: int) -> None:
        """The others are other markets from now on."""
        self._chosen[market], self._is_new[market] = np.arange(MOST_LEADERS), True

    def restore(self, state: Arrays, market: int) -> None:
        """A state of another number of markets is of others."""
        self.forget(market)
        if state["score"].shape == self._score[market].shape:
            super().restore(state, market)
            self._is_new[market] = False
