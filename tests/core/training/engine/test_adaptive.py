from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.settings import TrainingSettings
from core.training.engine.adaptive import WINDOW, AdaptiveRate
from core.training.engine.schedule import RateSchedule


def observe(rate: AdaptiveRate, ratio: float, windows: int = 1, seed: int = 0) -> AdaptiveRate:
    """Candles that are as hard as chance has it, on which the model loses `ratio` of what the reference loses."""
    for reference in np.random.default_rng(seed).gamma(1.0, 0.15, windows * WINDOW):
        rate.observe(ratio * float(reference), float(reference))
    return rate


def test_as_long_as_the_model_gains_the_rate_stays() -> None:
    rate = AdaptiveRate()
    for window in range(12):
        assert observe(rate, 0.99 - 0.005 * window, seed=window).factor == 1.0


def test_it_is_halved_each_time_three_windows_brought_nothing_but_never_below_an_eighth() -> None:
    rate = observe(AdaptiveRate(), 0.99)
    factors = [observe(rate, 0.99, windows=3, seed=seed).factor for seed in range(5)]
    assert factors == [0.5, 0.25, 0.125, 0.125, 0.125]


def test_how_hard_the_candles_were_to_forecast_is_of_no_matter() -> None:
    """A market whose losses double is not a model that is stuck."""
    rate, hard = AdaptiveRate(), 1.0
    for window in range(10):
        hard *= 2.0
        for reference in np.random.default_rng(window).gamma(1.0, hard, WINDOW):
            rate.observe((0.99 - 0.005 * window) * float(reference), float(reference))
    assert rate.factor == 1.0


def test_a_market_that_changed_gives_the_whole_rate_back() -> None:
    rate = observe(AdaptiveRate(), 0.99, windows=8)
    assert rate.factor < 1.0
    rate.renew()
    assert rate.factor == 1.0 and rate.state() == AdaptiveRate().state()


def test_what_is_not_a_number_is_passed_over() -> None:
    rate = observe(AdaptiveRate(), 0.99)
    before = rate.state()
    rate.observe(math.nan, 1.0)
    rate.observe(1.0, math.inf)
    assert rate.state() == before


@pytest.mark.parametrize("cut", [10, 3 * WINDOW, 4 * WINDOW + 7])
def test_it_goes_on_from_its_state(cut: int) -> None:
    losses = np.random.default_rng(1).gamma(1.0, 0.15, 6 * WINDOW)
    whole, first, second = AdaptiveRate(), AdaptiveRate(), AdaptiveRate()
    for place, loss in enumerate(losses):
        whole.observe(float(loss), float(loss))
        if place == cut:
            second.restore(json.loads(json.dumps(first.state())))
        (second if place >= cut else first).observe(float(loss), float(loss))
    assert second.state() == whole.state()


def schedule() -> RateSchedule:
    return RateSchedule(TrainingSettings(schedule="adaptive"))


def test_the_schedule_counts_only_candles_before_which_something_was_learned() -> None:
    made = schedule()
    for _ in range(8 * WINDOW):
        made.compare(1.0, 1.0)
    assert made.factor == 1.0
    for _ in range(8 * WINDOW):
        made.advance()
        made.compare(1.0, 1.0)
    assert made.factor == 0.25


def test_other_schedules_do_not_look_at_it() -> None:
    made = RateSchedule(TrainingSettings(schedule="constant"))
    for _ in range(8 * WINDOW):
        made.advance()
        made.compare(1.0, 1.0)
    assert made.factor == 1.0


@pytest.mark.parametrize("kind", ["constant", "adaptive"])
def test_learning_faster_for_a_while_falls_back_and_survives_a_restart(kind: str) -> None:
    made = RateSchedule(TrainingSettings(schedule=kind))  # type: ignore[arg-type]
    made.hurry(3.0, 100)
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


def test_a_state_from_before_there_was_any_of_it_is_taken() -> None:
    made = schedule()
    made.restore({"done": 50, "plateau": 1.0, "stuck": 0})
    assert made.factor == 1.0
