"""Faults that a thread can survive, in both hosts, through the driver and the real session.

One fault of each kind strikes a run; what the database says afterwards is compared with what must come of it: every
candle forecast and scored once, as many statistics as steps, and a state of finite numbers.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
import torch

from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import Incident, StepDone, TrainerState, TrainerStatus
from core.domain.incident_kinds import PAUSES
from core.settings.tree import Settings
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.storage.weights import read_weights
from tests.core.training import rigs
from tests.support import driven, faulty_trainer
from tests.support.candles import random_walk
from tests.support.driven import Driven
from tests.support.faulty_trainer import Fault, FaultKind

pytestmark = [pytest.mark.faults]

CANDLES = random_walk(45)
BEFORE = 31
"""Candles that a run has taken before any fault; its checkpoint of step 30 holds all of them."""
AT = 3
"""The training pass with the fault, after those."""
PATIENT = replace(rigs.SMALL, recovery=replace(rigs.SMALL.recovery, rollbacks=0))


def on_spike(action: Literal["mark", "clip", "skip"]) -> Settings:
    return replace(rigs.SMALL, recovery=replace(rigs.SMALL.recovery, spike_action=action))


@dataclass(frozen=True)
class Case:
    """A fault, and its expected effects."""

    kind: FaultKind
    times: int
    incidents: tuple[str, ...]
    skipped: int = 0
    origin: NonFiniteOrigin | None = None
    rate_factor: float = 1.0
    settings: Settings = rigs.SMALL
    is_paused: bool = False


CASES = {
    "loss not finite": Case(FaultKind.NAN, 1, ("step skipped",), 1, NonFiniteOrigin.LOSS),
    "infinite loss": Case(FaultKind.INFINITE, 1, ("step skipped",), 1, NonFiniteOrigin.LOSS),
    "gradients not finite": Case(FaultKind.NAN_GRADIENTS, 1, ("step skipped",), 1, NonFiniteOrigin.GRADIENTS),
    "three in a row": Case(
        FaultKind.NAN, 3, ("step skipped", "step skipped", "rolled back"), 3, NonFiniteOrigin.LOSS, 0.5
    ),
    "parameter not finite": Case(
        FaultKind.NAN_PARAMETER, 1, ("rolled back",), 1, NonFiniteOrigin.PARAMETERS, rate_factor=0.5
    ),
    "no rollback left": Case(
        FaultKind.NAN,
        3,
        ("step skipped", "step skipped", "rollbacks used up"),
        3,
        NonFiniteOrigin.LOSS,
        1.0,
        PATIENT,
        True,
    ),
    "changed in place": Case(FaultKind.IN_PLACE, 2, ("changed in place",), 1),
    "raised once": Case(FaultKind.RAISE, 1, ("step failed",)),
    "raised twice": Case(FaultKind.RAISE, 2, ("step failed", "step failed again"), 1, is_paused=True),
    "out of memory": Case(FaultKind.OUT_OF_MEMORY, 1, ("out of memory",)),
    "memory that cannot be had": Case(FaultKind.ALLOCATE, 1, ("out of memory",)),
    "loss spike": Case(FaultKind.SPIKE, 1, ("loss spike",)),
    "loss spike, clipped": Case(FaultKind.SPIKE, 1, ("loss spike",), settings=on_spike("clip")),
    "loss spike, skipped": Case(FaultKind.SPIKE, 1, ("loss spike",), 1, settings=on_spike("skip")),
    "bad batch": Case(FaultKind.BAD_BATCH, 1, ("bad batch",), 1, NonFiniteOrigin.INPUT),
    "out of memory in the forecast": Case(FaultKind.FORECAST_OUT_OF_MEMORY, 1, ("forecast without the model",)),
    "forecast not finite, and no rollback left": Case(
        FaultKind.FORECAST_NAN,
        1,
        ("rollbacks used up", "forecast without the model"),
        1,
        NonFiniteOrigin.PARAMETERS,
        settings=PATIENT,
        is_paused=True,
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has taken the candles before."""
    root = tmp_path_factory.mktemp("sound")
    driven.store_candles(root, CANDLES[:BEFORE])
    Driven(root, kind="thread").run()
    return root


def run_with(sound: Path, root: Path, case: Case, host: str) -> Driven:
    shutil.copytree(sound, root, dirs_exist_ok=True)
    driven.store_candles(root, CANDLES)
    faulty_trainer.schedule(root, [Fault(AT, case.kind, case.times)])
    run = Driven(root, case.settings, host)
    if host == "thread":
        with faulty_trainer.installed(root):
            run.run()
    else:
        run.run()
    return run


IN_A_PROCESS = ("three in a row", "raised twice", "memory that cannot be had")
"""Sufficient: the session handles faults the same way in any host."""


@pytest.mark.parametrize(
    ("host", "name"),
    [("thread", name) for name in CASES]
    + [pytest.param("process", name, marks=pytest.mark.slow) for name in IN_A_PROCESS],
)
def test_the_run_continues_and_its_record_is_complete(sound: Path, tmp_path: Path, host: str, name: str) -> None:
    case = CASES[name]
    run = run_with(sound, tmp_path, case, host)
    assert run.deaths == [] and run.failures == []
    kinds = [incident.kind for incident in run.incidents if incident.kind != "gradient doctor"]
    assert kinds == list(case.incidents)
    record = driven.record_of(tmp_path)
    times = tuple(candle.open_time_ms for candle in CANDLES)
    assert record.origins_ms == times and record.scored_targets_ms == times[1:]
    assert_steps(run, case)
    assert_stored(tmp_path, run, case)
    states = {event.state for event in run.events if isinstance(event, TrainerStatus)}
    assert (TrainerState.PAUSED in states) is case.is_paused
    assert bool(PAUSES & {*kinds}) is case.is_paused, "the window knows a pause by these kinds"


def assert_steps(run: Driven, case: Case) -> None:
    """Every step left its statistics, and those that were not done left no loss."""
    steps = [event for event in run.events if isinstance(event, StepDone)]
    assert [step.step for step in steps] == list(range(BEFORE, BEFORE + len(steps)))
    assert case.is_paused or steps[-1].step == len(CANDLES) - 1
    assert all(step.gradients is not None for step in steps)
    skipped = [step for step in steps if step.loss is None]
    assert len(skipped) == case.skipped and all(step.skipped_because for step in skipped)
    if case.origin is not None:
        assert {step.gradients.non_finite for step in skipped if step.gradients} >= {case.origin}
    assert steps[-1].learning_rate == pytest.approx(rigs.SMALL.training.learning_rate * case.rate_factor)


def assert_stored(root: Path, run: Driven, case: Case) -> None:
    """The database has everything that the window received, and the newest checkpoint is finite and known good."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        run_id = RunStore(db).list()[0].run_id
        reader = RecordReader(db, run_id)
        stored = [kind for kind in driven.stored_incidents(root) if kind != "gradient doctor"]
        assert stored == list(case.incidents)
        newest = CheckpointRows(db).newest(run_id)
        assert newest is not None and newest.is_known_good
        losses = {event.step: event.loss for event in run.events if isinstance(event, StepDone)}
        assert {step.step: step.loss for step in reader.steps() if step.step >= BEFORE} == losses
    finally:
        db.close()
    tensors, metadata = read_weights(DataFolder(root).absolute(newest.file), newest.sha256)
    assert all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values() if tensor.is_floating_point())
    assert metadata["engine"]["rate_factor"] == case.rate_factor


def test_a_spike_leaves_its_batch_on_disk(sound: Path, tmp_path: Path) -> None:
    run = run_with(sound, tmp_path, CASES["loss spike"], "thread")
    (file,) = DataFolder(tmp_path).bad_batches(run.readies[0].run_id).iterdir()
    _, metadata = read_weights(file)
    assert metadata == {"step": BEFORE - 1 + AT, "reason": "spike"}


def test_an_incident_names_the_operation_and_the_line(sound: Path, tmp_path: Path) -> None:
    (incident,) = run_with(sound, tmp_path, CASES["changed in place"], "thread").incidents
    assert isinstance(incident, Incident)
    assert "MulBackward" in incident.details and "_change_in_place" in incident.details
