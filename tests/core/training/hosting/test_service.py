"""Commands to a session, and their effect on the next start."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
import torch

from core.domain.candle import Candle
from core.domain.clock import ManualClock, SystemClock
from core.domain.events import (
    CheckpointsChanged,
    Incident,
    StepDone,
    TrainerState,
    TrainerStatus,
)
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import (
    ObserveClose,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetLearningRate,
    StepOnce,
    StopSession,
)
from core.training.doctor.remedies import text
from core.training.engine import schedule
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.core.training.engine.rigs import forward_hook
from tests.support.driven import store_candles

CANDLES = rigs.CANDLES


@pytest.mark.faults
def test_a_pause_caused_by_an_extra_step_is_shown_and_kept(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 31)

    def fail(module: torch.nn.Module, _inputs: object, _output: object) -> None:
        if module.training:
            raise ValueError("it fails each time")

    with forward_hook(session._session.engine, fail):
        events = session.handle(StepOnce())
    assert [event.state for event in events if isinstance(event, TrainerStatus)] == [TrainerState.PAUSED]
    assert any(isinstance(event, CheckpointsChanged) for event in events), "what a pause leaves behind"
    later = rigs.feed(session, CANDLES[31:35])
    assert not any(isinstance(event, StepDone) for event in later)
    assert session.status().state is TrainerState.PAUSED
    session.close()


def rolled_back(session: TrainingService) -> TrainingService:
    """After 46 candles."""
    rigs.feed(session, CANDLES[31:36])
    with torch.no_grad():
        next(session._session.engine.model.parameters()).view(-1)[0] = torch.nan
    rigs.feed(session, CANDLES[36:46])
    assert session._session.engine.rate_factor == 0.5
    return session


@pytest.mark.faults
def test_a_rate_set_after_a_rollback_survives_a_crash(tmp_path: Path, session_after: SessionAfter) -> None:
    """The newest checkpoint is from before it was set, and knows of the halving only."""
    session = rolled_back(session_after(tmp_path, 31))
    session.handle(SetLearningRate(2e-3))
    rigs.feed(session, CANDLES[46:48])
    assert session._session.engine.rate_now == 2e-3
    session.close()
    training = dataclasses.replace(rigs.SMALL.training, learning_rate=2e-3)
    resumed = rigs.service(tmp_path, dataclasses.replace(rigs.SMALL, training=training))
    assert resumed._session.engine.rate_now == resumed.status().learning_rate == 2e-3
    resumed.close()


@pytest.mark.faults
def test_a_halved_rate_survives_a_crash(tmp_path: Path, session_after: SessionAfter) -> None:
    rolled_back(session_after(tmp_path, 31)).close()
    resumed = rigs.service(tmp_path)
    assert resumed._session.engine.rate_now == rigs.SMALL.training.learning_rate / 2.0
    resumed.close()


def opened_and_ended(root: Path, candles: Sequence[Candle] = ()) -> TrainingService:
    """A start, these candles, and an end as of a window that is closed."""
    session = rigs.service(root)
    rigs.feed(session, candles)
    session.handle(StopSession())
    session.close()
    return session


def kept(root: Path, session: TrainingService) -> list[tuple[int, str]]:
    """Step and reason of the run's checkpoints, the oldest first."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        found = CheckpointRows(db).list(session._run.run_id)
        return [(info.step, info.reason) for info in reversed(found)]


def test_an_end_without_changes_writes_no_checkpoint(tmp_path: Path) -> None:
    first = opened_and_ended(tmp_path, CANDLES[:15])
    once = kept(tmp_path, first)
    assert [reason for _, reason in once].count("exit") == 1
    for _ in range(2):
        assert opened_and_ended(tmp_path)._run.run_id == first._run.run_id
    assert kept(tmp_path, first) == once
    last = opened_and_ended(tmp_path, CANDLES[15:16])
    steps = [step for step, reason in kept(tmp_path, last) if reason == "exit"]
    assert len(steps) == 2 and steps[1] == steps[0] + 1


def test_an_end_after_a_correction_writes_a_checkpoint_without_a_step(tmp_path: Path) -> None:
    store_candles(tmp_path, CANDLES[:15])
    opened_and_ended(tmp_path, CANDLES[:15])
    close = CANDLES[14].close * 1.002
    store_candles(tmp_path, [dataclasses.replace(CANDLES[14], close=close, high=max(CANDLES[14].high, close))])
    last = opened_and_ended(tmp_path)
    opened_and_ended(tmp_path)
    assert [reason for _, reason in kept(tmp_path, last)].count("exit") == 2


def test_a_manual_checkpoint_is_written_even_without_changes(tmp_path: Path) -> None:
    """Retention takes an exit's checkpoint away in its turn; one that was asked for stays."""
    opened_and_ended(tmp_path, CANDLES[:15])
    session = rigs.service(tmp_path)
    session.handle(SaveCheckpoint())
    session.close()
    assert [reason for _, reason in kept(tmp_path, session)][-2:] == ["exit", "manual"]


def test_each_part_of_a_long_answer_is_reported(tmp_path: Path) -> None:
    """So that the work for many markets on a busy machine is no hang."""
    parts: list[None] = []
    spec = dataclasses.replace(rigs.spec(tmp_path), others=(rigs.OTHER,))
    session = TrainingService(spec, SystemClock(), lambda: parts.append(None))
    assert len(parts) >= 6, "the database, the run, and the record of each market"
    parts.clear()
    for _ in session.respond(ObserveClose(rigs.close_of(enumerate([CANDLES[0]] * 2)))):
        assert len(parts) >= 2
        parts.clear()
    session.close()


def test_the_last_of_closes_in_quick_succession_is_in_a_late_status(tmp_path: Path) -> None:
    """Of every market; else the window would show old scores until the next candle."""
    clock = ManualClock(now_ms=1_000)
    spec = dataclasses.replace(rigs.spec(tmp_path), others=(rigs.OTHER,))
    session = TrainingService(spec, clock)
    session.opening_events()

    def observe(index: int) -> None:
        session.handle(ObserveClose(rigs.close_of(enumerate([CANDLES[index]] * 2))))

    for index in range(3):
        observe(index)
    assert session.owes_status and session.late_status() is None, "too soon after the last"
    clock.advance_ms(300)
    late = session.late_status()
    assert late is not None and not late.is_whole
    (status,) = late.events
    assert isinstance(status, TrainerStatus)
    assert [each.position_ms for each in status.markets] == [CANDLES[2].open_time_ms] * 2
    assert not session.owes_status and session.late_status() is None
    observe(3)
    clock.advance_ms(300)
    newest = session.late_status()
    assert newest is not None and newest.events == (session.status(),)
    session.close()


def test_a_speed_is_reported_only_while_steps_are_made(tmp_path: Path) -> None:
    clock = ManualClock(now_ms=1_000)
    session = rigs.service(tmp_path, clock=clock)
    for candle in CANDLES[:20]:
        clock.advance_ms(500)
        rigs.feed(session, [candle])
    assert session.status().steps_per_s == pytest.approx(2.0)
    clock.advance_ms(9_000)
    assert session.status().steps_per_s == pytest.approx(2.0)
    clock.advance_ms(1_800_000)
    assert session.status().steps_per_s is None
    for candle in CANDLES[20:23]:
        clock.advance_ms(1_000)
        rigs.feed(session, [candle])
    assert session.status().steps_per_s == pytest.approx(1.0), "the pause between is no slow step"
    session.close()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (SetLearningRate(10.0), "The learning rate cannot be set: it should be less than or equal to 1, and is 10.0"),
        (SetLearningRate(0.0), "it should be greater than 0"),
        (SetLearningRate(math.nan), "The learning rate cannot be set"),
        (SetClipNorm(-1.0), "The clip threshold cannot be set: it should be greater than 0, and is -1.0"),
        (SetClipNorm(math.inf), "The clip threshold cannot be set"),
    ],
)
def test_a_value_out_of_range_is_refused_and_the_former_kept(
    tmp_path: Path, command: SetLearningRate | SetClipNorm, words: str
) -> None:
    """The engine itself accepted any number."""
    session = rigs.service(tmp_path)
    before = session.status()
    events = session.handle(command)
    (refused,) = (event for event in events if isinstance(event, Incident))
    assert words in refused.what_happened and "remains in effect" in refused.what_was_done
    (status,) = (event for event in events if isinstance(event, TrainerStatus))
    assert (status.learning_rate, status.clip_norm) == (before.learning_rate, before.clip_norm)
    session.close()


def test_a_restored_checkpoint_names_the_settings_of_its_training(tmp_path: Path, session_after: SessionAfter) -> None:
    """It was called healthy at a rate of 0.9, and was then restored after the next divergence."""
    session = session_after(tmp_path, 31)
    (healthy,) = rigs.saved(session.handle(SetLearningRate(0.9)))
    rigs.feed(session, CANDLES[31:34])
    events = session.handle(RestoreCheckpoint(healthy.checkpoint_id))
    (copy,) = rigs.saved(events)
    assert copy.settings_id == healthy.settings_id is not None
    (done,) = (event.what_happened for event in events if isinstance(event, Incident))
    rate = rigs.SMALL.training.learning_rate
    assert done.endswith(f"The learning rate stays 0.9: the checkpoint was trained with {text(rate)}.")
    session.close()


def test_a_rate_lowered_after_harm_is_reported(
    tmp_path: Path, session_after: SessionAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_after(tmp_path, 31)
    monkeypatch.setattr(schedule, "ADAPTIVE_BLOCK", 2)  # not before: other tests continue the same session
    session.handle(SetLearningRate(1.0))
    events = [event for candle in CANDLES[31:80] for event in rigs.feed(session, [candle])]
    (first, *_) = (event for event in events if isinstance(event, Incident) and event.kind == "learning rate adapted")
    named = re.search(r"Based on the newest (\d+) candles\.", first.what_happened)
    assert named is not None and int(named[1]) in (20, 40), "10 or 20 blocks of two"
    assert "worse than without it" in first.what_happened and "halved, to 0.5" in first.what_was_done
    steps = [event.learning_rate for event in events if isinstance(event, StepDone)]
    assert steps[0] == 1.0 and steps[-1] <= 0.5 and session.status().learning_rate == 1.0
    session.close()
