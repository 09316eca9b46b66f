"""The doctor behind the real engine and recovery ladder, as a session wires them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import StepDone
from core.settings.tree import RecoverySettings, Settings
from core.training.doctor.doctor import GradientDoctor
from core.training.engine.engine import TrainingEngine
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder, TrainedStep
from core.training.recovery.quarantine import Quarantine
from tests.core.training.engine.rigs import REFERENCE, batch, engine

pytestmark = pytest.mark.faults


class Ward:
    """An engine with its ladder and its doctor."""

    def __init__(self, folder: Path) -> None:
        self.engine = engine()
        known_good = KnownGood(self.engine, np.random.default_rng(0))
        self.ladder = RecoveryLadder(self.engine, RecoverySettings(), known_good, Quarantine(folder))
        self.doctor = GradientDoctor("run", self.engine.layers, Settings)
        self.step = 0

    def train(self) -> TrainedStep:
        self.step += 1
        before = self.ladder.known_good.restores
        trained = self.ladder.train(batch(self.step), REFERENCE, self.step, [])
        self.doctor.observe(self._event(trained))
        if self.ladder.known_good.restores > before:
            self.doctor.rolled_back()
        return trained

    def diagnose(self) -> Diagnosis:
        return self.doctor.diagnose()

    def _event(self, trained: TrainedStep) -> StepDone:
        result = trained.result
        return StepDone(
            run_id="run",
            step=self.step,
            candle_open_time_ms=0,
            loss=result.loss,
            prequential_loss=None,
            gradient_norm=result.gradient_norm,
            clipped=result.clipped,
            learning_rate=result.learning_rate,
            clip_norm=1.0,
            samples=4,
            duration_ms=1.0,
            at_ms=0,
            skipped_because=result.skipped_because,
            gradients=result.gradients,
        )


def spoil_before(trained: TrainingEngine) -> None:
    with torch.no_grad():
        next(trained.model.parameters()).view(-1)[0] = torch.nan


def spoil_after_forward(trained: TrainingEngine) -> None:
    def hook(module: nn.Module, *_: object) -> None:
        spoil_before(trained)
        handle.remove()

    handle = trained.model.register_forward_hook(hook)


def spoil_moment(trained: TrainingEngine) -> None:
    """As an overflow leaves it: the optimizer's own update then writes the NaN."""
    next(iter(trained.optimizer.state.values()))["exp_avg"].view(-1)[0] = torch.inf


@pytest.mark.parametrize("spoil", [spoil_before, spoil_after_forward, spoil_moment])
def test_the_doctor_explains_repeated_rollbacks(tmp_path: Path, spoil: Callable[[TrainingEngine], None]) -> None:
    ward = Ward(tmp_path)
    for _ in range(55):
        ward.train()
    ward.ladder.known_good.remember(ward.step)
    kinds: list[str] = []
    for number in range(40):
        if number % 10 == 0:
            spoil(ward.engine)
        trained = ward.train()
        kinds += [incident.kind for incident in trained.incidents]
        if trained.incidents:
            assert trained.result.loss is None and trained.result.skipped_because is not None
            assert ward.diagnose().disease is Disease.NOT_FINITE
        if trained.must_pause:
            break
    assert kinds == ["rolled back"] * 3 + ["rollbacks used up"]
    found = ward.diagnose()
    assert found.disease is Disease.NOT_FINITE and "in the parameters" in found.evidence
    assert "4 of the last" in found.evidence
    assert found.change is not None and found.change.name == "learning_rate"
    ward.ladder.resumed()
    for _ in range(100):
        ward.train()
    assert ward.diagnose().disease is not Disease.NOT_FINITE
