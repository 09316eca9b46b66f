"""Intervals valid at every moment: over simulated weeks with and without an edge."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from core.domain.events import Estimate
from core.domain.quantities import LEVELS, FloatArray
from core.forecast.confidence import mean_sequence, proven_after, ratio_sequence, skill_sequence
from core.forecast.sample_sizes import BLOCK, FEWEST_FOR_A_PROOF
from core.forecast.score import pinball, skill

WEEKS, MINUTES = 200, 7 * 24 * 60
NORMAL = np.array([NormalDist().inv_cdf(level) for level in LEVELS])


def weeks(memory: float, advantage: float = 0.0, seed: int = 1) -> tuple[FloatArray, FloatArray]:
    """Losses of a forecast and of a reference over simulated weeks of one-minute candles: [week, minute] each.

    Returns are GARCH with fat tails, so volatility is clustered. Each forecast knows it except for an independent error
    with the same distribution and this memory. `advantage` reduces the error of one; at 0 neither is better.
    """
    print(f"seed {seed}")
    generator = np.random.default_rng(seed)
    variance, errors = np.ones(WEEKS), np.zeros((2, WEEKS))
    returns = generator.standard_t(5, (MINUTES, WEEKS))
    returns /= np.sqrt(5.0 / 3.0)
    widths = generator.normal(0.0, 0.25 * np.sqrt(1.0 - memory**2), (MINUTES, 2, WEEKS))
    for minute in range(MINUTES):  # in place, and ten weeks at a time below: all at once takes 600 MB
        returns[minute] *= np.sqrt(variance)
        errors = memory * errors + widths[minute]
        widths[minute] = np.sqrt(variance) * np.exp(errors * np.array([[1.0 - advantage], [1.0]]))
        variance = np.minimum(0.02 + 0.1 * returns[minute] ** 2 + 0.88 * variance, 200.0)
    ours, reference = np.empty((2, WEEKS, MINUTES))
    for first in range(0, WEEKS, 10):
        part = slice(first, first + 10)
        for losses, each in ((ours, 0), (reference, 1)):
            losses[part] = pinball(returns[:, part], widths[:, each, part, None] * NORMAL).T
    return ours, reference


def claims(ours: FloatArray, reference: FloatArray) -> tuple[int, int]:
    """In how many weeks an edge is claimed at any time, and in how many anything is, with a look at each full block."""
    above = either = 0
    for loss, other in zip(ours, reference, strict=True):
        full = len(loss) // BLOCK * BLOCK
        parts, wholes = (each[:full].reshape(-1, BLOCK).sum(axis=1) for each in (other - loss, other))
        looks = [look_at(parts[:count], wholes[:count]) for count in range(1, len(parts) + 1)]
        is_above = any(look.low is not None and look.low > 0.0 for look in looks)
        above += is_above
        either += is_above or any(look.high is not None and look.high < 0.0 for look in looks)
    return above, either


def look_at(parts: FloatArray, wholes: FloatArray) -> Estimate:
    return ratio_sequence(parts, wholes, float(parts.sum() / wholes.sum()), len(parts) * BLOCK)


@pytest.mark.parametrize("memory", [0.0, pytest.param(0.9, marks=pytest.mark.slow)])
def test_continuous_monitoring_claims_no_false_edge(memory: float) -> None:
    above, either = claims(*weeks(memory))
    assert above <= 0.05 * WEEKS and either <= 0.05 * WEEKS + 3, (above, either)


@pytest.mark.slow
def test_a_fixed_sample_interval_would_claim_false_edges() -> None:
    """The reason: the block bootstrap's interval, computed every 500 candles over the newest 1,000."""
    ours, reference = weeks(0.0)
    claimed = 0
    for loss, other in zip(ours[:40], reference[:40], strict=True):
        looks = [skill(loss[end - 1_000 : end], other[end - 1_000 : end]) for end in range(1_000, MINUTES, 500)]
        claimed += any((look.low or 0.0) > 0.0 for look in looks)
    assert claimed >= 8


def test_a_real_edge_is_found_and_stays() -> None:
    ours, reference = weeks(0.9, advantage=0.7)
    last = [skill_sequence(*pair) for pair in zip(ours, reference, strict=True)]
    assert all(look.low is not None and look.low > 0.0 for look in last)
    assert all(look.value is not None and look.low is not None and look.low <= look.value for look in last)


@pytest.mark.parametrize("n", [0, 29, 30, FEWEST_FOR_A_PROOF - 1, FEWEST_FOR_A_PROOF])
def test_estimates_appear_before_proofs(n: int) -> None:
    found = mean_sequence(np.random.default_rng(n).random(n))
    assert found.n == n and (found.value is None) == (n < 30)
    assert (found.low is None) == (n < FEWEST_FOR_A_PROOF)


@pytest.mark.parametrize("moved", [0, 20])
def test_where_there_is_nothing_to_forecast_nothing_is_estimated_or_proven(moved: int) -> None:
    """The reference loses only rounding, but for the first candles."""
    reference = np.where(np.arange(2000) < moved, 0.01, np.random.default_rng(1).random(2000) * 1e-15)
    assert skill_sequence(np.full(2000, 1e-6), reference) == Estimate(None, None, None, 2000)
    gained = np.full(2000, 1e-6).reshape(-1, BLOCK).sum(axis=1)
    assert proven_after(gained, reference.reshape(-1, BLOCK).sum(axis=1)) is None
