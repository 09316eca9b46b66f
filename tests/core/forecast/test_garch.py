from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.quantities import FloatArray
from core.forecast.garch import GarchGrid
from tests.core.forecast.alone import ALONE, one
from tests.core.known_answers.markets import leveraged_garch


def observe(grid: GarchGrid, log_range: float, log_return: float | None) -> None:
    grid.observe(ALONE, one(log_range), one(log_return))


def ahead(grid: GarchGrid, horizons: int) -> tuple[FloatArray, FloatArray]:
    """Log ranges and moves: [H] each."""
    log_ranges, moves = grid.ahead(ALONE, horizons)
    return log_ranges[0], moves[0]


def fed(log_ranges: FloatArray, log_returns: FloatArray) -> GarchGrid:
    grid = GarchGrid(1)
    for log_range, log_return in zip(log_ranges.tolist(), log_returns.tolist(), strict=True):
        observe(grid, log_range, log_return)
    return grid


def test_forecasts_are_nan_before_the_first_return() -> None:
    grid = GarchGrid(1)
    observe(grid, -6.0, None)
    assert np.isnan(ahead(grid, 3)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_garch_tracks_the_true_log_range_better_than_the_average(seed: int) -> None:
    """The true median lies a steady step below the true mean, so the two go up and down together."""
    known = leveraged_garch(3000, seed)
    grid, forecasts, last = GarchGrid(1), [], None
    for candle, log_range in zip(known.candles, known.outcome.tolist(), strict=True):
        forecasts.append(float(ahead(grid, 1)[0][0]))
        observe(grid, log_range, None if last is None else math.log(candle.close / last))
        last = candle.close
    true = known.best[:, known.best.shape[1] // 2]
    assert np.corrcoef(forecasts[1000:], true[1000:])[0, 1] > 0.9
    assert np.mean(forecasts[1000:]) == pytest.approx(np.mean(known.outcome[1000:]), abs=0.03)


def test_a_learned_leverage_effect_is_forecast() -> None:
    known = leveraged_garch(3000, 2)
    closes = np.array([candle.close for candle in known.candles])
    grid = fed(known.outcome[1:], np.diff(np.log(closes)))
    state = grid.state(0)
    observe(grid, -5.0, -0.01)
    after_a_fall = ahead(grid, 1)[0][0]
    grid.restore(state, 0)
    observe(grid, -5.0, 0.01)
    assert after_a_fall > ahead(grid, 1)[0][0] + 0.1


def test_long_horizons_return_to_the_usual_volatility() -> None:
    generator = np.random.default_rng(3)
    calm = fed(np.full(1500, -6.0) + generator.normal(0.0, 0.3, 1500), generator.normal(0.0, 1e-3, 1500))
    for _ in range(5):
        observe(calm, -4.5, -8e-3)
    _, moves = ahead(calm, 400)
    assert moves[0] > moves[-1] and (np.diff(moves) <= 0.0).all()


@given(st.lists(st.tuples(st.floats(-12.0, 2.0), st.none() | st.floats(-0.9, 0.9)), min_size=1, max_size=60))
def test_forecasts_are_finite_or_nan_for_any_input(candles: list[tuple[float, float | None]]) -> None:
    grid = GarchGrid(1)
    for log_range, log_return in candles:
        observe(grid, log_range, log_return)
    log_ranges, moves = ahead(grid, 2)
    if all(log_return is None for _, log_return in candles):
        assert np.isnan(log_ranges).all()
    else:
        assert np.isfinite(log_ranges).all() and (moves > 0.0).all()


def test_state_round_trips() -> None:
    generator = np.random.default_rng(4)
    ranges, returns = generator.normal(-6.0, 0.4, 300), generator.normal(0.0, 1e-3, 300)
    whole, other = fed(ranges, returns), GarchGrid(1)
    other.restore(fed(ranges[:200], returns[:200]).state(0), 0)
    for log_range, log_return in zip(ranges[200:].tolist(), returns[200:].tolist(), strict=True):
        observe(other, log_range, log_return)
    np.testing.assert_array_equal(ahead(whole, 8), ahead(other, 8))
