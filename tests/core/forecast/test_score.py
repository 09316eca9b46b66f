from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.events import Estimate
from core.domain.quantities import LEVELS, FloatArray
from core.forecast import score


@given(outcome=st.floats(-5, 5), quantiles=st.lists(st.floats(-5, 5), min_size=7, max_size=7))
def test_pinball_loss_equals_its_definition(outcome: float, quantiles: list[float]) -> None:
    expected = np.mean(
        [
            level * (outcome - quantile) if outcome >= quantile else (1.0 - level) * (quantile - outcome)
            for level, quantile in zip(LEVELS, quantiles, strict=True)
        ]
    )
    assert score.pinball(np.array(outcome), np.array(quantiles)) == pytest.approx(expected)


def test_wilson_interval() -> None:
    estimate = score.share(50, 100)
    assert (estimate.low, estimate.high) == (pytest.approx(0.4038, abs=1e-4), pytest.approx(0.5962, abs=1e-4))


@pytest.mark.parametrize("n", [0, 1, 7, score.FEWEST_FOR_AN_ESTIMATE - 1])
def test_few_candles_give_no_number(n: int) -> None:
    assert score.share(n, n).value is None
    assert score.mean(np.ones(n)).value is None
    assert score.skill(np.ones(n), np.ones(n)).value is None


def test_equal_losses_have_no_skill() -> None:
    losses = np.random.default_rng(0).gamma(2.0, 1.0, 500)
    estimate = score.skill(losses, losses)
    assert estimate.value == pytest.approx(0.0) and estimate.low == pytest.approx(0.0)


def test_the_interval_has_about_its_nominal_coverage() -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        reference = generator.gamma(2.0, 1.0, 300)
        loss = reference * 0.9 + generator.normal(0.0, 0.3, 300)
        estimate = score.skill(loss, reference)
        assert estimate.low is not None and estimate.high is not None
        hits += estimate.low <= 0.1 <= estimate.high
    assert 180 <= hits <= 199


def test_overlapping_forecasts_have_wider_intervals_of_nominal_coverage() -> None:
    """Losses of forecasts of 40 candles, each of which shares 39 of them with the one before it."""
    generator, horizon = np.random.default_rng(8), 40
    hits, taken_as_single = 0, 0
    for _ in range(100):
        noise = np.convolve(generator.normal(size=839), np.ones(horizon), "valid") / horizon**0.5
        values = 1.0 + 0.5 * noise
        wide, narrow = score.mean(values, horizon), score.mean(values)
        assert None not in (wide.low, wide.high, narrow.low, narrow.high)
        hits += wide.low <= 1.0 <= wide.high
        taken_as_single += narrow.low <= 1.0 <= narrow.high
    assert hits >= 82 and hits > taken_as_single + 10, (hits, taken_as_single)


@pytest.mark.parametrize("horizon", [1, 8, 64])
def test_overlap_never_narrows_the_interval_of_a_share(horizon: int) -> None:
    """Runs of hits and misses, and one of hits alone, of which a bootstrap by itself would be certain."""
    runs = np.repeat(np.random.default_rng(9).random(30) < 0.6, 12)
    for hits in (runs, np.ones(40, dtype=np.bool_)):
        single, found = score.share(int(hits.sum()), hits.size), score.share_of(hits, horizon)
        assert None not in (single.low, single.high, found.low, found.high)
        assert (found.value, found.n) == (single.value, single.n)
        assert found.low <= single.low <= single.high <= found.high
    several = score.share_of(runs, horizon)
    assert (several == score.share(int(runs.sum()), runs.size)) == (horizon == 1)
    assert score.share_of(np.ones(7, dtype=np.bool_), horizon).value is None


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param(np.zeros(800), id="never moves"),
        pytest.param(np.random.default_rng(0).random(800) * 1e-15, id="rounding"),
        pytest.param(np.where(np.arange(800) < 20, 0.01, 0.0), id="moved only at the start"),
    ],
)
def test_where_there_is_nothing_to_forecast_there_is_no_skill(reference: FloatArray) -> None:
    assert score.skill(np.full(800, 1e-6), reference) == Estimate(None, None, None, 800)


def test_the_gain_is_the_difference_of_two_skills() -> None:
    generator = np.random.default_rng(6)
    reference = generator.gamma(2.0, 1.0, 400)
    loss, without = 0.8 * reference, 0.9 * reference + generator.normal(0.0, 0.05, 400)
    estimate = score.gain(loss, without, reference)
    assert estimate.value == pytest.approx(
        (score.skill(loss, reference).value or 0.0) - (score.skill(without, reference).value or 0.0)
    )
    assert estimate.low is not None and estimate.high is not None
    assert 0.0 < estimate.low < estimate.value < estimate.high
    assert score.gain(loss[:5], without[:5], reference[:5]).value is None


def test_diebold_mariano_equals_a_normal_test_with_newey_west_variance() -> None:
    """Computed manually: 32 losses make three lags, with weights 3/4, 1/2 and 1/4."""
    difference = np.array([1.0, -1.0, 2.0, 0.5] * 8)
    centred = difference - 0.625
    covariance = [float((centred[lag:] * centred[: 32 - lag]).sum()) / 32 for lag in range(4)]
    variance = covariance[0] + 2 * (0.75 * covariance[1] + 0.5 * covariance[2] + 0.25 * covariance[3])
    statistic = 0.625 / (variance / 32) ** 0.5
    expected = 2.0 * (1.0 - NormalDist().cdf(statistic))
    assert score.diebold_mariano(np.zeros(32), difference) == pytest.approx(expected)


def test_diebold_mariano_has_about_its_nominal_level_for_correlated_losses() -> None:
    generator = np.random.default_rng(7)
    found = 0
    for _ in range(300):
        noise = generator.normal(size=1200)
        difference = noise[2:] + 0.5 * noise[1:-1] + 0.25 * noise[:-2]
        chance = score.diebold_mariano(np.full(difference.size, 10.0), 10.0 + difference)
        assert chance is not None
        found += chance < 0.05
    assert 5 <= found <= 30  # 15 expected; without allowing for it there would be 50


def test_diebold_mariano_gives_none_for_few_or_equal_losses() -> None:
    assert score.diebold_mariano(np.ones(10), np.zeros(10)) is None
    assert score.diebold_mariano(np.ones(100), np.ones(100)) is None


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 10))
def test_rolling_means_equal_those_of_each_window(hits: list[bool], window: int) -> None:
    shares = score.rolling_means(np.array(hits, dtype=bool), window)
    expected = [sum(hits[start : start + window]) / window for start in range(len(hits) - window + 1)]
    np.testing.assert_allclose(shares, expected, atol=1e-12)
