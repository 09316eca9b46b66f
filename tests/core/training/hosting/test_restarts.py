from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.domain.clock import ManualClock
from core.domain.events import Incident, TrainerReady, TrainerState
from core.domain.incident_kinds import IncidentKind
from core.domain.passing_faults import PassingFault
from core.machine.cuda_setup import RELOAD_DRIVER
from core.market.shown_names import shown_market
from core.storage.candles import SetAside
from core.training.commands import (
    ApplyRetention,
    ForecastWith,
    RecordIncident,
    RestoreCheckpoint,
    SetClipNorm,
    SetDuty,
    SetLearned,
    SetLearningRate,
    SetPaused,
    TrainerCommand,
)
from core.training.hosting.host import HostDiedError, died
from core.training.hosting.restarts import RestartDecision, Restarts
from core.training.recovery.exit_reasons import DeathCause
from tests.core.training import rigs

CRASH = HostDiedError("It crashed.", cause=DeathCause.CRASHED)
GONE = HostDiedError("The GPU no longer responds.", cause=DeathCause.GONE)
HUNG = HostDiedError("It gave no answer for 120 s.", cause=DeathCause.HUNG)
FULL = died(torch.OutOfMemoryError("CUDA out of memory."))
KILLED = HostDiedError("It was killed.", cause=DeathCause.KILLED)
NO_DEVICE = HostDiedError("CUDA cannot be used.", is_final=True, cause=DeathCause.NO_DEVICE)
AUTO = replace(rigs.SMALL, training=replace(rigs.SMALL.training, device="auto"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def restarts(tmp_path: Path, clock: ManualClock) -> Restarts:
    return Restarts(replace(rigs.spec(tmp_path, AUTO), new_run=True), clock)


def ready(device: str) -> TrainerReady:
    return TrainerReady("run", device, 0, None, 1, (), uses_gpu=device.startswith("CUDA"))


def kinds(decision: RestartDecision) -> list[str]:
    return [incident.kind for incident in decision.incidents]


def test_the_third_crash_in_ten_minutes_trips_the_breaker(restarts: Restarts, clock: ManualClock) -> None:
    for _ in range(2):
        decision = restarts.after(CRASH, ())
        assert kinds(decision) == [IncidentKind.TRAINER_ENDED] and decision.failure is None
        clock.advance_ms(299_000)
    last = restarts.after(CRASH, ())
    assert kinds(last) == [IncidentKind.TRAINER_ENDED, IncidentKind.BREAKER]
    assert last.failure is not None and last.failure.by_breaker
    assert [incident.kind for incident in restarts.pop_unrecorded_incidents()] == [IncidentKind.TRAINER_ENDED] * 3 + [
        IncidentKind.BREAKER
    ]
    assert not restarts.pop_unrecorded_incidents()


def test_crashes_far_apart_are_not_added_up(restarts: Restarts, clock: ManualClock) -> None:
    for _ in range(20):
        assert restarts.after(CRASH, ()).failure is None
        clock.advance_ms(301_000)


def test_a_final_error_is_not_retried(restarts: Restarts) -> None:
    refused = HostDiedError("The database is locked.", is_final=True, cause=DeathCause.REFUSED)
    full = HostDiedError("The disk is full.", is_final=True, cause=DeathCause.REFUSED, passing=PassingFault.FULL_DISK)
    for death in (refused, full, NO_DEVICE):  # the device never worked
        decision = restarts.after(death, ())
        assert decision.failure is not None and not decision.failure.by_breaker
        assert decision.failure.passing is death.passing
        assert kinds(decision) == [IncidentKind.TRAINER_ENDED]


def test_requests_hold_for_the_next_host(restarts: Restarts) -> None:
    for command in (SetLearningRate(2e-3), SetClipNorm(0.25), SetDuty(50), SetPaused(True), SetLearningRate(-1.0)):
        restarts.remember(command)
    settings = restarts.spec.settings
    assert (settings.training.learning_rate, settings.gradients.clip_norm, settings.training.duty_percent) == (
        2e-3,
        0.25,
        50,
    )
    assert restarts.pop_commands() == (SetPaused(True),)
    restarts.remember(SetPaused(False))
    assert not restarts.pop_commands()
    restarts.remember(SetLearned(False, rigs.MARKET))
    assert restarts.pop_commands() == (SetLearned(False, rigs.MARKET),)


def test_rules_of_retention_hold_for_the_next_host(restarts: Restarts) -> None:
    now = restarts.spec.settings.checkpoints
    restarts.remember(ApplyRetention(replace(now, keep_newest=9, every_steps=77, catch_up_seconds=0.5)))
    assert restarts.spec.settings.checkpoints == replace(now, keep_newest=9), "when they are written does not change"


@pytest.mark.parametrize("end", [ForecastWith((), rigs.MARKET), RestoreCheckpoint("b")])
def test_the_next_host_previews_the_same_checkpoints(restarts: Restarts, end: TrainerCommand) -> None:
    """And so does not delete them."""
    newest = ForecastWith(("b",), rigs.MARKET)
    for command in (ForecastWith(("a", "b"), rigs.MARKET), newest):
        restarts.remember(command)
    assert restarts.pop_commands() == (newest,) == restarts.pop_commands()
    restarts.remember(end)
    assert not restarts.pop_commands()


def test_an_automatic_pause_holds_for_the_next_host(restarts: Restarts) -> None:
    restarts.remember_state(TrainerState.PAUSED)
    restarts.remember_state(TrainerState.RESTARTING)
    assert restarts.pop_commands() == (SetPaused(True),)
    restarts.remember_state(TrainerState.TRAINING)
    assert not restarts.pop_commands()


def test_the_next_host_records_the_end_of_the_last_one_once(restarts: Restarts) -> None:
    orders = tuple(RecordIncident(incident) for incident in restarts.after(CRASH, ()).incidents)
    assert len(orders) == 1 and restarts.pop_commands() == orders
    assert not restarts.pop_commands()


def test_an_unrecorded_end_survives_the_death_of_the_next_host(restarts: Restarts) -> None:
    first = restarts.after(CRASH, ()).incidents
    second = restarts.after(CRASH, restarts.pop_commands()).incidents
    assert restarts.pop_unrecorded_incidents() == (*first, *second)


def test_an_unfulfilled_request_is_named(restarts: Restarts) -> None:
    decision = restarts.after(CRASH, (SetPaused(True), RestoreCheckpoint("a"), RestoreCheckpoint("b")))
    assert decision.incidents[0].what_it_cost.count("going back to a checkpoint") == 1


def test_a_second_start_continues_the_run_of_the_first(restarts: Restarts) -> None:
    assert restarts.spec.new_run
    restarts.ready(ready("CPU, 1 thread"))
    assert not restarts.spec.new_run


def test_after_a_lost_gpu_the_cpu_is_used_until_the_user_returns_to_it(restarts: Restarts) -> None:
    assert restarts.ready(ready("CUDA: a card")) is None and not restarts.can_look_for_gpu
    assert restarts.after(GONE, ()).failure is None
    assert restarts.spec.settings.training.device == "cpu"
    assert restarts.ready(ready("CPU, 1 thread")) is None and restarts.can_look_for_gpu
    restarts.use_device("cuda")
    assert restarts.after(NO_DEVICE, ()).failure is None, "gone back to, and gone again"
    assert restarts.spec.settings.training.device == "cpu" and restarts.can_look_for_gpu
    restarts.use_device("cuda")
    assert restarts.ready(ready("CUDA: a card")) is None and not restarts.can_look_for_gpu


@pytest.mark.skipif(sys.platform != "linux", reason="the driver's module is one of Linux")
def test_the_incident_of_a_lost_gpu_names_the_cure_after_a_suspend(restarts: Restarts) -> None:
    restarts.ready(ready("CUDA: a card"))
    (lost,) = restarts.after(GONE, ()).incidents
    (refused,) = restarts.after(NO_DEVICE, ()).incidents
    assert RELOAD_DRIVER in lost.what_was_done and RELOAD_DRIVER not in refused.what_was_done


def test_an_automatic_change_to_the_cpu_after_a_crash_is_reported(restarts: Restarts) -> None:
    restarts.ready(ready("CUDA: a card"))
    restarts.after(HostDiedError("Sticky.", cause=DeathCause.STICKY), ())
    assert restarts.spec.settings.training.device == "auto", "the same device again"
    assert isinstance(restarts.ready(ready("CPU, 1 thread")), Incident) and restarts.can_look_for_gpu
    assert restarts.ready(ready("CPU, 1 thread")) is None, "once"


def test_a_machine_without_a_gpu_is_not_probed(restarts: Restarts) -> None:
    restarts.ready(ready("CPU, 1 thread"))
    restarts.use_device("cuda")
    assert restarts.after(NO_DEVICE, ()).failure is None
    restarts.ready(ready("CPU, 1 thread"))
    assert restarts.spec.settings.training.device == "cpu" and not restarts.can_look_for_gpu


def test_a_process_that_lost_its_gpu_does_not_get_it_again(tmp_path: Path, clock: ManualClock) -> None:
    in_thread = replace(AUTO, training=replace(AUTO.training, host="thread"))
    restarts = Restarts(rigs.spec(tmp_path, in_thread), clock)
    restarts.ready(ready("CUDA: a card"))
    assert restarts.after(GONE, ()).failure is None
    assert restarts.spec.settings.training.device == "cpu" and not restarts.can_look_for_gpu


@pytest.mark.parametrize("deaths", [(HUNG,) * 3, (FULL,) * 3, (KILLED, FULL, HUNG), (CRASH, HUNG, FULL)])
@pytest.mark.parametrize("has_run", [False, True])
def test_a_gpu_on_which_nothing_starts_is_replaced_by_the_cpu(
    restarts: Restarts, deaths: tuple[HostDiedError, ...], has_run: bool
) -> None:
    if has_run:
        restarts.ready(ready("CUDA: a card"))
        restarts.after(HostDiedError("Sticky.", cause=DeathCause.STICKY), ())
        deaths = deaths[1:]  # the one that ended a running trainer counts in the ten minutes
    for death in deaths[:-1]:
        assert kinds(restarts.after(death, ())) == [IncidentKind.TRAINER_ENDED]
        assert restarts.spec.settings.training.device == "auto"
    last = restarts.after(deaths[-1], ())
    assert kinds(last) == [IncidentKind.DEVICE_REFUSED] and last.failure is None
    assert deaths[-1].sentence in last.incidents[0].what_happened
    assert restarts.spec.settings.training.device == "cpu"
    assert restarts.ready(ready("CPU, 1 thread")) is None and restarts.can_look_for_gpu
    assert [restarts.after(CRASH, ()).failure is None for _ in range(3)] == [True, True, False], "counted from zero"


def test_starts_that_hang_for_longer_than_the_breaker_remembers_are_counted_too(
    restarts: Restarts, clock: ManualClock
) -> None:
    for _ in range(3):
        assert restarts.spec.settings.training.device == "auto"
        clock.advance_ms(660_000)
        restarts.after(HUNG, ())
    assert restarts.spec.settings.training.device == "cpu"


def test_a_start_that_succeeds_ends_the_count_of_those_that_failed(restarts: Restarts, clock: ManualClock) -> None:
    for _ in range(4):
        restarts.after(HUNG, ())
        clock.advance_ms(300_000)
        restarts.after(HUNG, ())
        restarts.ready(ready("CUDA: a card"))
        clock.advance_ms(301_000)
    assert restarts.spec.settings.training.device == "auto"


def test_a_gpu_that_the_user_returned_to_is_replaced_again(restarts: Restarts) -> None:
    for _ in range(3):
        restarts.after(FULL, ())
    restarts.ready(ready("CPU, 1 thread"))
    restarts.use_device("cuda")
    for _ in range(3):
        assert restarts.after(FULL, ()).failure is None
    assert restarts.spec.settings.training.device == "cpu" and restarts.can_look_for_gpu


@pytest.mark.parametrize("death", [HUNG, FULL])
def test_a_gpu_that_was_named_is_not_replaced_and_the_incident_names_the_choice(
    tmp_path: Path, clock: ManualClock, death: HostDiedError
) -> None:
    named = replace(AUTO, training=replace(AUTO.training, device="cuda"))
    restarts = Restarts(rigs.spec(tmp_path, named), clock)
    decisions = [restarts.after(death, ()) for _ in range(3)]
    assert kinds(decisions[-1]) == [IncidentKind.TRAINER_ENDED, IncidentKind.BREAKER]
    assert restarts.spec.settings.training.device == "cuda"
    failure = decisions[-1].failure
    assert failure is not None and "--device auto" in failure.sentence
    assert "--device auto" in decisions[-1].incidents[-1].what_was_done


@pytest.mark.parametrize("device", ["auto", "cpu"])
@pytest.mark.parametrize("death", [HUNG, CRASH])
def test_training_pauses_where_the_gpu_is_not_the_likely_cause(
    tmp_path: Path, clock: ManualClock, device: str, death: HostDiedError
) -> None:
    settings = replace(AUTO, training=replace(AUTO.training, device=device))  # type: ignore[arg-type]
    restarts = Restarts(rigs.spec(tmp_path, settings), clock)
    for number in range(3):
        if device == "auto" and death is HUNG:
            restarts.ready(ready("CUDA: a card"))  # a running trainer hangs: its checkpoint starts again
        decision = restarts.after(death, ())
        assert (decision.failure is not None) == (number == 2)
    assert restarts.spec.settings.training.device == device
    assert "--device" not in decision.incidents[-1].what_was_done


def test_candles_that_are_set_aside_name_their_market_where_there_are_several(tmp_path: Path) -> None:
    candles = [SetAside(60_000 * number, "it cannot be computed") for number in (1, 2)]
    one = Restarts(rigs.spec(tmp_path, AUTO), ManualClock())
    two = Restarts(replace(rigs.spec(tmp_path, AUTO), others=(rigs.OTHER,)), ManualClock())
    for count, words in ((1, "the candle of"), (2, "2 candles, the first of")):
        (alone,), (beside,) = (each.set_aside(rigs.OTHER, candles[:count]) for each in (one, two))
        assert alone.what_happened.lower().startswith(words)
        assert beside.what_happened.startswith(f"In {shown_market(rigs.OTHER)}, {words}")
