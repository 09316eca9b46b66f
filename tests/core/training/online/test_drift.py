from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.quantities import FloatArray
from core.training.online.drift import DriftDetector, Rise

SEEDS = 12
CANDLES = 10_000


def rises(losses: FloatArray, detector: DriftDetector | None = None) -> list[tuple[int, Rise]]:
    """Each with the place at which it was certain."""
    detector = detector or DriftDetector()
    found = ((place, detector.observe(float(loss))) for place, loss in enumerate(losses))
    return [(place, rise) for place, rise in found if rise is not None]


def noise(kind: str, seed: int, n: int = CANDLES) -> FloatArray:
    """Losses of a market that stays as it is; real ones are about as skewed, and as alike from candle to candle."""
    generator = np.random.default_rng(seed)
    if kind == "gamma":
        return generator.gamma(2.0, 0.1, n)
    if kind == "log-normal":
        return np.exp(generator.normal(-2.0, 1.0, n))
    shocks, log_loss = generator.normal(0.0, 0.5 * math.sqrt(1.0 - 0.3**2), n), np.empty(n)
    previous = 0.0
    for place in range(n):
        previous = log_loss[place] = 0.3 * previous + shocks[place]
    return np.exp(log_loss - 2.0)


@pytest.mark.parametrize("kind", ["gamma", "log-normal", "alike"])
def test_false_alarms_are_at_most_one_in_ten_thousand_candles(kind: str) -> None:
    alarms = [len(rises(noise(kind, seed))) for seed in range(SEEDS)]
    assert sum(alarms) <= SEEDS, alarms


@pytest.mark.parametrize(("kind", "within"), [("gamma", 130), ("alike", 60)])
@pytest.mark.parametrize("seed", range(5))
def test_a_doubled_loss_is_detected_soon_and_once(kind: str, within: int, seed: int) -> None:
    losses = noise(kind, 100 + seed, 1_600)
    losses[1_000:] *= 2.0
    (place, rise), *others = rises(losses)
    assert 1_000 <= place < 1_000 + within and not others
    assert rise.candles <= within and rise.loss_before == pytest.approx(np.exp(np.log(losses[:1_000]).mean()), rel=0.1)
    assert 1.4 < rise.loss_after / rise.loss_before < 3.5


def test_after_a_drift_the_new_level_is_normal_and_the_next_drift_is_detected() -> None:
    losses = noise("alike", 7, 3_000)
    losses[1_000:] *= 2.0
    losses[2_000:] *= 2.0
    (first, _), (second, rise) = rises(losses)
    assert 1_000 <= first < 1_100 and 2_000 <= second < 2_100
    assert rise.loss_before == pytest.approx(np.exp(np.log(losses[first + 1 : 2_000]).mean()), rel=0.1)


def test_a_falling_loss_is_no_drift() -> None:
    losses = noise("alike", 3, 2_000)
    losses[1_000:] /= 4.0
    assert not rises(losses)


def test_a_single_candle_is_no_drift() -> None:
    losses = noise("alike", 4, 2_000)
    losses[[700, 1_200, 1_700]] = 1e12
    assert not rises(losses)


def test_nan_is_ignored_and_a_loss_of_zero_accepted() -> None:
    losses = noise("gamma", 5, 600)
    plain, fed = DriftDetector(), DriftDetector()
    for loss in losses:
        plain.observe(float(loss))
        fed.observe(float(loss))
        for odd in (math.nan, math.inf, -math.inf):
            assert fed.observe(odd) is None
    assert plain.state() == fed.state()
    assert fed.observe(0.0) is None and math.isfinite(fed.state()["usual"][1])


def test_constant_losses_are_no_drift_but_a_rise_after_them_is() -> None:
    losses = np.full(400, 0.1)
    losses[300:] = 0.2
    assert next(place for place, _ in rises(losses)) in range(300, 310)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 599))
def test_a_restored_detector_continues_identically(seed: int, cut: int) -> None:
    losses = noise("gamma", seed, 600)
    losses[300:] *= 3.0
    whole, first = DriftDetector(), DriftDetector()
    for loss in losses[:cut]:
        first.observe(float(loss))
    second = DriftDetector()
    second.observe(9.0)
    second.restore(json.loads(json.dumps(first.state())))
    expected = [(place - cut, rise) for place, rise in rises(losses, whole) if place >= cut]
    assert rises(losses[cut:], second) == expected
    assert second.state() == whole.state()
