from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.expert_weights import ExpertWeights
from core.forecast.score import pinball
from tests.core.forecast.alone import ALONE, at_horizon

NORMAL = np.array([-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645])


def equal_trust(experts: int) -> FloatArray:
    return np.ones((experts, QUANTITIES))


def shifted(*centres: float) -> FloatArray:
    """One expert for each centre, all with a normal distribution about it: [E, Q, L]."""
    forecasts = np.array(centres)[:, None, None] + NORMAL
    return np.broadcast_to(forecasts, (len(centres), QUANTITIES, len(LEVELS))).copy()


def update(weights: ExpertWeights, horizon: int, forecasts: FloatArray, outcome: FloatArray, horizons: int = 1) -> None:
    """One outcome [Q] of one horizon; forecasts: [E, Q, L]."""
    all_forecasts, outcomes = (np.broadcast_to(each, (1, horizons, *each.shape)) for each in (forecasts, outcome))
    weights.update(ALONE, all_forecasts, outcomes, at_horizon(horizon, horizons))


def combined(weights: ExpertWeights, forecasts: FloatArray) -> FloatArray:
    """[H, E, Q, L] to [H, Q, L]."""
    return weights.combine(ALONE, forecasts[None])[0]


def weights_of(weights: ExpertWeights) -> FloatArray:
    """[H, Q, E, L], of experts that all forecast every quantity."""
    array = weights.state(0)["weights"]
    return array.reshape(len(array), QUANTITIES, -1, len(LEVELS)).astype(np.float64)


def test_the_better_expert_gains_weight_and_can_lose_it_again() -> None:
    generator = np.random.default_rng(1)
    weights = ExpertWeights(equal_trust(2), 1, 1)
    forecasts = shifted(0.0, 2.0)
    for _ in range(1000):
        update(weights, 1, forecasts, generator.normal(0.0, 1.0, QUANTITIES))
    assert (weights.shares(0)[..., 0] > 0.9).all()
    for _ in range(4000):
        update(weights, 1, forecasts, generator.normal(2.0, 1.0, QUANTITIES))
    assert (weights.shares(0)[..., 0] < 0.2).all()


def test_a_mixture_better_than_each_expert_is_found() -> None:
    """The truth lies between the two: neither can be right, their mean is."""
    generator = np.random.default_rng(2)
    weights = ExpertWeights(equal_trust(2), 1, 1)
    forecasts = shifted(-1.0, 1.0)
    lost, lost_by_experts = 0.0, np.zeros(2)
    for step in range(2000):
        outcome = generator.normal(0.0, 1.0, QUANTITIES)
        if step >= 500:
            lost += pinball(outcome, combined(weights, forecasts[None])[0]).sum()
            lost_by_experts += pinball(outcome[None], forecasts).sum(axis=1)
        update(weights, 1, forecasts, outcome)
    assert lost < 0.9 * lost_by_experts.min()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("changes", [0, 2])
def test_the_combination_stays_close_to_the_best_expert_even_if_it_changes(seed: int, changes: int) -> None:
    """Against the best of five in hindsight, whose turn it is to be right drifting: behind by 3 % at most."""
    generator = np.random.default_rng(seed)
    steps = 3000
    centres = np.cumsum(generator.normal(0.0, 0.02, (steps, 5)), axis=0) + generator.normal(0.0, 1.0, 5)
    turn = np.arange(steps) * (changes + 1) // steps % 5
    truth = centres[np.arange(steps), turn]
    weights = ExpertWeights(equal_trust(5), 1, 1)
    lost, lost_by_experts = 0.0, np.zeros(5)
    for step in range(steps):
        forecasts = shifted(*centres[step])
        outcome = truth[step] + generator.normal(0.0, 1.0, QUANTITIES)
        lost += pinball(outcome, combined(weights, forecasts[None])[0]).mean()
        lost_by_experts += pinball(outcome[None], forecasts).mean(axis=1)
        update(weights, 1, forecasts, outcome)
    assert lost <= 1.03 * lost_by_experts.min()


@pytest.mark.parametrize("jump", [3.0, 6.0])
def test_a_jump_within_an_experts_range_raises_its_weight(jump: float) -> None:
    """After 200 calm candles, on which its wide tails were worth little: it has not been written off."""
    generator = np.random.default_rng(1)
    weights = ExpertWeights(equal_trust(2), 1, 1)
    forecasts = np.stack([np.tile(width * NORMAL, (QUANTITIES, 1)) for width in (1.0, 3.0)])
    for _ in range(200):
        update(weights, 1, forecasts, generator.normal(0.0, 1.0, QUANTITIES))
    before = weights.shares(0)[..., 1].mean()
    assert before < 0.05
    update(weights, 1, forecasts, np.full(QUANTITIES, jump))
    assert weights.shares(0)[..., 1].mean() > 1.08 * before


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.floats(-1e9, 1e9)] * 3), min_size=1, max_size=50))
def test_weights_are_shares_for_any_forecasts_and_outcomes(numbers: list[tuple[float, float, float]]) -> None:
    weights = ExpertWeights(equal_trust(2), 1, 1)
    for first, second, outcome in numbers:
        update(weights, 1, shifted(first, second), np.full(QUANTITIES, outcome))
    np.testing.assert_allclose(weights_of(weights).sum(axis=2), 1.0)
    assert (weights_of(weights) >= 0.0).all()


def test_an_expert_without_prior_weight_never_gets_weight() -> None:
    trust = equal_trust(3)
    trust[2, 0] = 0.0
    weights = ExpertWeights(trust, 1, 1)
    for _ in range(50):
        update(weights, 1, shifted(3.0, 2.0, 0.0), np.zeros(QUANTITIES))
    assert weights.shares(0)[0, 0, 2] == 0.0
    assert (weights.shares(0)[0, 1:, 2] > 0.3).all()


def test_an_absent_expert_has_no_weight_and_gets_back_what_it_earned() -> None:
    generator = np.random.default_rng(3)
    weights, forecasts = ExpertWeights(equal_trust(3), 1, 1), shifted(0.0, 2.0, 3.0)
    for _ in range(500):
        update(weights, 1, forecasts, generator.normal(0.0, 1.0, QUANTITIES))
    earned = weights.shares(0)[..., 0]
    assert (earned > 0.9).all()
    is_absent = np.zeros((1, 1, 3, QUANTITIES), dtype=np.bool_)
    is_absent[0, 0, 0, 1] = True

    def learn(is_absent: NDArray[np.bool_]) -> None:
        outcome = generator.normal(0.0, 1.0, (1, 1, QUANTITIES))
        weights.update(ALONE, forecasts[None, None], outcome, at_horizon(1, 1), is_absent)

    for _ in range(20):
        learn(is_absent)
        shares = weights.shares(0)[0, :, 0]
        assert shares[1] == 0.0 and (np.delete(shares, 1) > 0.9).all()
        np.testing.assert_allclose(weights_of(weights).sum(axis=2), 1.0)
    learn(is_absent & False)
    assert (weights.shares(0)[..., 0] > 0.9 * earned).all()


def test_a_combination_of_ascending_quantiles_ascends() -> None:
    generator = np.random.default_rng(0)
    weights = ExpertWeights(equal_trust(3), 2, 1)
    experts = np.moveaxis(np.sort(generator.normal(size=(3, 2, QUANTITIES, len(LEVELS))), axis=-1), 0, 1)
    np.testing.assert_allclose(combined(weights, experts), experts.mean(axis=1))
    for _ in range(100):
        update(weights, 1, experts[0], generator.normal(size=QUANTITIES), horizons=2)
        assert (np.diff(combined(weights, experts), axis=-1) >= 0.0).all()


def test_an_outcome_does_not_change_other_horizons() -> None:
    weights = ExpertWeights(equal_trust(2), 2, 1)
    update(weights, 2, shifted(0.0, 3.0), np.zeros(QUANTITIES), horizons=2)
    np.testing.assert_array_equal(weights_of(weights)[0], 0.5)
    assert (weights_of(weights)[1, :, 0] > 0.5).any()


def test_outcomes_of_several_horizons_at_once_teach_what_they_teach_one_by_one() -> None:
    generator = np.random.default_rng(7)
    together, one_by_one = ExpertWeights(equal_trust(3), 8, 1), ExpertWeights(equal_trust(3), 8, 1)
    for horizons in ([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 5], [8]) * 20:
        forecasts = np.sort(generator.normal(size=(8, 3, QUANTITIES, len(LEVELS))), axis=-1)
        outcomes = generator.normal(size=(8, QUANTITIES))
        together.update(ALONE, forecasts[None], outcomes[None], np.isin(np.arange(1, 9), horizons)[None])
        for horizon in horizons:
            update(one_by_one, horizon, forecasts[horizon - 1], outcomes[horizon - 1], horizons=8)
    np.testing.assert_array_equal(weights_of(together), weights_of(one_by_one))


def test_longer_horizons_learn_more_slowly_but_not_h_times() -> None:
    """Outcomes of h candles overlap: the sum of their gains scatters by the root of h more."""
    weights = ExpertWeights(equal_trust(2), 4, 1)
    for horizon in (1, 4):
        update(weights, horizon, shifted(0.0, 0.1), np.zeros(QUANTITIES), horizons=4)
    near, far = np.abs(weights.shares(0)[[0, 3], :, 0] - 0.5)
    assert (near > 1.5 * far).all() and (near < 3.0 * far).all()


def test_a_restored_state_gives_the_same_weights() -> None:
    generator = np.random.default_rng(4)
    first, second = ExpertWeights(equal_trust(2), 1, 1), ExpertWeights(equal_trust(2), 1, 1)
    for _ in range(30):
        update(first, 1, shifted(0.0, 1.0), generator.normal(size=QUANTITIES))
    second.restore(first.state(0), 0)
    outcome = generator.normal(size=QUANTITIES)
    for weights in (first, second):
        update(weights, 1, shifted(0.0, 1.0), outcome)
    np.testing.assert_array_equal(weights_of(first), weights_of(second))
