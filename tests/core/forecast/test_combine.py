from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.forecast.combine import ExpertWeights
from core.forecast.quantities import LEVELS, QUANTITIES


def test_the_better_expert_gains_and_can_lose_again() -> None:
    weights = ExpertWeights(2, 1)
    good_first = np.array([[1.0] * QUANTITIES, [1.2] * QUANTITIES])
    for _ in range(200):
        weights.update(1, good_first)
    assert (weights.weights[0] > 0.95).all()
    for _ in range(400):
        weights.update(1, good_first[::-1])
    assert (weights.weights[0] < 0.05).all()


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0.0, 1e9), st.floats(0.0, 1e9)), min_size=1, max_size=50))
def test_weights_are_shares_whatever_the_losses(losses: list[tuple[float, float]]) -> None:
    weights = ExpertWeights(2, 1)
    for pair in losses:
        weights.update(1, np.array(pair)[:, None] * np.ones(QUANTITIES))
    np.testing.assert_allclose(weights.weights.sum(axis=0), 1.0)
    assert (weights.weights > 0.0).all()


def test_a_combination_of_ascending_quantiles_ascends() -> None:
    generator = np.random.default_rng(0)
    weights = ExpertWeights(3, 2)
    experts = np.sort(generator.normal(size=(3, 2, QUANTITIES, len(LEVELS))), axis=-1)
    combined = weights.combine(experts)
    assert (np.diff(combined, axis=-1) >= 0.0).all()
    np.testing.assert_allclose(combined, experts.mean(axis=0))


def test_other_horizons_learn_nothing() -> None:
    weights = ExpertWeights(2, 2)
    weights.update(2, np.array([[1.0] * QUANTITIES, [5.0] * QUANTITIES]))
    np.testing.assert_array_equal(weights.weights[:, 0], 0.5)
