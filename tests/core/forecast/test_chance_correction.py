"""What chances learn from outcomes, against chances whose error is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.chance_correction import NO_CORRECTION, ChanceCorrection, corrected

EVEN = np.linspace(0.02, 0.98, 49)


def cases(n: int, intercept: float, slope: float, seed: int = 3) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Chances [n, 6], and outcomes of which the corrected chance is the true one."""
    generator = np.random.default_rng(seed)
    chance = generator.uniform(0.01, 0.99, (n, 6))
    true = corrected(chance, np.array(intercept), np.array(slope))
    return chance, generator.random(chance.shape) < true


def learned_in(batches: int, chance: FloatArray, outcome: NDArray[np.bool_]) -> ChanceCorrection:
    known = NO_CORRECTION
    for part, came_true in zip(np.array_split(chance, batches), np.array_split(outcome, batches), strict=True):
        known = known.learned(part, came_true, 1.0)
    return known


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, 1.0), (0.3, 1.3), (-0.4, 0.6)])
def test_a_known_error_is_found(intercept: float, slope: float) -> None:
    known = learned_in(100, *cases(6_000, intercept, slope))
    assert known.mean == pytest.approx([intercept, slope], abs=0.04)
    deviation = np.sqrt(np.diag(np.linalg.inv(known.precision)))
    assert (deviation < 0.02).all()


def test_many_batches_teach_what_one_does() -> None:
    chance, outcome = cases(2_000, 0.2, 1.2)
    at_once, in_parts = learned_in(1, chance, outcome), learned_in(200, chance, outcome)
    assert in_parts.mean == pytest.approx(at_once.mean, abs=0.01)
    assert np.diag(in_parts.precision) == pytest.approx(np.diag(at_once.precision), rel=0.1)


def test_the_mean_is_where_the_posterior_is_highest() -> None:
    chance, outcome = cases(40, 0.5, 1.5)
    found = NO_CORRECTION.learned(chance, outcome, 0.5)

    def height(mean: FloatArray) -> float:
        likely = corrected(chance, mean[0], mean[1])
        off = mean - NO_CORRECTION.mean
        return float(
            0.5 * np.log(np.where(outcome, likely, 1.0 - likely)).sum() - off @ NO_CORRECTION.precision @ off / 2
        )

    for step in 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert height(found.mean) > height(found.mean + step)


def test_outcomes_that_contradict_all_chances_are_learned_too() -> None:
    chance = np.tile([0.001, 0.999], 500)
    known = NO_CORRECTION.learned(chance, chance < 0.5, 1.0)
    assert known.mean[0] == pytest.approx(0.0, abs=1e-6) and known.mean[1] < -0.5


def test_little_is_changed_by_few_outcomes() -> None:
    known = NO_CORRECTION.learned(*cases(5, 2.0, 2.0), 0.5)
    assert np.abs(corrected(EVEN, known.mean[0], known.mean[1]) - EVEN).max() < 0.06


@given(st.floats(-3.0, 3.0), st.floats(-1.0, 4.0))
def test_a_higher_chance_stays_one(intercept: float, slope: float) -> None:
    found = corrected(EVEN, np.array(intercept), np.array(slope))
    assert (np.diff(found) >= 0.0).all() and (found > 0.0).all() and (found < 1.0).all()


@given(st.lists(st.booleans(), min_size=6, max_size=60), st.integers(0, 9))
def test_whatever_happens_what_is_learned_is_finite(outcome: list[bool], seed: int) -> None:
    chance = np.random.default_rng(seed).choice([0.0005, 0.5, 0.9995], len(outcome))
    known = NO_CORRECTION
    for _ in range(30):
        known = known.learned(chance, np.array(outcome), 0.5)
    assert np.isfinite(known.mean).all() and (np.linalg.eigvalsh(known.precision) >= 30.0 - 1e-6).all()
