from __future__ import annotations

import numpy as np
import pytest

from core.domain.quantities import LEVELS
from core.forecast.regression import DiscountedRegression
from core.forecast.residuals import ResidualQuantiles


def test_regression_equals_weighted_ridge_on_all_outcomes() -> None:
    generator = np.random.default_rng(0)
    regression = DiscountedRegression(3, 2, keep=0.98, penalty=2.0)
    features, outcomes = generator.normal(size=(200, 2, 3)), generator.normal(size=(200, 2))
    for row in range(200):
        regression.learn(features[row], outcomes[row], np.array([True, row % 3 == 0]))
    asked = np.array([0.5, -1.0, 2.0])
    for horizon, rows in enumerate((np.arange(200), np.arange(0, 200, 3))):
        weight = 0.98 ** np.arange(rows.size)[::-1]
        x, y = features[rows, horizon], outcomes[rows, horizon]
        coefficients = np.linalg.solve((x.T * weight) @ x + 2.0 * np.eye(3), (x.T * weight) @ y)
        np.testing.assert_allclose(regression.predict(asked)[horizon], coefficients @ asked)


def test_a_forgotten_feature_begins_again() -> None:
    generator, still = np.random.default_rng(4), np.array([True])
    forgetful, other = (DiscountedRegression(2, 1, keep=0.99, penalty=1.0) for _ in range(2))
    for row, outcome in zip(generator.normal(size=(50, 2)), generator.normal(size=50), strict=True):
        forgetful.learn(row[None], outcome[None], still)
        other.learn(row[None] * [1.0, 0.0], outcome[None], still)
    forgetful.forget(np.array([1]))
    for row in generator.normal(size=(20, 2)):
        for each in (forgetful, other):
            each.learn(row[None], row[1:], still)
        assert forgetful.predict(row) == pytest.approx(other.predict(row))


def test_without_outcomes_the_expectation_is_zero() -> None:
    np.testing.assert_array_equal(DiscountedRegression(2, 3, keep=0.9, penalty=1.0).predict(np.ones(2)), np.zeros(3))


def test_residual_quantiles_are_those_of_the_newest_window() -> None:
    generator = np.random.default_rng(1)
    residuals = ResidualQuantiles(np.zeros(2, dtype=np.bool_), 2, 50)
    given = generator.normal(size=(120, 2, 2))
    for row in range(120):
        residuals.add(given[row], np.array([True, row % 4 == 0]))
        found = residuals.quantiles()
        for horizon, rows in enumerate((slice(max(0, row - 49), row + 1), slice(0, row + 1, 4))):
            expected = np.quantile(given[rows, :, horizon], LEVELS, axis=0).T
            np.testing.assert_allclose(found[:, horizon], expected, atol=1e-6)
    assert residuals.known.tolist() == [50, 30]
