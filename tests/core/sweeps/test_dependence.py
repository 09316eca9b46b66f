"""By how much a block bootstrap is too sure of itself: more where differences last, never less than nothing."""

from __future__ import annotations

import numpy as np

from core.domain.quantities import FloatArray
from core.forecast.score import mean
from core.sweeps.dependence import widening
from tests.core.sweeps.simulated import autoregression

CANDLES, SERIES = 2_000, 400
MEMORY = 0.9
COVERED = 0.95


def lasting(series: int) -> FloatArray:
    """Differences of mean 0, of which a part has a memory: [candle, series]."""
    generator = np.random.default_rng(7)
    parts = generator.standard_normal((2, series, CANDLES))
    differences: FloatArray = (parts[0] + 0.4 * autoregression(parts[1], MEMORY)).T
    return differences


def share_around_zero(ends: FloatArray) -> float:
    """Of intervals [end, series]."""
    return float(((ends[0] <= 0.0) & (ends[1] >= 0.0)).mean())


def test_intervals_of_lasting_differences_are_widened_to_their_level() -> None:
    differences = lasting(SERIES)
    wider = widening(differences)
    values = differences.mean(axis=0)
    ends = np.array([(each.low, each.high) for each in map(mean, differences.T)], dtype=np.float64).T
    narrow, wide = (share_around_zero(values + factor * (ends - values)) for factor in (1.0, wider))
    print(f"cover: {narrow:.3f}, widened {wide:.3f}")
    assert narrow < COVERED - 0.02
    assert abs(wide - COVERED) < 0.02


def test_independent_differences_are_hardly_widened() -> None:
    assert 1.0 < widening(np.random.default_rng(1).standard_normal((CANDLES, 50))) < 1.06


def test_alternating_differences_are_not_narrowed() -> None:
    alternating = np.tile([[1.0], [-1.0]], (CANDLES // 2, 1)) + np.random.default_rng(1).standard_normal((CANDLES, 1))
    assert widening(alternating) > 1.0


def test_more_tests_and_fewer_candles_need_more() -> None:
    differences = lasting(20)
    assert widening(differences, 11) > widening(differences)
    assert widening(np.random.default_rng(1).standard_normal((300, 50))) > widening(
        np.random.default_rng(1).standard_normal((CANDLES, 50))
    )


def test_without_a_difference_there_is_nothing_to_widen() -> None:
    assert widening(np.zeros((CANDLES, 3))) == 1.0
