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

from core.clock import SystemClock
from core.events import AccuracySummary, StepDone, TrainerEvent, TrainerStatus
from core.settings import CheckpointSettings
from tests.core.training import rigs
from tests.support import driven, faulty_trainer
from tests.support.candles import random_walk
from tests.support.driven import Driven, Record
from tests.support.faulty_trainer import FaultKind, random_schedule

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
COUNT = 20_000 if IS_LONG else 1_600
SPACING = 500 if IS_LONG else 200
SEED = 20_261_121
KINDS = (FaultKind.BAD_BATCH, FaultKind.RAISE, FaultKind.KILL, FaultKind.NAN, FaultKind.ABORT, FaultKind.HANG)
SETTINGS = replace(
    rigs.SMALL,
    recovery=replace(rigs.SMALL.recovery, hang_seconds=2.0),
    checkpoints=CheckpointSettings(every_steps=50),
)

pytestmark = [
    pytest.mark.faults,
    pytest.mark.slow,
    pytest.mark.timeout(7200 if IS_LONG else 600),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


class BusyNight:
    """The machine's clock, a thousand times faster: an hour of market between two faults takes seconds here, and the
    breaker counts crashes within ten minutes of a clock that it is handed."""

    _FASTER = 1000.0

    def __init__(self) -> None:
        self._clock = SystemClock()

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def monotonic_s(self) -> float:
        return self._FASTER * self._clock.monotonic_s()

    def sleep_s(self, seconds: float) -> None:
        self._clock.sleep_s(seconds / self._FASTER)


@dataclass(frozen=True)
class Night:
    """What a run of the whole stretch left."""

    run: Driven
    record: Record
    accuracy: AccuracySummary
    memory_mb: tuple[float, ...]
    """Of this process and the trainer together, at even steps."""

    def quarter(self, number: int) -> float:
        """The median memory in a quarter of the run, from 0."""
        size = len(self.memory_mb) // 4
        return float(np.median(self.memory_mb[number * size : (number + 1) * size]))


def night(root: Path, faults: list[faulty_trainer.Fault]) -> Night:
    driven.store_candles(root, random_walk(COUNT, seed=3))
    faulty_trainer.schedule(root, faults)
    run = Driven(root, SETTINGS, clock=BusyNight())
    memory: list[float] = []
    newest: list[AccuracySummary] = []

    def look(event: TrainerEvent) -> None:
        if isinstance(event, TrainerStatus):
            newest[:] = [event.accuracy]
        if isinstance(event, StepDone) and event.step % 20 == 0:
            memory.append(memory_of(run))
            run.events.clear()  # the test must not be what grows

    run.run(look)
    return Night(run, driven.record_of(root), newest[0], tuple(memory))


def memory_of(run: Driven) -> float:
    processes = [psutil.Process(), *(psutil.Process(pid) for pid in run.process_ids[-1:] if psutil.pid_exists(pid))]
    return sum(process.memory_info().rss for process in processes) / 2**20


def test_a_night_of_faults_loses_nothing(tmp_path: Path) -> None:
    faults = random_schedule(SEED, COUNT, SPACING, KINDS)
    print(f"seed {SEED}: {[(fault.step, fault.kind.value) for fault in faults]}")
    calm = night(tmp_path / "calm", [])
    disturbed = night(tmp_path / "disturbed", faults)
    ending = [fault for fault in faults if fault.kind in faulty_trainer.ENDS_PROCESS]
    assert calm.run.deaths == [] and len(disturbed.run.deaths) == len(ending) > 1
    assert disturbed.run.failures == []
    assert disturbed.record.origins_ms == calm.record.origins_ms
    assert disturbed.record.scored_targets_ms == calm.record.scored_targets_ms
    assert len(calm.record.scored_targets_ms) == COUNT - 1
    assert disturbed.record.steps == calm.record.steps == tuple(range(1, COUNT))
    for one, other in (
        (calm.accuracy.skill_close, disturbed.accuracy.skill_close),
        (calm.accuracy.skill_range, disturbed.accuracy.skill_range),
    ):
        assert one.low is not None and other.low is not None and one.high is not None and other.high is not None
        assert one.low <= other.high and other.low <= one.high, "the skill is another"
    for each in (calm, disturbed):
        growth = each.quarter(3) / each.quarter(1) - 1.0
        print(f"memory: {each.quarter(1):.0f} MB, then {each.quarter(3):.0f} MB ({growth:+.2%})")
        assert growth < 0.02
