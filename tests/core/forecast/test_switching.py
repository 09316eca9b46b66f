from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.quantities import LEVELS, FloatArray
from core.forecast.score import pinball
from core.forecast.switching import RegimeSwitching
from tests.core.forecast.alone import ALONE, one
from tests.core.known_answers.markets import switching

WINDOW = 1000


def observe(chain: RegimeSwitching, log_range: float, log_return: float | None = None) -> None:
    chain.observe(ALONE, one(log_range), one(log_return))


def log_ranges_of(chain: RegimeSwitching) -> FloatArray:
    """[H, L]"""
    return chain.log_range_quantiles(ALONE)[0]


def fed(log_ranges: FloatArray, window: int = WINDOW, horizons: int = 1) -> RegimeSwitching:
    chain = RegimeSwitching(window, horizons, 1)
    for log_range in log_ranges.tolist():
        observe(chain, log_range, 1e-3)
    return chain


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_loss_is_close_to_the_best_forecast_of_a_switching_market(seed: int) -> None:
    known = switching(3000, seed)
    chain, lost = RegimeSwitching(WINDOW, 1, 1), []
    for row, log_range in enumerate(known.outcome.tolist()):
        if row >= 1500:
            lost.append(pinball(np.float64(log_range), log_ranges_of(chain)[0]))
        observe(chain, log_range)
    assert np.mean(lost) < 1.03 * np.mean(pinball(known.outcome, known.best)[1500:])


def test_regimes_are_uncertain_after_a_jump_and_clear_once_it_lasts() -> None:
    generator = np.random.default_rng(5)
    calm, wild = generator.normal(-6.0, 0.2, (8, 80)), generator.normal(-4.0, 0.2, (8, 80))
    chain = fed(np.concatenate([np.stack([calm, wild], axis=1).ravel(), generator.normal(-6.0, 0.2, 80)]), horizons=50)
    before = log_ranges_of(chain)
    observe(chain, -4.0)
    observe(chain, -4.0)
    after = log_ranges_of(chain)
    median = len(LEVELS) // 2
    assert before[0, median] == pytest.approx(-6.0, abs=0.2) and after[0, median] == pytest.approx(-4.0, abs=0.2)
    # Candles far ahead may be of either regime, so their quantiles reach from the one to the other.
    assert np.ptp(after[-1]) > 2.0 * np.ptp(after[0])


def test_long_horizons_use_the_stationary_regime_probabilities() -> None:
    """Wild for 20 of every 200 candles: wherever the market is now, nine in ten of those far ahead are calm."""
    generator = np.random.default_rng(8)
    wild, calm = generator.normal(-4.0, 0.2, (8, 20)), generator.normal(-6.0, 0.2, (8, 180))
    at_calm = fed(np.concatenate([wild, calm], axis=1).ravel(), window=2000, horizons=200)
    at_wild = fed(np.concatenate([calm, wild], axis=1).ravel(), window=2000, horizons=200)
    upper_quartile = int(np.flatnonzero(LEVELS == 0.75)[0])
    for chain in (at_calm, at_wild):
        assert log_ranges_of(chain)[-1, upper_quartile] == pytest.approx(-5.9, abs=0.3)
    assert log_ranges_of(at_wild)[0, len(LEVELS) // 2] == pytest.approx(-4.0, abs=0.3)


def test_a_volatile_regime_has_larger_moves_and_unknown_returns_are_ignored() -> None:
    chain = RegimeSwitching(WINDOW, 60, 1)
    for row in range(400):
        is_wild = row // 50 % 2 == 1
        observe(chain, -4.0 if is_wild else -6.0, (4e-3 if is_wild else 5e-4) * (-1) ** row)
    # The last fifty were wild.
    (moves,) = chain.moves(ALONE)
    assert moves[0] > 3e-3 > moves[-1]
    assert np.isnan(RegimeSwitching(WINDOW, 2, 1).moves(ALONE)).all()


@given(st.lists(st.floats(-14.0, 3.0), min_size=1, max_size=80), st.integers(1, 9))
def test_quantiles_ascend_within_the_observed_range(log_ranges: list[float], horizons: int) -> None:
    forecasts = log_ranges_of(fed(np.array(log_ranges), horizons=horizons))
    assert forecasts.shape == (horizons, len(LEVELS))
    assert (np.diff(forecasts, axis=-1) >= 0.0).all()
    assert min(log_ranges) <= forecasts.min() and forecasts.max() <= max(log_ranges)


def test_only_the_newest_candles_are_kept() -> None:
    ranges = np.random.default_rng(6).normal(-6.0, 0.3, 90)
    chain = fed(np.concatenate([np.full(50, 2.0), ranges]), window=60)
    assert log_ranges_of(chain).max() <= ranges.max()


def test_state_round_trips() -> None:
    ranges = np.random.default_rng(7).normal(-6.0, 0.4, 1300)
    whole, other = fed(ranges, horizons=8), RegimeSwitching(WINDOW, 8, 1)
    other.restore(fed(ranges[:1100], horizons=8).state(0), 0)
    for log_range in ranges[1100:].tolist():
        observe(other, log_range, 1e-3)
    np.testing.assert_array_equal(log_ranges_of(whole), log_ranges_of(other))
    np.testing.assert_array_equal(whole.moves(ALONE), other.moves(ALONE))


def test_the_state_has_no_missing_number() -> None:
    """A checkpoint with one that is not finite is refused."""
    chain = RegimeSwitching(WINDOW, 1, 1)
    for log_return in (None, 1e-3, None, -1e-3):
        observe(chain, -6.0, log_return)
    assert all(np.isfinite(array).all() for array in chain.state(0).values())


def test_quantiles_of_more_markets_than_are_computed_at_once_are_each_markets_own() -> None:
    markets, horizons = 19, 2
    generator, places = np.random.default_rng(3), np.arange(markets)
    together, alone = RegimeSwitching(WINDOW, horizons, markets), RegimeSwitching(WINDOW, horizons, 1)
    ranges, returns = generator.normal(size=(2, 30, markets))
    for log_range, log_return in zip(ranges, returns, strict=True):
        together.observe(places, log_range, log_return)
        alone.observe(ALONE, log_range[-1:], log_return[-1:])
    assert together.log_range_quantiles(places).shape == (markets, horizons, len(LEVELS))
    assert np.array_equal(together.log_range_quantiles(places)[-1:], alone.log_range_quantiles(ALONE))
