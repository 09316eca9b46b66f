from __future__ import annotations

import numpy as np
import pytest

from core.domain.quantities import LEVELS, SIZE_LEVELS, FloatArray
from core.forecast.regression import DiscountedRegressions
from core.forecast.residuals import ResidualQuantiles
from tests.core.forecast.alone import ALONE


def predict(regression: DiscountedRegressions, features: FloatArray) -> FloatArray:
    """Of the only regression of each horizon: features [K] to [H]."""
    return regression.predict(ALONE, features[None, None])[0, :, 0]


def learn(regression: DiscountedRegressions, features: FloatArray, outcomes: FloatArray, *is_known: bool) -> None:
    """features [H, K], outcomes [H]"""
    regression.learn(ALONE, features[None, :, None], outcomes[None, :, None], np.array([is_known]))


def test_regressions_equal_weighted_ridge_on_all_outcomes() -> None:
    """Two side by side, of which each has its own features and outcomes."""
    generator = np.random.default_rng(0)
    regressions = DiscountedRegressions(2, 3, 2, 1, keep=0.98, penalty=2.0)
    features, outcomes = generator.normal(size=(200, 2, 2, 3)), generator.normal(size=(200, 2, 2))
    for row in range(200):
        regressions.learn(ALONE, features[row, None], outcomes[row, None], np.array([[True, row % 3 == 0]]))
    asked = np.array([[0.5, -1.0, 2.0], [1.0, 3.0, -0.5]])
    for horizon, rows in enumerate((np.arange(200), np.arange(0, 200, 3))):
        weight = 0.98 ** np.arange(rows.size)[::-1]
        for place in range(2):
            x, y = features[rows, horizon, place], outcomes[rows, horizon, place]
            coefficients = np.linalg.solve((x.T * weight) @ x + 2.0 * np.eye(3), (x.T * weight) @ y)
            found = regressions.predict(ALONE, asked[None])[0, horizon, place]
            np.testing.assert_allclose(found, coefficients @ asked[place])


def test_a_forgotten_feature_begins_again() -> None:
    generator = np.random.default_rng(4)
    forgetful, other = (DiscountedRegressions(1, 2, 1, 1, keep=0.99, penalty=1.0) for _ in range(2))
    for row, outcome in zip(generator.normal(size=(50, 2)), generator.normal(size=(50, 1)), strict=True):
        learn(forgetful, row[None], outcome, True)
        learn(other, row[None] * [1.0, 0.0], outcome, True)
    forgetful.forget(ALONE, np.array([[False, True]]))
    for row in generator.normal(size=(20, 2)):
        for each in (forgetful, other):
            learn(each, row[None], row[1:], True)
        assert predict(forgetful, row) == pytest.approx(predict(other, row))


def test_without_outcomes_the_expectation_is_zero() -> None:
    regression = DiscountedRegressions(1, 2, 3, 1, keep=0.9, penalty=1.0)
    np.testing.assert_array_equal(predict(regression, np.ones(2)), np.zeros(3))


def test_residual_quantiles_are_those_of_the_newest_window() -> None:
    """Of two series, of which the second counts with both signs; also after a restore."""
    generator, window = np.random.default_rng(1), 50
    residuals = ResidualQuantiles(np.array([False, True]), 2, window, 1)
    given = generator.normal(size=(120, 2, 2)).astype(np.float32)
    for row in range(120):
        residuals.add(ALONE, given[row, None].astype(np.float64), np.array([[True, row % 4 == 0]]))
        if row == 70:
            state = residuals.state(0)
            residuals = ResidualQuantiles(np.array([False, True]), 2, window, 1)
            residuals.restore(state, 0)
        (found,) = residuals.quantiles(ALONE)
        for horizon, rows in enumerate((slice(max(0, row + 1 - window), row + 1), slice(0, row + 1, 4))):
            newest = given[rows, horizon].astype(np.float64)
            expected = np.quantile(newest[:, 0], LEVELS)
            np.testing.assert_allclose(found[horizon, 0], expected, rtol=1e-12)
            sizes = np.quantile(np.abs(newest[:, 1]), SIZE_LEVELS)
            np.testing.assert_allclose(found[horizon, 1], np.sign(LEVELS - 0.5) * sizes, rtol=1e-12)
    assert residuals.known(ALONE).tolist() == [[50, 30]]
