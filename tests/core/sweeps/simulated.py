"""Sweeps over simulated random walks: the losses of settings that are equally good, or of which one is better."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from core.domain.quantities import LEVELS, FloatArray
from core.forecast.score import pinball
from core.sweeps.rows import LossSeries

SETTINGS, MARKETS, SEEDS = 12, 2, 2
Part = dict[int, list[LossSeries]]
_NORMAL = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
_MINUTE_MS = 60_000
_START_MS = 1_700_000_000_000


def labels(settings: int = SETTINGS) -> dict[int, str]:
    return {number: "default" if number == 0 else f"setting {number}" for number in range(settings)}


def sweep(seed: int, candles: int = 2_000, better: int | None = None, advantage: float = 0.0) -> tuple[Part, Part]:
    """The series of both parts by configuration, each of so many candles. Without `better` the losses of all settings
    have one distribution.

    Prices are random walks with clustered volatility and fat tails, partly common to the markets. Each forecast knows
    the volatility except for an error with a memory; most of the error is common to all settings, some of it to both
    seeds of a setting. `advantage` makes the error of the better setting smaller by this share.
    """
    generator = np.random.default_rng(seed)
    n = 2 * candles
    volatility, returns = _market(generator, n)
    errors, biases = (_errors(generator, n) for _ in range(2))
    if better is not None:
        errors[better] *= 1.0 - advantage
        biases[better] *= 1.0 - advantage
    times = _START_MS + _MINUTE_MS * np.arange(n)
    first: Part = {setting: [] for setting in range(SETTINGS)}
    second: Part = {setting: [] for setting in range(SETTINGS)}
    for cell, (setting, market, one) in enumerate(np.ndindex(SETTINGS, MARKETS, SEEDS)):
        width = volatility[market] * np.exp(0.25 * errors[setting, market, one])
        close = _loss(returns[market], width, 0.05 * volatility[market] * biases[setting, market, one])
        size = np.log(np.abs(returns[market]) + 1e-3)
        spread = _loss(size, np.ones(n), 0.3 * errors[setting, market, one] + np.log(volatility[market]) - 0.5)
        no_change = _loss(returns[market], volatility[market] * 1.3, np.zeros(n))
        reference = _loss(size, np.full(n, 1.4), np.log(volatility[market]))
        losses = np.stack([close, spread, no_change, reference]).astype(np.float32)
        for part, rows in ((first, slice(0, candles)), (second, slice(candles, n))):
            part[setting].append(LossSeries(cell, f"market {market}", one, times[rows], *losses[:, rows]))
    return first, second


def _market(generator: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Volatility and returns: [market, n]. The logarithm of volatility is an autoregression."""
    shocks = autoregression(generator.standard_normal((MARKETS + 1, n)), 0.98)
    volatility = np.exp(0.4 * (np.sqrt(0.7) * shocks[:1] + np.sqrt(0.3) * shocks[1:]))
    draws = generator.standard_t(5, (MARKETS + 1, n)) / np.sqrt(5.0 / 3.0)
    return volatility, volatility * (np.sqrt(0.6) * draws[:1] + np.sqrt(0.4) * draws[1:])


def _errors(generator: np.random.Generator, n: int) -> FloatArray:
    """[setting, market, seed, n], of deviation 1, autocorrelated."""
    shapes = ((1, MARKETS, 1, n), (SETTINGS, MARKETS, 1, n), (SETTINGS, MARKETS, SEEDS, n))
    parts = (
        np.sqrt(share) * generator.standard_normal(shape) for share, shape in zip((0.7, 0.2, 0.1), shapes, strict=True)
    )
    return autoregression(sum(parts, np.zeros(shapes[-1])), 0.9)


def autoregression(shocks: FloatArray, memory: float) -> FloatArray:
    """An autoregression of deviation 1 along the last axis, from its stationary state."""
    values = shocks.copy()
    for row in range(1, shocks.shape[-1]):
        values[..., row] = memory * values[..., row - 1] + np.sqrt(1.0 - memory**2) * shocks[..., row]
    return values


def _loss(outcome: FloatArray, width: FloatArray, centre: FloatArray) -> FloatArray:
    return pinball(outcome, centre[:, None] + width[:, None] * _NORMAL)
