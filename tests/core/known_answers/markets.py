"""Simulated markets whose best forecast is known: candles, and the true conditional quantiles of each of them.

Every candle opens where the one before it closed. Its return is `mean + deviation * e`, its two wicks are
`WICK * deviation * |w|`, with e and w standard normal and independent; so the range is the deviation times a number
whose distribution is always the same (where the mean is zero), and what can be known of a candle before it comes is its
mean, its deviation and its usual volume. The markets differ in how those follow from the past.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.quantities import LEVELS, FloatArray, Quantity
from tests.support.candles import START_MS

INTERVAL = Interval.parse("15m")
CANDLES_OF_A_DAY = 96
WICK = 0.5
DEVIATION = 2e-3
NORMAL: FloatArray = np.array([NormalDist().inv_cdf(level) for level in LEVELS.tolist()])
"""The quantiles of the standard normal distribution at all levels."""
_GRID = np.linspace(1e-4, 12.0, 24_000)


@dataclass(frozen=True, eq=False)
class KnownMarket:
    """n candles, each with its best forecast, made one candle before.

    outcome: [n], natural units. best: [n, L], the true quantiles of the outcome, given all candles before.
    """

    candles: list[Candle]
    quantity: Quantity
    outcome: FloatArray
    best: FloatArray


@dataclass(frozen=True, eq=False)
class _Draws:
    """Standard normal numbers of n candles."""

    returns: FloatArray
    wicks: FloatArray
    """[2, n], absolute"""
    volumes: FloatArray


def _draws(count: int, seed: int) -> tuple[_Draws, np.random.Generator]:
    generator = np.random.default_rng(seed)
    wicks = np.abs(generator.normal(size=(2, count)))
    return _Draws(generator.normal(size=count), wicks, generator.normal(size=count)), generator


def random_walk(count: int, seed: int) -> KnownMarket:
    """Only the deviation is predictable; it is constant."""
    return around(np.zeros(count), DEVIATION, seed)


def around(means: FloatArray, deviation: float, seed: int) -> KnownMarket:
    """Of each return its mean is known, and the constant deviation. means: [n]."""
    draws, _ = _draws(means.size, seed)
    returns = means + deviation * draws.returns
    candles = _candles(returns, deviation * WICK * draws.wicks, _steady(draws))
    return KnownMarket(candles, Quantity.CLOSE, returns, means[:, None] + deviation * NORMAL)


def autoregressive(count: int, seed: int, share: float = 0.4) -> KnownMarket:
    """AR(1): `share` of each return repeats in the next candle."""
    draws, _ = _draws(count, seed)
    means, returns = np.zeros(count), np.zeros(count)
    for row in range(count):
        means[row] = share * returns[row - 1] if row else 0.0
        returns[row] = means[row] + DEVIATION * draws.returns[row]
    best = means[:, None] + DEVIATION * NORMAL
    return KnownMarket(_candles(returns, DEVIATION * WICK * draws.wicks, _steady(draws)), Quantity.CLOSE, returns, best)


def leveraged_garch(count: int, seed: int, course: tuple[float, float, float] = (0.05, 0.2, 0.8)) -> KnownMarket:
    """GARCH(1,1) in which falls raise the volatility more than rises (Glosten, Jagannathan and Runkle, 1993).

    course: what a rise adds to the next variance, what a fall adds beside, and what stays of the last variance.
    """
    draws, _ = _draws(count, seed)
    rise, fall, keep = course
    base = 1.0 - rise - 0.5 * fall - keep
    variances, returns = np.ones(count), np.zeros(count)
    for row in range(count):
        if row:
            before = returns[row - 1]
            variances[row] = base + (rise + fall * (before < 0.0)) * before**2 + keep * variances[row - 1]
        returns[row] = math.sqrt(variances[row]) * draws.returns[row]
    deviations = DEVIATION * np.sqrt(variances)
    wicks = deviations * WICK * draws.wicks
    best = np.log(deviations)[:, None] + np.interp(LEVELS, *_LOG_RANGE)
    return _of_range(_candles(DEVIATION * returns, wicks, _steady(draws)), DEVIATION * returns, wicks, best)


def switching(count: int, seed: int) -> KnownMarket:
    """Two regimes, calm and wild, each of which lasts `1 / LEAVE` candles in the mean."""
    draws, generator = _draws(count, seed)
    is_wild = np.logical_xor.accumulate(generator.random(count) < LEAVE)
    deviations = DEVIATION * np.where(is_wild, WILD, 1.0)
    returns, wicks = deviations * draws.returns, deviations * WICK * draws.wicks
    wild = _filtered(returns, wicks)
    best = math.log(DEVIATION) + _mixture_quantiles(wild)
    return _of_range(_candles(returns, wicks, _steady(draws)), returns, wicks, best)


def seasonal_volume(count: int, seed: int) -> KnownMarket:
    """The volume has a daily pattern; all else is a random walk."""
    draws, _ = _draws(count, seed)
    angle = 2.0 * np.pi * np.arange(count) / CANDLES_OF_A_DAY
    usual = math.log(50.0) + 0.7 * np.sin(angle) + 0.4 * np.cos(2.0 * angle)
    volumes = usual + NOISE_OF_VOLUME * draws.volumes
    returns = DEVIATION * draws.returns
    candles = _candles(returns, DEVIATION * WICK * draws.wicks, np.exp(volumes))
    return KnownMarket(candles, Quantity.VOLUME, volumes, usual[:, None] + NOISE_OF_VOLUME * NORMAL)


def volume_turns(count: int, seed: int) -> KnownMarket:
    """After a candle of high volume the return continues, after one of low volume it reverses; high and low are random.

    No rule without the volume's product with the return knows anything: whatever the returns were, the next one rises
    as often as it falls, and its size never changes.
    """
    draws, _ = _draws(count, seed)
    sides = np.where(draws.volumes > 0.0, 1.0, -1.0)
    means, returns = np.zeros(count), np.zeros(count)
    for row in range(count):
        means[row] = DEVIATION * TURN * sides[row - 1] * np.sign(returns[row - 1]) if row else 0.0
        returns[row] = means[row] + DEVIATION * draws.returns[row]
    candles = _candles(returns, DEVIATION * WICK * draws.wicks, np.exp(math.log(50.0) + sides))
    return KnownMarket(candles, Quantity.CLOSE, returns, means[:, None] + DEVIATION * NORMAL)


def wick_warns(count: int, seed: int) -> KnownMarket:
    """After a candle whose upper wick is the longer one, the next is large, else small. Which one is longer is random.

    The sum of the two wicks says nothing of which is longer, so ranges, returns and volumes of the past say nothing.
    """
    draws, _ = _draws(count, seed)
    is_large = np.concatenate([[False], (draws.wicks[0] > draws.wicks[1])[:-1]])
    deviations = DEVIATION * np.where(is_large, LARGE, 1.0)
    returns, wicks = deviations * draws.returns, deviations * WICK * draws.wicks
    best = np.log(deviations)[:, None] + np.interp(LEVELS, *_LOG_RANGE)
    return _of_range(_candles(returns, wicks, _steady(draws)), returns, wicks, best)


SHORT_GARCH = (0.0, 1.2, 0.1)
"""Almost only the last fall counts."""
WILD = 6.0
LEAVE = 0.02
NOISE_OF_VOLUME = 0.4
TURN = 1.0
"""What is known of the next return, in deviations."""
LARGE = 3.0
MARKETS: dict[str, Callable[[int, int], KnownMarket]] = {
    "AR(1)": autoregressive,
    "GARCH with leverage": leveraged_garch,
    "GARCH of the last fall": partial(leveraged_garch, course=SHORT_GARCH),
    "regime switch": switching,
    "seasonal volume": seasonal_volume,
}
FOR_THE_MODEL: dict[str, Callable[[int, int], KnownMarket]] = {
    "volume turns": volume_turns,
    "wick warns": wick_warns,
}
"""The markets that no baseline can forecast."""


def _of_range(candles: list[Candle], returns: FloatArray, wicks: FloatArray, best: FloatArray) -> KnownMarket:
    return KnownMarket(candles, Quantity.RANGE, np.log(np.abs(returns) + wicks.sum(axis=0)), best)


def _candles(returns: FloatArray, wicks: FloatArray, volumes: FloatArray) -> list[Candle]:
    """returns, volumes: [n]; wicks: [2, n], upper and lower. Prices in logarithms add up."""
    closes = math.log(100.0) + np.cumsum(returns)
    opens = closes - returns
    high, low = np.maximum(opens, closes) + wicks[0], np.minimum(opens, closes) - wicks[1]
    rows = np.stack([np.exp(opens), np.exp(high), np.exp(low), np.exp(closes), volumes], axis=1).tolist()
    # An open is the close before it, to the bit: that is what the next candle is made of.
    return [Candle(START_MS + place * INTERVAL.duration_ms, *row) for place, row in enumerate(rows)]


def _steady(draws: _Draws) -> FloatArray:
    steady: FloatArray = np.exp(math.log(50.0) + 0.3 * draws.volumes)
    return steady


def _unit_range() -> FloatArray:
    """The distribution function on `_GRID` of |e| + WICK (|w| + |w'|): folded normals, convolved."""
    step = _GRID[1] - _GRID[0]
    edges = np.arange(0.0, 13.0, step)

    def masses(deviation: float) -> FloatArray:
        return np.diff([math.erf(edge / (deviation * math.sqrt(2.0))) for edge in edges.tolist()])

    # Three distributions in one, by their Fourier transforms: a thousand times as fast as one after the other.
    size = 3 * edges.size
    total = np.fft.irfft(np.fft.rfft(masses(1.0), size) * np.fft.rfft(masses(WICK), size) ** 2, size)
    # Each mass is at the middle of its step, so three of them together cover a step and a half more.
    places = (np.arange(total.size) + 1.5) * step
    cumulated = np.cumsum(total) - 0.5 * total
    known: FloatArray = np.interp(_GRID, places, cumulated)
    return known


_UNIT_RANGE = _unit_range()
_LOG_RANGE = (_UNIT_RANGE, np.log(_GRID))
"""Probability, and log range at a deviation of 1."""


def _filtered(returns: FloatArray, wicks: FloatArray) -> FloatArray:
    """How likely the wild regime is for each candle, given all before it: [n] (Hamilton, 1989)."""
    energy = (returns / DEVIATION) ** 2 + ((wicks / (WICK * DEVIATION)) ** 2).sum(axis=0)
    wild, known = 0.5, np.empty(returns.size)
    for row in range(returns.size):
        known[row] = wild
        # Three normal numbers, each with the regime's deviation.
        ratio = WILD**-3 * math.exp(0.5 * energy[row] * (1.0 - WILD**-2))
        seen = wild * ratio / (wild * ratio + 1.0 - wild)
        wild = seen * (1.0 - LEAVE) + (1.0 - seen) * LEAVE
    return known


def _mixture_quantiles(wild: FloatArray) -> FloatArray:
    """Of the log range at a deviation of 1 in the calm regime: [n, L], by bisection."""
    low = np.full((wild.size, len(LEVELS)), math.log(_GRID[0]))
    high = np.full_like(low, math.log(_GRID[-1]) + math.log(WILD))
    for _ in range(60):
        middle = 0.5 * (low + high)
        calm = np.interp(np.exp(middle), _GRID, _UNIT_RANGE)
        stirred = np.interp(np.exp(middle) / WILD, _GRID, _UNIT_RANGE)
        is_below = wild[:, None] * stirred + (1.0 - wild[:, None]) * calm < LEVELS
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high
