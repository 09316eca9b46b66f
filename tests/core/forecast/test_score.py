from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.forecast import score
from core.forecast.quantities import LEVELS


@given(outcome=st.floats(-5, 5), quantiles=st.lists(st.floats(-5, 5), min_size=7, max_size=7))
def test_pinball_equals_the_textbook(outcome: float, quantiles: list[float]) -> None:
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


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        reference = generator.gamma(2.0, 1.0, 300)
        loss = reference * 0.9 + generator.normal(0.0, 0.3, 300)
        estimate = score.skill(loss, reference)
        assert estimate.low is not None and estimate.high is not None
        hits += estimate.low <= 0.1 <= estimate.high
    assert 180 <= hits <= 199


def test_a_reference_without_loss_gives_no_skill() -> None:
    assert score.skill(np.ones(100), np.zeros(100)).value is None
