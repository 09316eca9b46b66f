"""The schedules against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, ReduceLROnPlateau, SequentialLR

from core.settings import TrainingSettings
from core.training.engine.schedule import RateSchedule

RATE = 0.1


def optimizer() -> torch.optim.SGD:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)


def test_cosine_after_a_warm_up_is_torchs() -> None:
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


@pytest.mark.parametrize("seed", range(4))
def test_plateau_is_torchs(seed: int) -> None:
    ours = RateSchedule(TrainingSettings(schedule="plateau", schedule_steps=10))
    plain = optimizer()
    theirs = ReduceLROnPlateau(plain, factor=0.5, patience=10, threshold=1e-3, min_lr=RATE * 1e-3)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(300):
        loss = 1.0 + float(torch.rand((), generator=generator))
        ours.observe(loss)
        theirs.step(loss)
        assert RATE * ours.factor == pytest.approx(plain.param_groups[0]["lr"], rel=1e-9)
    assert ours.factor < 1.0


def test_a_loss_that_is_not_finite_tells_nothing() -> None:
    schedule = RateSchedule(TrainingSettings(schedule="plateau", schedule_steps=10))
    for _ in range(100):
        schedule.observe(float("nan"))
    assert schedule.factor == 1.0 and schedule.state()["best"] is None


@pytest.mark.parametrize("kind", ["constant", "cosine", "plateau"])
def test_it_goes_on_where_it_was(kind: str) -> None:
    settings = TrainingSettings(schedule=kind, schedule_steps=10, warmup_steps=3)  # type: ignore[arg-type]
    first, second = RateSchedule(settings), RateSchedule(settings)
    for step in range(25):
        first.advance()
        first.observe(1.0 + 0.1 * (step % 3))
    second.restore(first.state())
    for _ in range(30):
        assert first.factor == second.factor
        for schedule in (first, second):
            schedule.advance()
            schedule.observe(2.0)
