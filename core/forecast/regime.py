"""The market's regime: probabilities of calm, trending and volatile, fitted online, from past candles only.

A mixture of three Gaussians over two measures of the newest candles: their height (the average log range) and their
straightness (the efficiency ratio: net move over path length). It is fitted by online expectation-maximisation with
forgetting. The three share one spread, so that no candle calmer than the calm ones can count as volatile; their names
follow from their order. Each starts at, and is held near, a position relative to the market's past, until enough
candles have been seen. Regimes persist: most of each candle's prior is the state of the candle before it.

Volatility is relative to the market's past: if there was only one regime, it is called calm.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from core.domain.quantities import FloatArray
from core.domain.regimes import Regime, RegimeProbabilities
from core.forecast.arrays import Arrays, ArrayState
from core.forecast.averages import WeightedMoments

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
    """Owns the fit. `observe` each closed candle once, in order; its result is never revised."""

    _STATE = ("_level", "_mass", "_sum", "_square", "_now")

    def __init__(self) -> None:
        self._height = WeightedMoments(_RANGE_SPAN)
        self._returns: deque[float] = deque(maxlen=RETURNS)
        self._log_close: float | None = None
        self._level = np.zeros(3)
        """Of the heights, with forgetting: weight, sum, sum of squares."""
        self._mass = np.zeros(len(Regime))
        self._sum = np.zeros((len(Regime), 2))
        self._square = np.zeros((len(Regime), 2))
        self._now = np.full(len(Regime), 1.0 / len(Regime))

    def observe(self, log_close: float, log_range: float, is_after_gap: bool) -> None:
        """Take the next closed candle. A move across a hole is no sample of straightness."""
        if self._log_close is not None and not is_after_gap:
            self._returns.append(log_close - self._log_close)
        self._log_close = log_close
        self._height.add(log_range)
        self._take(np.array([self._height.mean, self._efficiency()]))

    @property
    def probabilities(self) -> RegimeProbabilities:
        """As of the newest candle; uniform before the first."""
        return RegimeProbabilities(*(float(value) for value in self._now))

    def state(self) -> Arrays:
        close = [] if self._log_close is None else [self._log_close]
        return super().state() | {
            "height": self._height.state(),
            "returns": np.array(self._returns, dtype=np.float64),
            "log_close": np.array(close, dtype=np.float64),
        }

    def restore(self, state: Arrays) -> None:
        super().restore(state)
        self._height.restore(state["height"].astype(np.float64))
        self._returns = deque((float(value) for value in state["returns"]), maxlen=RETURNS)
        close = state["log_close"]
        self._log_close = float(close[0]) if close.size else None

    def _efficiency(self) -> float:
        """0 to 1. With fewer returns than usual it is scaled to a random walk of the full length."""
        returns = np.array(self._returns)
        most = _LARGEST * float(np.median(np.abs(returns))) if returns.size else 0.0
        if most > 0.0:
            returns = returns.clip(-most, most)
        travelled = float(np.abs(returns).sum())
        if travelled == 0.0:
            return 0.0
        return abs(float(returns.sum())) / travelled * float(np.sqrt(returns.size / RETURNS))

    def _take(self, measured: FloatArray) -> None:
        height = float(measured[_HEIGHT])
        self._level = _KEEP * self._level + np.array([1.0, height, height * height])
        means, spread, weights = self._components()
        prior = _PERSISTENCE * self._now + (1.0 - _PERSISTENCE) * weights
        near = -0.5 * (((measured - means) / spread) ** 2).sum(axis=1)
        now = prior * np.exp(near - near.max())
        self._now = now / now.sum()
        self._mass = _KEEP * self._mass + self._now
        self._sum = _KEEP * self._sum + self._now[:, None] * measured
        self._square = _KEEP * self._square + self._now[:, None] * measured**2
        self._put_in_order()

    def _components(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means [3, 2], the shared spread [2] and the weights [3], from the data and the initial positions."""
        anchors = self._anchors()
        mass = self._mass + _ANCHOR_WEIGHT
        means = (self._sum + _ANCHOR_WEIGHT * anchors) / mass[:, None]
        around = self._square - 2.0 * means * self._sum + self._mass[:, None] * means**2
        variance = (around.sum(axis=0) + mass.size * _ANCHOR_WEIGHT * _SPREAD**2) / mass.sum()
        means[_VOLATILE, _HEIGHT] = max(means[_VOLATILE, _HEIGHT], means[_CALM, _HEIGHT] + _APART[_HEIGHT])
        others = means[[_CALM, _VOLATILE], _STRAIGHTNESS].max()
        means[_TRENDING, _STRAIGHTNESS] = max(means[_TRENDING, _STRAIGHTNESS], others + _APART[_STRAIGHTNESS])
        return means, np.maximum(np.sqrt(np.maximum(variance, 0.0)), _SMALLEST_SPREAD), mass / mass.sum()

    def _anchors(self) -> FloatArray:
        weight, first, second = self._level
        mean = first / weight
        deviation = max(float(np.sqrt(max(second / weight - mean**2, 0.0))), _SMALLEST_DEVIATION)
        return np.stack([mean + deviation * _HEIGHT_ANCHORS, _STRAIGHTNESS_ANCHORS], axis=1)

    def _put_in_order(self) -> None:
        """Name the components: the straightest is trending, the higher of the others volatile."""
        means = (self._sum + _ANCHOR_WEIGHT * self._anchors()) / (self._mass + _ANCHOR_WEIGHT)[:, None]
        trending = int(means[:, _STRAIGHTNESS].argmax())
        calm, volatile = sorted((row for row in range(len(Regime)) if row != trending), key=lambda row: means[row, 0])
        order = [calm, trending, volatile]
        if order != [_CALM, _TRENDING, _VOLATILE]:
            self._mass, self._sum, self._square = self._mass[order], self._sum[order], self._square[order]
            self._now = self._now[order]
