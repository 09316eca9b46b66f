"""A trend is judged against the series' own noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.doctor.evidence import FEWEST_FOR_A_TREND, trend_of

CERTAIN = 2.6


def test_noise_has_no_trend() -> None:
    """Also where it has heavy tails: fewer than 1 in 50 of either sign."""
    random = np.random.default_rng(1)
    z = [trend_of(random.standard_t(2, random.integers(60, 300))).z for _ in range(500)]  # type: ignore[union-attr]
    assert np.mean(np.abs(z) > CERTAIN) < 0.02


@pytest.mark.parametrize("fall", [0.4, 1.0])
def test_a_fall_is_found_in_noise_of_nearly_its_size(fall: float) -> None:
    random = np.random.default_rng(2)
    found = [trend_of(2.0 - np.linspace(0, fall, 250) + random.normal(0, 0.3, 250)) for _ in range(200)]
    assert np.mean([one is not None and one.z < -CERTAIN for one in found]) > 0.95
    assert np.median([one.climb for one in found if one is not None]) == pytest.approx(-fall, rel=0.15)


def test_spikes_and_gaps_do_not_change_the_trend() -> None:
    values = np.linspace(2.0, 1.0, 200) + np.random.default_rng(3).normal(0, 0.05, 200)
    spoiled = values.copy()
    spoiled[::17] = 1e6
    spoiled[5::23] = np.nan
    clean, found = trend_of(values), trend_of(spoiled)
    assert clean is not None and found is not None
    assert found.climb == pytest.approx(clean.climb, rel=0.2)
    assert found.end == pytest.approx(clean.end, rel=0.05)
    assert found.z < -CERTAIN


@given(st.lists(st.floats(-1e6, 1e6), min_size=FEWEST_FOR_A_TREND, max_size=300))
def test_a_mirrored_series_has_the_opposite_trend(numbers: list[float]) -> None:
    up, down = trend_of(np.array(numbers)), trend_of(-np.array(numbers))
    assert up is not None and down is not None
    assert (up.z, up.climb, up.start) == pytest.approx((-down.z, -down.climb, -down.start))


def test_too_few_numbers_have_no_trend() -> None:
    assert trend_of(np.r_[np.ones(FEWEST_FOR_A_TREND - 1), np.full(100, np.nan)]) is None
