"""A trainer that ends, hangs or loses its device, for real; the record afterwards is that of an undisturbed run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch

from core.domain.events import Incident, Severity, StepDone, TrainerEvent, TrainerState, TrainerStatus
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import Settings
from core.training.commands import SetDevice, SetPaused
from core.training.hosting import driver
from core.training.recovery.exit_reasons import EXIT_GONE, EXIT_STICKY, DeathCause
from tests.core.training import rigs
from tests.support import driven, faulty_trainer
from tests.support.candles import random_walk
from tests.support.driven import Driven, Record
from tests.support.faulty_trainer import Fault, FaultKind
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]

CANDLES = random_walk(35)
QUICK_TO_JUDGE = replace(rigs.SMALL, recovery=replace(rigs.SMALL.recovery, hang_seconds=5.0))
AUTO = replace(rigs.SMALL, training=replace(rigs.SMALL.training, device="auto"))
ON_CPU_ONLY = pytest.mark.skipif(torch.cuda.is_available(), reason="auto takes the GPU where there is one")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of an undisturbed run."""
    root = tmp_path_factory.mktemp("calm")
    run = faulty(root, [], kind="thread")
    with faulty_trainer.installed(root):
        run.run()
    record = driven.record_of(root)
    times = tuple(candle.open_time_ms for candle in CANDLES)
    assert record.origins_ms == times and record.scored_targets_ms == times[1:]
    assert record.steps == tuple(range(1, len(CANDLES)))
    assert record.reference_losses[0] == (None, None) and None not in record.reference_losses[-1]
    assert faulty_trainer.passes_so_far(root) == len(record.steps), "the faults' steps are not the run's"
    return record


def faulty(root: Path, faults: list[Fault], settings: Settings = rigs.SMALL, kind: str = "process") -> Driven:
    driven.store_candles(root, CANDLES)
    faulty_trainer.schedule(root, faults)
    return Driven(root, settings, kind)


def assert_gone(run: Driven) -> None:
    for process_id in run.process_ids:
        assert not psutil.pid_exists(process_id)


def test_a_killed_trainer_is_started_again_and_nothing_is_missed(
    tmp_path: Path, calm: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is a thread here; below it is a real one."""
    monkeypatch.setattr(driver, "_MOST_IN_FLIGHT", 1)  # so that it is not far ahead of its events when it is killed
    run = faulty(tmp_path, [], kind="piped")

    def kill(event: TrainerEvent) -> None:
        if isinstance(event, StepDone) and event.step == 25 and len(run.children.processes) == 1:
            run.children.processes[0].kill()

    with faulty_trainer.installed(tmp_path):
        run.run(kill)
    assert driven.record_of(tmp_path) == calm
    assert run.deaths == [DeathCause.KILLED] and not run.failures
    assert [ready.step for ready in run.readies] == [0, 20], "from the newest intact checkpoint"
    assert driven.stored_incidents(tmp_path) == ["trainer ended"], "the next trainer stores how this one ended"


@ON_CPU_ONLY
@pytest.mark.parametrize(("kind", "exit_code"), [(FaultKind.STICKY, EXIT_STICKY), (FaultKind.GONE, EXIT_GONE)])
def test_a_device_error_ends_the_trainer_with_a_separate_exit_code_and_another_continues(
    tmp_path: Path, calm: Record, kind: FaultKind, exit_code: int
) -> None:
    run = faulty(tmp_path, [Fault(25, kind)], AUTO, kind="piped")
    with faulty_trainer.installed(tmp_path):
        run.run()
    assert driven.record_of(tmp_path) == calm
    is_gone = kind is FaultKind.GONE
    assert run.deaths == [DeathCause.GONE if is_gone else DeathCause.STICKY] and not run.failures
    assert run.devices == ["auto", "cpu" if is_gone else "auto"]
    assert [child.exitcode for child in run.children.processes] == [exit_code, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cause", "last_word"),
    [
        (FaultKind.STICKY, DeathCause.STICKY, "illegal memory access"),
        (FaultKind.ABORT, DeathCause.ABORTED, "Aborted"),
        (FaultKind.DOUBLE_FREE, DeathCause.ABORTED, "double free or corruption"),
        (FaultKind.SEGFAULT, DeathCause.CRASHED, "Segmentation fault"),
        (FaultKind.KILL, DeathCause.KILLED, ""),
    ],
)
def test_a_trainer_that_ends_is_started_again_and_nothing_is_missed(
    tmp_path: Path, calm: Record, kind: FaultKind, cause: DeathCause, last_word: str
) -> None:
    run = faulty(tmp_path, [Fault(25, kind)])
    run.run()
    assert driven.record_of(tmp_path) == calm
    assert run.deaths == [cause] and not run.failures
    assert run.devices == ["cpu", "cpu"], "the same device again"
    assert [ready.step for ready in run.readies] == [0, 20], "from the newest intact checkpoint"
    assert last_word in run.incidents[0].details
    assert driven.stored_incidents(tmp_path) == ["trainer ended"], "the next trainer stores how this one ended"
    assert_gone(run)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.STOP])
def test_a_trainer_that_hangs_is_ended_and_started_again(tmp_path: Path, calm: Record, kind: FaultKind) -> None:
    run = faulty(tmp_path, [Fault(25, kind)], QUICK_TO_JUDGE)
    run.run()
    assert driven.record_of(tmp_path) == calm
    assert run.deaths == [DeathCause.HUNG] and not run.failures
    assert "faulty_trainer.py" in run.incidents[0].details, "where it hung"
    assert_gone(run)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "exit_code"), [(FaultKind.STICKY, EXIT_STICKY), (FaultKind.GONE, EXIT_GONE)])
def test_a_device_error_ends_the_process_with_a_separate_exit_code(
    tmp_path: Path, kind: FaultKind, exit_code: int
) -> None:
    faulty_trainer.schedule(tmp_path, [Fault(1, kind)])
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=faulty_trainer.entry, args=(rigs.spec(tmp_path), theirs), daemon=True)
    child.start()
    theirs.close()
    for candle in CANDLES[:4]:
        ours.send(rigs.observed(candle))
    child.join(60)
    assert child.exitcode == exit_code
    child.close()
    ours.close()


class BackAtThirdLook:
    """The device's state is simulated, the checks are real. Back at the third check, not before `is_time`."""

    def __init__(self, looks: list[int], is_time: Callable[[], bool]) -> None:
        self.looks, self._is_time = looks, is_time

    def start(self) -> None:
        self.looks.append(1)

    def answer(self) -> bool | None:
        return len(self.looks) >= 3 and self._is_time()

    def close(self) -> None: ...


class FastClock:
    """A minute takes a fifth of a second, for the driver only; the host measures silence by the real clock."""

    def now_ms(self) -> int:
        return driven.CLOCK.now_ms()

    def monotonic_s(self) -> float:
        return driven.CLOCK.monotonic_s() * 300.0


@ON_CPU_ONLY
@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "devices"), [("auto", ["auto"]), ("cuda", ["cuda", "cpu"])])
def test_a_gpu_that_responds_again_is_offered_and_used_again(
    tmp_path: Path, calm: Record, wanted: str, devices: list[str]
) -> None:
    """Here ``auto`` means a GPU that works again, and ``cuda`` one that is lost once more."""
    looks: list[int] = []
    steps: list[int] = [0]
    driven.store_candles(tmp_path, CANDLES)
    faulty_trainer.schedule(tmp_path, [Fault(25, FaultKind.GONE)])

    def probe(_device: str) -> BackAtThirdLook:
        return BackAtThirdLook(looks, lambda: steps[-1] == len(CANDLES) - 1)

    run = Driven(tmp_path, AUTO, clock=FastClock(), make_probe=probe)

    def accept(event: TrainerEvent) -> None:
        if isinstance(event, StepDone):
            steps.append(event.step)
        if isinstance(event, Incident) and event.kind == IncidentKind.GPU_IS_BACK:
            assert event.severity is Severity.INFO
            assert len(looks) >= 3
            run.inbox.send(SetDevice(wanted))
        elif len(run.readies) == 3:
            run.inbox.stop()

    run.run(accept, is_whole=False)
    assert run.devices == ["auto", "cpu", *devices] and not run.failures
    assert run.readies[-1].step == len(CANDLES) - 1, "it continued where it was"
    assert driven.record_of(tmp_path) == calm
    assert_gone(run)


@pytest.mark.slow
def test_three_crashes_pause_training_in_the_process_host_and_a_new_start_counts_from_zero(
    tmp_path: Path, calm: Record
) -> None:
    run = faulty(tmp_path, [Fault(step, FaultKind.KILL) for step in (5, 9, 14)])
    run.run()
    assert run.deaths == [DeathCause.KILLED] * 3
    assert len(run.process_ids) == 3 and len(run.failures) == 1 and run.events[-1] is run.failures[0]
    assert_gone(run)
    whole_story = ["trainer ended"] * 3 + ["breaker"]
    assert [incident.kind for incident in run.incidents] == whole_story
    assert driven.stored_incidents(tmp_path) == whole_story, "also where the program is closed now"
    again = Driven(tmp_path)
    again.run()
    assert driven.record_of(tmp_path) == calm and not again.failures
    assert driven.stored_incidents(tmp_path) == whole_story


@pytest.mark.slow
def test_three_crashes_pause_training_in_the_thread_host_and_a_new_start_counts_from_zero(
    tmp_path: Path, calm: Record
) -> None:
    run = faulty(tmp_path, [Fault(step, FaultKind.GONE) for step in (5, 9, 14)], AUTO, kind="thread")
    with faulty_trainer.installed(tmp_path):
        run.run()
        assert run.deaths == [DeathCause.GONE] * 3 and run.devices == ["auto", "cpu", "cpu"]
        assert len(run.failures) == 1 and run.events[-1] is run.failures[0]
        assert driven.stored_incidents(tmp_path) == ["GPU gone"] * 2 + ["trainer ended", "breaker"]
        again = Driven(tmp_path, kind="thread")
        again.run()
    assert driven.record_of(tmp_path) == calm and not again.failures


def test_a_broken_process_is_not_used_again_and_the_next_start_resumes(tmp_path: Path, calm: Record) -> None:
    run = faulty(tmp_path, [Fault(25, FaultKind.STICKY)], kind="thread")
    with faulty_trainer.installed(tmp_path):
        run.run()
        assert run.deaths == [DeathCause.STICKY]
        assert len(run.devices) == 1 and len(run.failures) == 1, "no second host in a broken process"
        again = Driven(tmp_path, kind="thread")
        again.run()
    assert [ready.step for ready in again.readies] == [20]
    assert driven.record_of(tmp_path) == calm


@pytest.mark.slow
@pytest.mark.parametrize("kind", faulty_trainer.ENDS_PROCESS)
def test_the_next_start_resumes_after_the_thread_host_took_its_process_with_it(
    tmp_path: Path, calm: Record, kind: FaultKind
) -> None:
    faulty(tmp_path, [Fault(25, kind)])
    process = multiprocessing.get_context("spawn").Process(target=driven.drive_in_thread_host, args=(tmp_path,))
    process.start()
    if kind in (FaultKind.HANG, FaultKind.STOP):
        wait_until(lambda: faulty_trainer.passes_so_far(tmp_path) == 25, "the 25th step")
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)  # as the user does with a program that hangs
    process.join(60)
    assert process.exitcode is not None and process.exitcode < 0
    process.close()
    with faulty_trainer.installed(tmp_path):
        again = Driven(tmp_path, kind="thread")
        again.run()
    assert [ready.step for ready in again.readies] == [20]
    assert driven.record_of(tmp_path) == calm


@pytest.mark.slow
def test_sigterm_is_left_to_the_parent(tmp_path: Path, calm: Record) -> None:
    """A service manager sends it to all processes at once: the trainer waits for the parent's command."""
    run = faulty(tmp_path, [Fault(25, FaultKind.TERMINATE)])
    run.run()
    assert run.deaths == [] and driven.record_of(tmp_path) == calm
    assert_gone(run)


@pytest.mark.slow
def test_a_paused_run_stays_paused_when_the_trainer_is_killed(tmp_path: Path) -> None:
    run = faulty(tmp_path, [])
    killed: list[int] = []

    def disturb(event: TrainerEvent) -> None:
        if isinstance(event, StepDone) and event.step == 15:
            run.inbox.send(SetPaused(True))
        elif isinstance(event, TrainerStatus) and event.state is TrainerState.PAUSED and not killed:
            killed.append(run.process_ids[-1])
            os.kill(killed[0], signal.SIGKILL)

    run.run(disturb)
    assert run.deaths == [DeathCause.KILLED] and not run.failures
    after = run.events[run.events.index(run.readies[1]) :]
    assert not any(isinstance(event, StepDone) for event in after), "it trained on"
    assert driven.record_of(tmp_path).origins_ms == tuple(candle.open_time_ms for candle in CANDLES)
    assert_gone(run)
