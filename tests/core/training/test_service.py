"""Commands to a session, and what a next start makes of what was asked for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from core.commands import SetLearningRate, StepOnce
from core.events import CheckpointsChanged, StepDone, TrainerState, TrainerStatus
from core.training.service import TrainingService
from tests.core.training import rigs
from tests.support.candles import random_walk

CANDLES = random_walk(80)


@pytest.mark.faults
def test_a_pause_that_comes_of_an_extra_step_is_shown_and_kept(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    rigs.feed(session, CANDLES[:30])

    def fail(module: torch.nn.Module, _inputs: object, _output: object) -> None:
        if module.training:
            raise ValueError("it fails each time")

    handle = session._session.engine.model.get_submodule("embed").register_forward_hook(fail)
    events = session.handle(StepOnce())
    handle.remove()
    assert [event.state for event in events if isinstance(event, TrainerStatus)] == [TrainerState.PAUSED]
    assert any(isinstance(event, CheckpointsChanged) for event in events), "what a pause leaves behind"
    later = rigs.feed(session, CANDLES[30:50])
    assert not any(isinstance(event, StepDone) for event in later)
    assert session.status().state is TrainerState.PAUSED
    session.close()


def rolled_back(root: Path) -> TrainingService:
    session = rigs.service(root)
    rigs.feed(session, CANDLES[:35])
    with torch.no_grad():
        next(session._session.engine.model.parameters()).view(-1)[0] = torch.nan
    rigs.feed(session, CANDLES[35:45])
    assert session._session.engine.rate_factor == 0.5
    return session


@pytest.mark.faults
def test_a_rate_that_was_set_after_a_rollback_holds_after_a_crash(tmp_path: Path) -> None:
    """The newest checkpoint is from before it was set, and knows of the halving only."""
    session = rolled_back(tmp_path)
    session.handle(SetLearningRate(2e-3))
    rigs.feed(session, CANDLES[45:47])
    assert session._session.engine.rate_now == 2e-3
    session.close()
    training = dataclasses.replace(rigs.SMALL.training, learning_rate=2e-3)
    resumed = rigs.service(tmp_path, dataclasses.replace(rigs.SMALL, training=training))
    assert resumed._session.engine.rate_now == resumed.status().learning_rate == 2e-3
    resumed.close()


@pytest.mark.faults
def test_a_rate_that_was_halved_stays_so_after_a_crash(tmp_path: Path) -> None:
    rolled_back(tmp_path).close()
    resumed = rigs.service(tmp_path)
    assert resumed._session.engine.rate_now == rigs.SMALL.training.learning_rate / 2.0
    resumed.close()
