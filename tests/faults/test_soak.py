"""Thousands of candles with faults at seeded random moments: nothing is lost, nothing grows, and the skill is the same.

`make soak` takes 20,000 candles, CI a shorter stretch.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.domain.clock import SystemClock
from core.domain.events import Estimate, StepDone, TrainerEvent
from core.domain.quantities import FloatArray
from core.forecast.score import skill
from core.settings.tree import CheckpointSettings
from core.storage.records import StoredScore
from core.training.recovery.exit_reasons import DeathCause
from tests.core.training import rigs
from tests.core.training.pretraining.rigs import reverting
from tests.support import driven, faulty_trainer
from tests.support.driven import Driven, Record
from tests.support.faulty_trainer import FaultKind, random_schedule

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
COUNT = 20_000 if IS_LONG else 1_000
SPACING = 500 if IS_LONG else 120
SEED = 20_261_121
KINDS = (FaultKind.BAD_BATCH, FaultKind.RAISE, FaultKind.KILL, FaultKind.NAN, FaultKind.ABORT, FaultKind.HANG)
CANDLES = reverting(COUNT, seed=3)
"""They have a pattern: a run that learns it has skill, and one that does not has none."""
SETTINGS = replace(
    rigs.SMALL,
    recovery=replace(rigs.SMALL.recovery, hang_seconds=5.0),
    checkpoints=CheckpointSettings(every_steps=50),
)

pytestmark = [
    pytest.mark.faults,
    pytest.mark.slow,
    pytest.mark.xdist_group("soak"),  # both tests share one calm run
    pytest.mark.timeout(7200 if IS_LONG else 600),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


class BusyNight:
    """The machine's clock, plus an hour between deaths of trainers, as in a long night: the circuit breaker counts
    crashes within ten minutes. Everything else (such as the time a trainer may take to stop) is in real time."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self.deaths: list[DeathCause] = []

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def monotonic_s(self) -> float:
        return self._clock.monotonic_s() + 3600.0 * len(self.deaths)

    def sleep_s(self, seconds: float) -> None:
        self._clock.sleep_s(seconds)


@dataclass(frozen=True)
class Night:
    """The results of a run over all candles."""

    run: Driven
    record: Record
    scores: tuple[StoredScore, ...]
    memory_mb: tuple[float, ...]
    """Of this process and the trainer together, at even steps."""

    def quarter(self, number: int) -> float:
        """The median memory in a quarter of the run, from 0."""
        size = len(self.memory_mb) // 4
        return float(np.median(self.memory_mb[number * size : (number + 1) * size]))


def night(root: Path, faults: list[faulty_trainer.Fault]) -> Night:
    driven.store_candles(root, CANDLES)
    faulty_trainer.schedule(root, faults)
    clock = BusyNight()
    run = Driven(root, SETTINGS, clock=clock)
    clock.deaths = run.deaths
    memory: list[float] = []

    def look(event: TrainerEvent) -> None:
        if isinstance(event, StepDone) and event.step % 20 == 0:
            memory.append(memory_of(run))
            run.events.clear()  # the test itself must not grow

    run.run(look)
    return Night(run, driven.record_of(root), driven.scores_of(root), tuple(memory))


def memory_of(run: Driven) -> float:
    processes = [psutil.Process(), *(psutil.Process(pid) for pid in run.process_ids[-1:] if psutil.pid_exists(pid))]
    return sum(process.memory_info().rss for process in processes) / 2**20


LOOKS = ("", "range_", "model_", "range_model_")
"""The shown forecast, for close and range; and the model alone, which cheap experts hide in the combination."""


@dataclass(frozen=True)
class Losses:
    """Of one-step forecasts, and of "no change", candle by candle."""

    own: FloatArray
    reference: FloatArray


def losses_of(scores: tuple[StoredScore, ...], what: str) -> Losses:
    """what: one of LOOKS."""
    reference = "range_reference_loss" if what.startswith("range") else "reference_loss"
    own, no_change = (np.array([getattr(score, name) for score in scores]) for name in (f"{what}loss", reference))
    return Losses(own, no_change)


def skill_gained(one: Losses, other: Losses) -> Estimate:
    """The difference in skill on the same candles, with its block bootstrap interval.

    Paired: the common effect of a candle cancels out, so a small difference shows.
    """
    np.testing.assert_allclose(one.reference, other.reference)
    return skill(other.reference + one.own - other.own, other.reference)


def is_within_noise(scores: tuple[StoredScore, ...], calm: tuple[StoredScore, ...]) -> bool:
    """Whether the whole interval of the paired difference is smaller than half of the calm run's own interval."""
    verdicts = []
    for what in LOOKS:
        usual = losses_of(calm, what)
        own, gained = skill(usual.own, usual.reference), skill_gained(losses_of(scores, what), usual)
        assert own.low is not None and own.high is not None and gained.low is not None and gained.high is not None
        noise = (own.high - own.low) / 2.0
        print(
            f"{what or 'close_'}skill: {own.value:.4f} +- {noise:.4f}; gained [{gained.low:+.4f}, {gained.high:+.4f}]"
        )
        verdicts.append(-noise < gained.low and gained.high < noise)
    return all(verdicts)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Night:
    return night(tmp_path_factory.mktemp("calm"), [])


def assert_flat(each: Night) -> None:
    growth = each.quarter(3) / each.quarter(1) - 1.0
    print(f"memory: {each.quarter(1):.0f} MB, then {each.quarter(3):.0f} MB ({growth:+.2%})")
    assert growth < 0.02


def test_a_night_of_faults_loses_nothing(tmp_path: Path, calm: Night) -> None:
    faults = random_schedule(SEED, COUNT, SPACING, KINDS)
    print(f"seed {SEED}: {[(fault.step, fault.kind.value) for fault in faults]}")
    disturbed = night(tmp_path, faults)
    ending = [fault for fault in faults if fault.kind in faulty_trainer.ENDS_PROCESS]
    assert calm.run.deaths == [] and len(disturbed.run.deaths) == len(ending) > 1
    assert disturbed.run.failures == []
    assert disturbed.record.origins_ms == calm.record.origins_ms
    assert disturbed.record.scored_targets_ms == calm.record.scored_targets_ms
    assert len(calm.record.scored_targets_ms) == COUNT - 1
    assert disturbed.record.steps == calm.record.steps == tuple(range(1, COUNT))
    assert is_within_noise(disturbed.scores, calm.scores), "the skill differs"
    for each in (calm, disturbed):
        assert_flat(each)


def test_a_wrongly_training_run_is_outside_the_noise(tmp_path: Path, calm: Night) -> None:
    """The check of the skill can fail. (A run that learns nothing would pass: it forecasts like the baselines.)"""
    wrecked = replace(SETTINGS, training=replace(SETTINGS.training, learning_rate=0.3))
    session = rigs.service(tmp_path, wrecked)
    rigs.feed(session, CANDLES)
    session.close()
    assert not is_within_noise(driven.scores_of(tmp_path), calm.scores)
    assert is_within_noise(calm.scores, calm.scores)
