"""The market's regime: probabilities of calm, trending and volatile, fitted online, from past candles only.

A mixture of three Gaussians over two measures of the newest candles: their height (the average log range) and their
straightness (the efficiency ratio: net move over path length). It is fitted by online expectation-maximisation with
forgetting. The three share one spread, so that no candle calmer than the calm ones can count as volatile; their names
follow from their order. Each starts at, and is held near, a position relative to the market's past, until enough
candles have been seen. Regimes persist: most of each candle's prior is the state of the candle before it.

Volatility is relative to the market's past: if there was only one regime, it is called calm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.domain.regimes import Regime, RegimeProbabilities
from core.forecast.arrays import Arrays, ArrayState, Places
from core.forecast.averages import WeightedMoments
from core.forecast.panel import Panel

RETURNS = 30
"""Candles over which straightness is measured."""
_LARGEST = 4.0
"""Upper bound of a return in multiples of the median one: a single crash is no trend."""
_RANGE_SPAN = 12
_MEMORY = 2000.0
"""Candles after which about a third of a candle's weight is left."""
_KEEP = 1.0 - 1.0 / _MEMORY
_ANCHOR_WEIGHT = 150.0
"""Weight of each component's initial position, in candles."""
_PERSISTENCE = 0.7
_CALM, _TRENDING, _VOLATILE = range(len(Regime))
_HEIGHT, _STRAIGHTNESS = range(2)
_HEIGHT_ANCHORS = np.array([-0.5, 0.2, 2.0])
"""From the mean height, in its standard deviations."""
_STRAIGHTNESS_ANCHORS = np.array([0.18, 0.5, 0.2])
"""A random walk has about 0.2."""
_SPREAD = np.array([0.3, 0.13])
_SMALLEST_SPREAD = np.array([0.15, 0.08])
_SMALLEST_DEVIATION = 0.35
"""Lower bound for the height: in a uniform market a slightly higher candle is not volatile."""
_APART = np.array([0.65, 0.2])
"""Least distances: of volatile from calm candles in height, and of trending ones from both in straightness."""


class RegimeMixture(ArrayState):
    """Owns the fit of each market. `observe` each closed candle once, in order; its result is never revised."""

    _STATE = ("_returns", "_log_close", "_level", "_mass", "_sum", "_square", "_now")

    def __init__(self, markets: int) -> None:
        self._height = WeightedMoments((_RANGE_SPAN,), markets)
        self._returns = np.full((markets, RETURNS), np.nan)
        """The newest last; NaN where there are fewer."""
        self._log_close = np.full(markets, np.nan)
        self._level = np.zeros((markets, 3))
        """Of the heights, with forgetting: weight, sum, sum of squares."""
        self._mass = np.zeros((markets, len(Regime)))
        self._sum = np.zeros((markets, len(Regime), 2))
        self._square = np.zeros((markets, len(Regime), 2))
        self._now = np.full((markets, len(Regime)), 1.0 / len(Regime))

    def observe(
        self, places: Places, log_close: FloatArray, log_range: FloatArray, is_after_gap: NDArray[np.bool_]
    ) -> None:
        """Learn from the next closed candles: [n] each. A move across a hole is no sample of straightness."""
        moved = log_close - self._log_close[places]
        is_move = ~(np.isnan(moved) | is_after_gap)
        moving = places[is_move]
        self._returns[moving] = np.concatenate([self._returns[moving, 1:], moved[is_move, None]], axis=1)
        self._log_close[places] = log_close
        self._height.add(places, log_range[:, None])
        straightness = _efficiency(self._returns[places])
        self._update(places, np.stack([self._height.means(places)[:, 0], straightness], axis=1))

    def fitted(self, places: Places) -> FloatArray:
        """The probabilities at the newest candle of each: [n, regime]; zeros while the initial position of a component
        has more weight than all of the market's candles."""
        is_fitted = self._mass[places].sum(axis=1) >= _ANCHOR_WEIGHT
        return np.where(is_fitted[:, None], self._now[places], 0.0)

    def probabilities(self, market: int) -> RegimeProbabilities:
        """Those at the newest candle; uniform before the first."""
        return RegimeProbabilities(*self._now[market].tolist())

    def state(self, market: int) -> Arrays:
        """What is not known yet is left out of the newest returns and of the close."""
        state, known = super().state(market), ~np.isnan(self._returns[market])
        close = self._log_close[market : market + 1]
        of_past = {"returns": self._returns[market, known], "log_close": close[~np.isnan(close)]}
        return state | of_past | {"height": self._height.state(market)["sums"]}

    def restore(self, state: Arrays, market: int) -> None:
        """Continue this market from what `state` returned."""
        for name in ("_level", "_mass", "_sum", "_square", "_now"):
            getattr(self, name)[market] = state[name.lstrip("_")]
        self._height.restore({"sums": state["height"]}, market)
        returns, close = state["returns"], state["log_close"]
        self._returns[market], self._log_close[market] = np.nan, np.nan
        self._returns[market, RETURNS - returns.size :] = returns
        self._log_close[market : market + close.size] = close

    def _update(self, places: Places, measured: FloatArray) -> None:
        """measured: height and straightness [n, 2]."""
        height = measured[:, _HEIGHT]
        powers = np.stack([np.ones_like(height), height, height * height], axis=1)
        self._level[places] = _KEEP * self._level[places] + powers
        means, spread, weights = self._components(places)
        prior = _PERSISTENCE * self._now[places] + (1.0 - _PERSISTENCE) * weights
        near = -0.5 * (((measured[:, None] - means) / spread[:, None]) ** 2).sum(axis=2)
        now = prior * np.exp(near - near.max(axis=1, keepdims=True))
        now /= now.sum(axis=1, keepdims=True)
        self._now[places] = now
        self._mass[places] = _KEEP * self._mass[places] + now
        self._sum[places] = _KEEP * self._sum[places] + now[:, :, None] * measured[:, None]
        self._square[places] = _KEEP * self._square[places] + now[:, :, None] * measured[:, None] ** 2
        self._reorder(places)

    def _components(self, places: Places) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means [n, 3, 2], the shared spread [n, 2] and the weights [n, 3], from the data and the initial positions."""
        total = self._sum[places]
        mass = self._mass[places] + _ANCHOR_WEIGHT
        means = (total + _ANCHOR_WEIGHT * self._anchors(places)) / mass[:, :, None]
        around = self._square[places] - 2.0 * means * total + self._mass[places][:, :, None] * means**2
        weight = mass.sum(axis=1, keepdims=True)
        variance = (around.sum(axis=1) + mass.shape[1] * _ANCHOR_WEIGHT * _SPREAD**2) / weight
        least = means[:, _CALM, _HEIGHT] + _APART[_HEIGHT]
        means[:, _VOLATILE, _HEIGHT] = np.maximum(means[:, _VOLATILE, _HEIGHT], least)
        others = means[:, [_CALM, _VOLATILE], _STRAIGHTNESS].max(axis=1) + _APART[_STRAIGHTNESS]
        means[:, _TRENDING, _STRAIGHTNESS] = np.maximum(means[:, _TRENDING, _STRAIGHTNESS], others)
        return means, np.maximum(np.sqrt(np.maximum(variance, 0.0)), _SMALLEST_SPREAD), mass / weight

    def _anchors(self, places: Places) -> FloatArray:
        """[n, 3, 2]"""
        weight, first, second = self._level[places].T
        mean = first / weight
        deviation = np.maximum(np.sqrt(np.maximum(second / weight - mean**2, 0.0)), _SMALLEST_DEVIATION)
        heights = mean[:, None] + deviation[:, None] * _HEIGHT_ANCHORS
        return np.stack([heights, np.broadcast_to(_STRAIGHTNESS_ANCHORS, heights.shape)], axis=2)

    def _reorder(self, places: Places) -> None:
        """Name the components: the straightest is trending, the higher of the others volatile."""
        mass = self._mass[places] + _ANCHOR_WEIGHT
        means = (self._sum[places] + _ANCHOR_WEIGHT * self._anchors(places)) / mass[:, :, None]
        trending = means[:, :, _STRAIGHTNESS].argmax(axis=1)
        is_trending = np.arange(len(Regime)) == trending[:, None]
        calm = np.where(is_trending, np.inf, means[:, :, _HEIGHT]).argmin(axis=1)
        order = np.stack([calm, trending, np.arange(len(Regime)).sum() - calm - trending], axis=1)
        for array in (self._mass, self._sum, self._square, self._now):
            array[places] = array[places[:, None], order]


def _efficiency(returns: FloatArray) -> FloatArray:
    """0 to 1: returns [n, RETURNS], NaN where there are fewer, to [n]. With fewer it is scaled to a random walk of the
    full length."""
    is_known = ~np.isnan(returns)
    count = is_known.sum(axis=1)
    sizes = np.sort(np.where(is_known, np.abs(returns), np.inf), axis=1)
    middle = np.stack([np.maximum(count - 1, 0) // 2, count // 2], axis=1).clip(max=RETURNS - 1)
    median = np.take_along_axis(sizes, middle, axis=1).mean(axis=1)
    most = np.where((count > 0) & (median > 0.0), _LARGEST * median, np.inf)[:, None]
    bounded = np.where(is_known, np.clip(returns, -most, most), 0.0)
    travelled = np.abs(bounded).sum(axis=1)
    straight = np.abs(bounded.sum(axis=1)) / np.where(travelled > 0.0, travelled, 1.0)
    efficiency: FloatArray = straight * np.sqrt(count / RETURNS)
    return efficiency


class RegimeWatch:
    """The regime mixtures of a panel. Call `observe` once for each appended candle."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._mixture = RegimeMixture(panel.markets)

    def now(self, market: int) -> RegimeProbabilities:
        """Those at the market's newest candle."""
        return self._mixture.probabilities(market)

    def observe(self, places: Places) -> None:
        """Take the newest candle of each of these markets, and store the fitted regimes in the panel."""
        segment, row = self._panel.column("segment"), self._panel.newest(places)
        is_after_gap = (row > 0) & (segment[places, row] != segment[places, np.maximum(row - 1, 0)])
        log_close, log_range = (self._panel.newest_of(name, places) for name in ("log_close", "log_range"))
        self._mixture.observe(places, log_close, log_range, is_after_gap)
        self._panel.keep_regimes(places, self._mixture.fitted(places))

    def state(self, market: int) -> Arrays:
        """The complete state of a market, to be restored with its past."""
        return self._mixture.state(market)

    def restore(self, state: Arrays, market: int) -> None:
        """Continue a market from what `state` returned, with the matching past."""
        self._mixture.restore(state, market)
