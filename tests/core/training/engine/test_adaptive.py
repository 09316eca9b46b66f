from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.settings.tree import TrainingSettings
from core.training.engine.schedule import ADAPTIVE_BLOCK, AdaptiveRate, RateSchedule

LOOK = 10 * ADAPTIVE_BLOCK


def observe(rate: AdaptiveRate, ratio: float, looks: int = 1, seed: int = 0) -> AdaptiveRate:
    """Candles that are as hard as chance has it, on which the model loses `ratio` of the reference's loss, about."""
    generator = np.random.default_rng(seed)
    for reference in generator.gamma(1.0, 0.15, looks * LOOK):
        rate.observe(np.array([reference * ratio * np.exp(generator.normal(0.0, 0.1))]), np.array([reference]))
    return rate


def test_the_rate_is_unchanged_while_learning_helps() -> None:
    assert observe(AdaptiveRate(), 0.97, looks=12).factor == 1.0


def test_the_rate_is_halved_during_harm_down_to_an_eighth_and_recovers() -> None:
    rate = AdaptiveRate()
    factors = [observe(rate, 1.05, seed=seed).factor for seed in range(5)]
    assert factors == [0.5, 0.25, 0.125, 0.125, 0.125]
    back = [observe(rate, 0.93, looks=2, seed=seed).factor for seed in range(5)]
    assert back[-1] == 1.0 and back == sorted(back)


def test_the_candles_of_the_newest_test_are_counted() -> None:
    """A test that changes nothing keeps its blocks for the next, at most 20."""
    rate, counts = AdaptiveRate(), []
    for _ in range(3):
        counts.append(observe(rate, 1.0).tested_candles)
    assert counts == [LOOK, 2 * LOOK, 2 * LOOK]


def test_without_effect_the_rate_is_rarely_halved_by_chance() -> None:
    mean = np.exp(0.1**2 / 2.0)
    halved = sum(observe(AdaptiveRate(), 1.0 / mean, looks=1, seed=seed).factor < 1.0 for seed in range(200))
    assert halved <= 16  # 2.5 % of looks, or a little more of ten blocks


def test_the_difficulty_of_the_candles_does_not_matter() -> None:
    """A market whose losses double from block to block is not a model that got worse."""
    rate, hard = AdaptiveRate(), 1.0
    for block in range(40):
        hard *= 2.0
        for reference in np.random.default_rng(block).gamma(1.0, hard, ADAPTIVE_BLOCK):
            rate.observe(np.array([0.97 * reference]), np.array([reference]))
    assert rate.factor == 1.0


def test_equal_losses_change_nothing() -> None:
    rate = AdaptiveRate()
    for _ in range(6 * LOOK):
        rate.observe(np.array([0.2]), np.array([0.2]))
    assert rate.factor == 1.0


def test_a_market_change_restores_the_full_rate() -> None:
    rate = observe(AdaptiveRate(), 1.05, looks=3)
    assert rate.factor < 1.0
    rate.renew()
    assert rate.factor == 1.0 and rate.state() == AdaptiveRate().state()


def test_nan_losses_do_not_reset_the_rate() -> None:
    rate, other = observe(AdaptiveRate(), 0.97), observe(AdaptiveRate(), 0.97)
    for model, without in ((math.nan, 1.0), (1.0, math.inf)):
        rate.observe(np.array([model]), np.array([without]))
        other.observe(np.array([1.0]), np.array([1.0]))
    assert rate.state() == other.state()


def test_harm_at_one_horizon_does_not_hide_behind_gains_at_the_others() -> None:
    generator, rate = np.random.default_rng(3), AdaptiveRate()
    gain = np.full(16, 0.05)
    gain[-1] = -0.05
    for _ in range(2 * LOOK):
        without = generator.gamma(1.0, 0.15, 16) + 1.0
        rate.observe(without - gain + generator.normal(0.0, 0.1, 16), without)
    assert rate.factor < 1.0


def test_many_horizons_rarely_halve_the_rate_by_chance() -> None:
    halved = 0
    for seed in range(100):
        generator, rate = np.random.default_rng(seed), AdaptiveRate()
        for _ in range(LOOK):
            rate.observe(generator.normal(0.0, 0.1, 16), np.zeros(16))
        halved += rate.factor < 1.0
    assert halved <= 12  # of ten blocks the tails of a mean in its standard errors are heavier than the normal ones


@pytest.mark.parametrize("cut", [10, 3 * LOOK, 4 * LOOK + 7])
def test_a_restored_state_continues(cut: int) -> None:
    losses = np.random.default_rng(1).gamma(1.0, 0.15, 6 * LOOK)
    whole, first, second = AdaptiveRate(), AdaptiveRate(), AdaptiveRate()
    for place, loss in enumerate(losses):
        without = np.array([loss, 2.0 * loss])
        whole.observe(1.02 * without, without)
        if place == cut:
            second.restore(json.loads(json.dumps(first.state())))
        (second if place >= cut else first).observe(1.02 * without, without)
    assert second.state() == whole.state()


def schedule() -> RateSchedule:
    return RateSchedule(TrainingSettings(schedule="adaptive"))


def compare(made: RateSchedule, looks: int, has_learned: bool) -> list[float]:
    """The factors applied to the rate."""
    changes = []
    for candle in range(looks * LOOK):
        if has_learned:
            made.advance()
        times = made.compare(np.array([1.1 + 0.01 * (candle % 7)]), np.array([1.0]))
        changes += [] if times is None else [times]
    return changes


def test_only_candles_after_training_count() -> None:
    made = schedule()
    assert compare(made, 3, has_learned=False) == [] and made.factor == 1.0
    assert compare(made, 3, has_learned=True) == [0.5, 0.5, 0.5] and made.factor == 0.125


def test_other_schedules_ignore_the_comparison() -> None:
    constant = RateSchedule(TrainingSettings(schedule="constant"))
    assert compare(constant, 3, has_learned=True) == [] and constant.factor == 1.0


@pytest.mark.parametrize("kind", ["constant", "adaptive"])
def test_a_temporary_boost_ends_and_survives_a_restart(kind: str) -> None:
    made = RateSchedule(TrainingSettings(schedule=kind))  # type: ignore[arg-type]
    made.boost(3.0, 100)
    assert made.factor == 3.0
    for _ in range(50):
        made.advance()
    assert made.factor == pytest.approx(2.0)
    other = RateSchedule(TrainingSettings(schedule=kind))  # type: ignore[arg-type]
    other.restore(json.loads(json.dumps(made.state())))
    for _ in range(60):
        assert other.factor == made.factor
        other.advance()
        made.advance()
    assert made.factor == other.factor == 1.0
