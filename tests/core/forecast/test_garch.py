from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.quantities import FloatArray
from core.forecast.garch import GarchGrid
from tests.core.known_answers.markets import leveraged_garch


def fed(log_ranges: FloatArray, log_returns: FloatArray) -> GarchGrid:
    grid = GarchGrid()
    for log_range, log_return in zip(log_ranges.tolist(), log_returns.tolist(), strict=True):
        grid.observe(log_range, log_return)
    return grid


def test_forecasts_are_nan_before_the_first_return() -> None:
    grid = GarchGrid()
    grid.observe(-6.0, None)
    assert np.isnan(grid.log_ranges(3)).all() and np.isnan(grid.moves(3)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_garch_tracks_the_true_log_range_better_than_the_average(seed: int) -> None:
    """The true median lies a steady step below the true mean, so the two go up and down together."""
    known = leveraged_garch(3000, seed)
    grid, said, last = GarchGrid(), [], None
    for candle, log_range in zip(known.candles, known.outcome.tolist(), strict=True):
        said.append(float(grid.log_ranges(1)[0]))
        grid.observe(log_range, None if last is None else math.log(candle.close / last))
        last = candle.close
    true = known.best[:, known.best.shape[1] // 2]
    assert np.corrcoef(said[1000:], true[1000:])[0, 1] > 0.9
    assert np.mean(said[1000:]) == pytest.approx(np.mean(known.outcome[1000:]), abs=0.03)


def test_a_learned_leverage_effect_is_forecast() -> None:
    known = leveraged_garch(3000, 2)
    closes = np.array([candle.close for candle in known.candles])
    grid = fed(known.outcome[1:], np.diff(np.log(closes)))
    state = grid.state()
    grid.observe(-5.0, -0.01)
    after_a_fall = grid.log_ranges(1)[0]
    grid.restore(state)
    grid.observe(-5.0, 0.01)
    assert after_a_fall > grid.log_ranges(1)[0] + 0.1


def test_long_horizons_return_to_the_usual_volatility() -> None:
    generator = np.random.default_rng(3)
    calm = fed(np.full(1500, -6.0) + generator.normal(0.0, 0.3, 1500), generator.normal(0.0, 1e-3, 1500))
    for _ in range(5):
        calm.observe(-4.5, -8e-3)
    moves = calm.moves(400)
    assert moves[0] > moves[-1] and (np.diff(moves) <= 0.0).all()


@given(st.lists(st.tuples(st.floats(-12.0, 2.0), st.none() | st.floats(-0.9, 0.9)), min_size=1, max_size=60))
def test_forecasts_are_finite_or_nan_for_any_input(candles: list[tuple[float, float | None]]) -> None:
    grid = GarchGrid()
    for log_range, log_return in candles:
        grid.observe(log_range, log_return)
    if all(log_return is None for _, log_return in candles):
        assert np.isnan(grid.log_ranges(2)).all()
    else:
        assert np.isfinite(grid.log_ranges(2)).all() and (grid.moves(2) > 0.0).all()


def test_state_round_trips() -> None:
    generator = np.random.default_rng(4)
    ranges, returns = generator.normal(-6.0, 0.4, 300), generator.normal(0.0, 1e-3, 300)
    whole, other = fed(ranges, returns), GarchGrid()
    other.restore(fed(ranges[:200], returns[:200]).state())
    for log_range, log_return in zip(ranges[200:].tolist(), returns[200:].tolist(), strict=True):
        other.observe(log_range, log_return)
    np.testing.assert_array_equal(whole.log_ranges(8), other.log_ranges(8))
    np.testing.assert_array_equal(whole.moves(8), other.moves(8))
