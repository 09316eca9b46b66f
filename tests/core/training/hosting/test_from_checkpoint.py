"""A run that begins with a kept checkpoint, learning or frozen."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path

import pytest
import torch

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import SystemClock
from core.domain.events import ForecastMode, StepDone
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.weights import read_weights
from core.training.commands import SaveCheckpoint
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec, StartingPoint
from tests.core.training.hosting.saved_checkpoint import FILE, saved
from tests.core.training.rigs import SMALL, feed, newest_run
from tests.support.candles import MINUTE, random_walk


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckpointInfo, Path]:
    return saved(tmp_path_factory.mktemp("first"))


def begun(root: Path, info: CheckpointInfo, file: Path, **how: object) -> TrainingService:
    DataFolder(root).ensure()
    open_database(DataFolder(root).database).close()
    start = StartingPoint(file, info.sha256, info.checkpoint_id, **{"learned_until_ms": 0, **how})  # type: ignore[arg-type]
    return TrainingService(SessionSpec(root, FILE, SMALL, start=start), SystemClock())


def weights(service: TrainingService) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in service._session.engine.model.state_dict().items()}


def test_a_run_from_a_checkpoint_has_its_weights_an_empty_past_and_keeps_learning(
    tmp_path: Path, kept: tuple[CheckpointInfo, Path]
) -> None:
    info, file = kept
    before, (tensors, _) = file.read_bytes(), read_weights(file)
    with closing(begun(tmp_path / "second", info, file)) as service:
        first = weights(service)
        assert not len(service._session.market.history) and service._session.checkpoint_id == info.checkpoint_id
        assert all(torch.equal(value, tensors[f"model.{name}"]) for name, value in first.items())
        events = feed(service, random_walk(8, seed=1))
        assert any(isinstance(event, StepDone) for event in events)
        assert any(not torch.equal(value, weights(service)[name]) for name, value in first.items())
    assert file.read_bytes() == before, "the checkpoint itself is only read"


def test_frozen_weights_do_not_change_while_forecasts_are_scored(
    tmp_path: Path, kept: tuple[CheckpointInfo, Path]
) -> None:
    info, file = kept
    with closing(begun(tmp_path / "second", info, file, learns=False)) as service:
        first = weights(service)
        events = feed(service, random_walk(8, seed=1))
        assert not any(isinstance(event, StepDone) for event in events)
        assert all(torch.equal(value, weights(service)[name]) for name, value in first.items())
        assert service._session.market.scored == 7


def test_candles_it_may_have_trained_on_are_scored_separately(
    tmp_path: Path, kept: tuple[CheckpointInfo, Path]
) -> None:
    info, file = kept
    candles = random_walk(60)[30:50]
    seen_until_ms = info.candle_open_time_ms + MINUTE.duration_ms
    assert seen_until_ms == candles[10].open_time_ms
    with closing(begun(tmp_path / "second", info, file, learned_until_ms=seen_until_ms)) as service:
        feed(service, candles)
    with open_database(DataFolder(tmp_path / "second").database, readonly=True) as db:
        scores = RecordReader(db, newest_run(db)).scores(horizon=1)
    own = {score.target_open_time_ms for score in scores if score.mode is ForecastMode.REPLAY}
    assert own == {candle.open_time_ms for candle in candles[10:]}
    assert len(scores) > len(own), "the others are scored too, apart"


def test_candles_that_count_although_seen_also_count_after_a_restart(
    tmp_path: Path, kept: tuple[CheckpointInfo, Path]
) -> None:
    info, file = kept
    candles = random_walk(60)[30:50]
    for taken in (candles[:5], candles[5:]):
        service = begun(tmp_path / "second", info, file, learned_until_ms=candles[-1].open_time_ms, counts_seen=True)
        feed(service, taken)
        service.handle(SaveCheckpoint())
        service.close()
    with open_database(DataFolder(tmp_path / "second").database, readonly=True) as db:
        scores = RecordReader(db, newest_run(db)).scores(horizon=1)
    assert len(scores) == 19 and {score.mode for score in scores} == {ForecastMode.REPLAY}


def test_an_incompatible_or_altered_checkpoint_is_refused_with_a_reason(
    tmp_path: Path, kept: tuple[CheckpointInfo, Path]
) -> None:
    info, file = kept
    with pytest.raises(StorageError, match="sha256"):
        begun(tmp_path / "second", dataclasses.replace(info, sha256="0" * 64), file)
    other = dataclasses.replace(SMALL, model=dataclasses.replace(SMALL.model, width=16))
    start = StartingPoint(file, info.sha256, info.checkpoint_id, 0)
    DataFolder(tmp_path / "third").ensure()
    open_database(DataFolder(tmp_path / "third").database).close()
    with pytest.raises(StorageError, match="another architecture"):
        TrainingService(SessionSpec(tmp_path / "third", FILE, other, start=start), SystemClock())
