"""The chance of a price, against markets in which it is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray, Quantity
from core.forecast.chance import WITHIN, Chances, LearnedChances, brownian_touch, nothing_learned
from core.forecast.paths import sample_paths
from tests.core.forecast.paths import HORIZONS, drawn
from tests.support.candles import MINUTE, START_MS

MOVES = np.linspace(-0.01, 0.01, 81)


@pytest.fixture(scope="module")
def chances() -> Chances:
    return Chances(drawn())


def test_it_is_a_chance_and_a_close_beyond_is_also_a_touch(chances: Chances) -> None:
    for within in range(1, HORIZONS + 1):
        touched, closed = chances.touched(MOVES, within), chances.closed_beyond(MOVES, within)
        assert (closed > 0.0).all() and (closed <= touched).all() and (touched < 1.0).all()


def each_horizon(low: float, high: float) -> st.SearchStrategy[FloatArray]:
    return st.lists(st.floats(low, high), min_size=HORIZONS, max_size=HORIZONS).map(np.array)


LEARNED = st.builds(LearnedChances, each_horizon(0.3, 3.0), each_horizon(-50.0, 50.0), each_horizon(-1.0, 20.0))


@given(st.floats(-0.02, 0.02), st.floats(1.0, 3.0), st.integers(1, HORIZONS - 1), LEARNED)
def test_further_away_and_sooner_is_never_likelier(
    move: float, times: float, within: int, learned: LearnedChances
) -> None:
    chances = Chances(drawn(), learned)
    at = np.array([move])
    assert 0.0 < chances.closed_beyond(at, within)[0] <= chances.touched(at, within)[0] < 1.0
    for chance in (chances.touched, chances.closed_beyond):
        near, far = chance(np.array([move, move * times]), within)
        assert near >= far
        assert chance(at, within + 1)[0] >= near


def test_stretched_paths_reach_as_much_further() -> None:
    plain, twice = Chances(drawn()), replace(nothing_learned(HORIZONS), stretch=np.full(HORIZONS, 2.0))
    assert np.array_equal(Chances(drawn(), twice).touched(2.0 * MOVES, 3), plain.touched(MOVES, 3))
    assert np.array_equal(Chances(drawn(), nothing_learned(HORIZONS)).touched(MOVES, 3), plain.touched(MOVES, 3))


def test_the_chance_of_a_touch_is_corrected_and_that_of_a_close_is_not() -> None:
    plain, learned = Chances(drawn()), replace(nothing_learned(HORIZONS), intercept=np.full(HORIZONS, 0.4))
    chances, chance = Chances(drawn(), learned), plain.touched(MOVES, 3)
    rarest = 0.5 / (len(drawn().close) + 1)
    odds = np.exp(0.4) * chance / (1.0 - chance)
    assert chances.touched(MOVES, 3) == pytest.approx(np.minimum(odds / (1.0 + odds), 1.0 - rarest))
    assert np.array_equal(chances.closed_beyond(MOVES, 3), plain.closed_beyond(MOVES, 3))


def test_what_no_path_reaches_is_not_impossible(chances: Chances) -> None:
    count = len(drawn().close)
    assert chances.touched(np.array([0.5, -0.5]), 8) == pytest.approx(0.5 / (count + 1))
    assert chances.touched(np.array([0.0]), 1) == pytest.approx((count + 0.5) / (count + 1)), "it is there"


def test_the_count_is_of_paths_that_reach_the_price() -> None:
    paths = drawn()
    move, count = 1.5e-3, len(paths.close)
    reached = (paths.high[:, :3].max(axis=1) >= move).sum()
    closed = (paths.close[:, :3].min(axis=1) <= -move).sum()
    chances = Chances(paths)
    assert chances.touched(np.array([move]), 3)[0] == pytest.approx((reached + 0.5) / (count + 1))
    assert chances.closed_beyond(np.array([-move]), 3)[0] == pytest.approx((closed + 0.5) / (count + 1))


@given(st.floats(1e-5, 5e-3), st.floats(-0.02, 0.02), st.integers(1, HORIZONS))
def test_with_a_tick_it_is_the_share_of_paths_rounded_to_the_grid(tick: float, move: float, within: int) -> None:
    """The price itself is on no grid, or at most by chance; the origin's close is."""
    tick = 1.0 / round(1.0 / tick)
    paths = replace(drawn(), tick=tick)
    high, low, close = (np.round(np.exp(each[:, :within]) / tick) for each in (paths.high, paths.low, paths.close))
    price, count = np.exp(move) / tick, len(close)
    if move >= 0.0:
        touched, closed = (each.max(axis=1) >= price - 1e-6 for each in (high, close))
    else:
        touched, closed = (each.min(axis=1) <= price + 1e-6 for each in (low, close))
    chances = Chances(paths)
    assert chances.touched(np.array([move]), within)[0] == pytest.approx((touched.sum() + 0.5) / (count + 1.0))
    assert chances.closed_beyond(np.array([move]), within)[0] == pytest.approx((closed.sum() + 0.5) / (count + 1.0))


def test_prices_between_two_ticks_are_equally_likely() -> None:
    chances = Chances(replace(drawn(), tick=1e-3))
    between = np.log(1.0 + 1e-3 * np.array([0.0, 0.2, 0.999, 1.0, 1.001, 1.6, 2.0]))
    at_close, *to_first, above_it, more, second = chances.touched(between, 1).tolist()
    assert at_close > to_first[0] == to_first[1] == to_first[2] > above_it == more == second
    assert chances.touched(-between[1:2], 1) > chances.touched(np.log([1.0 - 1.01e-3]), 1)


def brownian_candles(count: int, steps: int = 400) -> FloatArray:
    """Log prices [4, n] of a Brownian path of deviation 0.1 % a candle."""
    walk = np.random.default_rng(3).normal(0.0, 1e-3 / np.sqrt(steps), (count, steps)).cumsum(axis=1)
    opening = np.concatenate([[0.0], walk[:-1, -1].cumsum()])
    inside = np.concatenate([np.zeros((count, 1)), walk], axis=1) + opening[:, None]
    return np.stack([opening, inside.max(axis=1), inside.min(axis=1), inside[:, -1]])


def test_on_a_brownian_path_it_is_that_of_the_reflection_principle() -> None:
    candles = brownian_candles(2200)
    opening, high, low, close = candles
    natural = np.zeros((HORIZONS, QUANTITIES, len(LEVELS)))
    scores = np.array([-1.6449, -1.2816, -0.6745, 0.0, 0.6745, 1.2816, 1.6449])
    natural[:, Quantity.CLOSE] = 1e-3 * np.sqrt(np.arange(1, HORIZONS + 1))[:, None] * scores
    wicks = {
        Quantity.UPPER_WICK: high - np.maximum(opening, close),
        Quantity.LOWER_WICK: np.minimum(opening, close) - low,
    }
    for quantity, outcomes in {**wicks, Quantity.RANGE: np.log(high - low)}.items():
        natural[:, quantity] = np.quantile(outcomes, LEVELS)
    times = START_MS + MINUTE.duration_ms * np.arange(2200)
    paths = sample_paths(natural, times, np.exp(candles), MINUTE)
    assert paths is not None
    for within in WITHIN:
        moves = 1e-3 * np.sqrt(within) * np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
        known = brownian_touch(moves, natural[within - 1, Quantity.CLOSE])
        assert Chances(paths).touched(moves, within) == pytest.approx(known, abs=0.04)


def test_the_reflection_principle() -> None:
    """Twice the chance to end beyond it."""
    band = np.array([-1.6448536, 0.0, 0.0, 0.0, 0.0, 0.0, 1.6448536])
    found = brownian_touch(np.array([0.0, 1.0, -1.0, 1.959964]), band)
    assert found == pytest.approx([1.0, 0.3173105, 0.3173105, 0.05], abs=1e-6)
    assert brownian_touch(np.array([0.0, 0.1]), np.zeros(7)) == pytest.approx([1.0, 0.0]), "a market that never moves"
