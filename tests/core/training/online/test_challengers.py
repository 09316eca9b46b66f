"""Further models beside the main one: judged and combined with it, and unable to change anything of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from torch import Tensor

from core.domain.candle import Candle
from core.domain.events import Incident
from core.domain.quantities import FloatArray
from core.forecast.experts import LOSS_ROWS, ExpertList, unpack_losses
from core.settings.tree import Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.hosting.service import TrainingService
from core.training.online.snapshot import pack
from tests.core.training import rigs

NAMES = ("gru", "tcn", "nlinear")
CANDLES = rigs.CANDLES[:61]


def settings_with(*challengers: str) -> Settings:
    return replace(rigs.SMALL, model=replace(rigs.SMALL.model, challengers=challengers))


@dataclass(frozen=True)
class Result:
    """What must be equal in two runs. losses: at horizon 1, [n, rows, Q]."""

    losses: FloatArray
    shown: list[float]
    digest: str
    model: Mapping[str, Tensor]
    incidents: list[str]


def run_over(root: Path, settings: Settings, candles: list[Candle] = CANDLES) -> Result:
    session = rigs.service(root, settings)
    events = rigs.feed(session, candles)
    return result_of(root, session, [event.what_happened for event in events if isinstance(event, Incident)])


def result_of(root: Path, session: TrainingService, incidents: list[str] | None = None) -> Result:
    """Ends the session."""
    tensors, _ = pack(session._session, rigs.SMALL.model)
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    run_id = session.status().run_id
    session.close()
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        scores = list(RecordReader(db, run_id).scores())
    finally:
        db.close()
    losses = [unpack_losses(score.expert_losses) for score in scores]
    assert all(each is not None for each in losses)
    stacked = np.stack([each for each in losses if each is not None])
    digest = rigs.digest(root, run_id)
    return Result(stacked, [score.loss for score in scores], digest, tensors, incidents or [])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The model without challengers."""
    return run_over(tmp_path_factory.mktemp("alone"), rigs.SMALL)


@pytest.fixture(scope="module")
def challenged(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run_over(tmp_path_factory.mktemp("challenged"), settings_with(*NAMES))


def is_unchanged(result: Result, alone: Result) -> bool:
    """Whether all of a run is in the other, except for what is of its challengers."""
    np.testing.assert_array_equal(result.losses[:, : len(LOSS_ROWS)], alone.losses)
    np.testing.assert_array_equal(result.losses[:, -1, 0], alone.shown)
    past = "past.said"
    return all(
        bool((result.model[name][:, : tensor.shape[1]] == tensor).all())
        if name == past
        else bool((result.model[name] == tensor).all())
        for name, tensor in alone.model.items()
    )


def test_challengers_change_nothing_of_the_model(alone: Result, challenged: Result) -> None:
    assert is_unchanged(challenged, alone) and challenged.incidents == []
    assert challenged.digest != alone.digest, "they are part of what is shown"


def test_each_challenger_learns_and_is_scored_by_name(challenged: Result) -> None:
    rows = ExpertList(NAMES).loss_rows
    assert challenged.losses.shape[1] == len(rows) and rows[-4:-1] == NAMES
    of_each = challenged.losses[:, [rows.index(name) for name in NAMES], 0].T
    without = challenged.losses[:, 0, 0]
    for own in of_each:
        assert own[0] == pytest.approx(without[0]) and own[-1] != pytest.approx(without[-1])
    assert len({tuple(own) for own in of_each}) == len(NAMES)


def test_a_run_with_challengers_repeats_itself(tmp_path: Path, challenged: Result) -> None:
    assert run_over(tmp_path, settings_with(*NAMES)).digest == challenged.digest


@pytest.mark.parametrize("killed_after", [25, 34])
def test_a_killed_run_continues_with_the_same_bytes(tmp_path: Path, challenged: Result, killed_after: int) -> None:
    settings = settings_with(*NAMES)
    session = rigs.service(tmp_path, settings)
    rigs.feed(session, CANDLES[:killed_after])
    session.close()  # as a kill leaves it: the newest checkpoint is some candles old
    session = rigs.service(tmp_path, settings)
    assert 0 < session._session.step < killed_after - 1
    rigs.feed(session, rigs.after(session, len(CANDLES)))
    again = result_of(tmp_path, session)
    assert again.digest == challenged.digest
    np.testing.assert_array_equal(again.losses, challenged.losses)
    assert all(bool((again.model[name] == tensor).all()) for name, tensor in challenged.model.items())
