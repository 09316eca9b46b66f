"""The schedules against torch's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, ReduceLROnPlateau, SequentialLR

from core.settings.tree import TrainingSettings
from core.training.engine.schedule import RateSchedule

RATE = 0.1


def optimizer() -> torch.optim.SGD:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)


def test_cosine_after_a_warm_up_equals_torch() -> None:
    steps, warmup = 50, 8
    ours = RateSchedule(TrainingSettings(schedule="cosine", schedule_steps=steps, warmup_steps=warmup))
    plain = optimizer()
    parts = [
        LambdaLR(plain, lambda done: (done + 1) / (warmup + 1)),
        CosineAnnealingLR(plain, T_max=steps, eta_min=RATE / 10),
    ]
    theirs = SequentialLR(plain, parts, milestones=[warmup])
    for _ in range(warmup + steps):
        assert RATE * ours.factor == pytest.approx(plain.param_groups[0]["lr"], rel=1e-9)
        ours.advance()
        plain.step()
        theirs.step()
    for _ in range(5):  # torch's would rise again; ours stays at the end
        ours.advance()
    assert ours.factor == pytest.approx(0.1)


def plateau(length: int) -> RateSchedule:
    return RateSchedule(TrainingSettings(schedule="plateau", schedule_steps=length))


def learn(schedule: RateSchedule, loss: float) -> None:
    """A step, then the loss of the next candle, as the session does it."""
    schedule.advance()
    schedule.observe(loss)


@pytest.mark.parametrize("seed", range(4))
def test_plateau_equals_torch_on_window_means(seed: int) -> None:
    length = 10
    ours, plain = plateau(length), optimizer()
    theirs = ReduceLROnPlateau(plain, factor=0.5, patience=2, threshold=1e-3, min_lr=RATE * 1e-3)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(100):
        window = [1.0 + float(torch.rand((), generator=generator)) for _ in range(length)]
        for loss in window:
            learn(ours, loss)
        theirs.step(sum(window) / length)
        assert RATE * ours.factor == pytest.approx(plain.param_groups[0]["lr"], rel=1e-9)
    assert ours.factor < 1.0


@pytest.mark.parametrize("seed", range(20))
def test_plateau_distinguishes_a_falling_loss_from_a_stuck_one_in_noise(seed: int) -> None:
    """One candle's loss is spread as widely as it is large; the mean falls by 63 %, or not at all."""
    candles, falls, stuck = 8000, plateau(500), plateau(500)
    noise = np.random.default_rng(seed).exponential(size=candles)
    for index in range(candles):
        learn(falls, float(noise[index]) * math.exp(-index / candles))
        learn(stuck, float(noise[index]))
    assert falls.factor == 1.0
    assert stuck.factor < 1.0


def test_plateau_ignores_candles_without_training() -> None:
    """A run that is paused forecasts on, and its loss cannot fall."""
    schedule = plateau(10)
    for _ in range(10):
        learn(schedule, 1.0)
    for _ in range(1000):
        schedule.observe(2.0)
    assert schedule.factor == 1.0
    for _ in range(10):
        learn(schedule, 0.5)
    for _ in range(20):
        learn(schedule, 1.0)
    assert schedule.factor == 1.0, "the pause has not counted"


def test_a_non_finite_loss_is_ignored() -> None:
    schedule = plateau(10)
    before = schedule.state()
    for _ in range(100):
        schedule.observe(float("nan"))
    assert schedule.factor == 1.0 and schedule.state() == before


@pytest.mark.parametrize("kind", ["constant", "cosine", "plateau"])
def test_a_restored_schedule_continues(kind: str) -> None:
    settings = TrainingSettings(schedule=kind, schedule_steps=10, warmup_steps=3)  # type: ignore[arg-type]
    first, second = RateSchedule(settings), RateSchedule(settings)
    for step in range(25):
        first.advance()
        first.observe(1.0 + 0.1 * (step % 3))
    second.restore(first.state())
    for _ in range(60):
        assert first.factor == second.factor
        for schedule in (first, second):
            learn(schedule, 2.0)
    assert first.state() == second.state()
