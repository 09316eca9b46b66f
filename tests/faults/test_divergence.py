"""A rate at which the default model diverges, in the real session on the simulated market: reported within 50 steps,
with the recovery; and healthy runs are not reported.

`make soak` takes 20 seeds of each rate and 100 healthy runs; docs/research/gradients.md has the figures.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import SIMULATED_VENUE, Market
from core.domain.clock import ManualClock
from core.domain.diagnosis import Diagnosis, Disease, SettingChange
from core.domain.events import ForecastMode, Incident, StepDone, TrainerEvent
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.simulated import _Path
from core.settings.tree import Settings, TrainingSettings
from core.training.commands import SetLearningRate
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.support.candles import MINUTE, START_MS

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
RATES = (0.03, 0.1, 0.3, 1.0)
SEEDS = range(20) if IS_LONG else range(2)
HEALTHY_SEEDS = range(1000, 1100) if IS_LONG else range(1000, 1002)
CHANGED_AFTER = 300
NAMED_WITHIN = 50
HEALTHY_STEPS = 400
QUICK_AFTER = 60

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


class Run:
    """The service as the child process has it, fed with candles of the simulated market."""

    def __init__(self, root: Path, seed: int) -> None:
        print(f"seed {seed}")
        training = TrainingSettings(device="cpu", seed=seed)
        self._path, self._next = _Path(np.random.default_rng(seed)), 0
        self.market = market = Market(SIMULATED_VENUE, f"SIM-{seed}", MINUTE)
        self.service = TrainingService(rigs.spec(root, Settings(training=training), market), ManualClock(START_MS))
        self.step = 0
        self.events: list[TrainerEvent] = []

    def train(self, until: int, *, is_to_diagnosis: bool = False) -> None:
        """To this step, or to the verdict that it has diverged."""
        while self.step < until and not (is_to_diagnosis and self.diverged is not None):
            candle = self._path.candle(START_MS + self._next * MINUTE.duration_ms)[-1]
            self._next += 1
            events = self.service.handle(rigs.observed(candle, ForecastMode.SIMULATED, self.market))
            self.step = max((event.step for event in events if isinstance(event, StepDone)), default=self.step)
            self.events.extend(events)

    @property
    def diverged(self) -> Diagnosis | None:
        verdicts = (event for event in self.events if isinstance(event, Diagnosis))
        return next((one for one in verdicts if one.disease is Disease.DIVERGED), None)


def assert_named(root: Path, seed: int, rate: float, changed_after: int) -> None:
    run = Run(root, seed)
    run.train(changed_after)
    assert run.diverged is None
    run.service.handle(SetLearningRate(rate))
    run.train(changed_after + NAMED_WITHIN, is_to_diagnosis=True)
    found = run.diverged
    run.service.close()
    assert found is not None and found.recovery is not None, (seed, rate)
    assert found.recovery.changes == (SettingChange("training", "learning_rate", TrainingSettings().learning_rate),)
    assert found.recovery.checkpoint_step == changed_after
    print(f"rate {rate:g}: named at step {found.step}. {found.evidence}")


@pytest.mark.slow
def test_a_rate_that_is_a_thousand_times_too_high_is_reported(tmp_path: Path) -> None:
    assert_named(tmp_path, 0, 0.03, QUICK_AFTER)


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_diverging_model_is_reported_within_fifty_steps(tmp_path: Path, seed: int, rate: float) -> None:
    assert_named(tmp_path, seed, rate, CHANGED_AFTER)


@pytest.mark.slow
@pytest.mark.parametrize("seed", HEALTHY_SEEDS)
def test_a_healthy_run_is_not_reported(tmp_path: Path, seed: int) -> None:
    run = Run(tmp_path, seed)
    run.train(HEALTHY_STEPS)
    run.service.close()
    diseases = {event.disease for event in run.events if isinstance(event, Diagnosis)}
    assert diseases == {Disease.UNKNOWN, Disease.HEALTHY}
    kinds = {event.kind for event in run.events if isinstance(event, Incident)}
    assert kinds <= {IncidentKind.DRIFT}, "the market may change"
