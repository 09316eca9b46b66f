"""Forecasts of candles that imported weights may have learned are never the session's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from core.checkpoints import package
from core.domain.candle import Candle, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import SystemClock
from core.domain.events import CheckpointForecast, ForecastMade, ForecastMode
from core.settings.tree import Settings
from core.storage.browsing import BrowsedRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.importing_checkpoints import import_package
from core.storage.record_reader import RecordReader
from core.training.commands import ForecastWith, RestoreCheckpoint
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec, StartingPoint
from desktop.commands import start_from
from tests.core.training import rigs as sessions
from tests.core.training.pretraining import rigs as pretraining
from tests.support.candles import MINUTE, random_walk

LEARNED = Market("file", "learned", MINUTE)
WATCHED = Market("file", "watched", MINUTE)
_EARLIER = 136
"""Candles that only the pretraining reads: it needs more than the other roads."""
_WALK = random_walk(_EARLIER + 33)
CANDLES = _WALK[_EARLIER:]
SEEN, BEFORE = 23, 8
"""Candles that the other run learned; of them those that the watching run had taken when the weights came."""
LEARNED_UNTIL_MS = CANDLES[SEEN].open_time_ms


@dataclass(frozen=True)
class Place:
    """A data folder whose run of LEARNED took the first SEEN candles, and its last checkpoint."""

    root: Path
    info: CheckpointInfo


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("learned")
    service = TrainingService(sessions.spec(root, market=LEARNED), SystemClock())
    sessions.feed(service, CANDLES[:SEEN])
    info = sessions.saved_now(service)
    service.close()
    return Place(root, info)


@pytest.fixture
def place(learned: Place, tmp_path: Path) -> Place:
    """A copy of it, to be changed."""
    return replace(learned, root=Path(shutil.copytree(learned.root, tmp_path / "data")))


def watching(
    root: Path, market: Market = WATCHED, start: StartingPoint | None = None, settings: Settings = sessions.SMALL
) -> TrainingService:
    DataFolder(root).ensure()
    open_database(DataFolder(root).database).close()
    return TrainingService(SessionSpec(root, market, settings, start=start), SystemClock())


def restored(root: Path, checkpoint_id: str, market: Market = WATCHED) -> TrainingService:
    service = watching(root, market)
    sessions.feed(service, CANDLES[:BEFORE])
    service.handle(RestoreCheckpoint(checkpoint_id))
    assert service._session.checkpoint_id != service.status().run_id
    return service


def exported(place: Place, into: Path) -> Path:
    folder = DataFolder(place.root)
    with open_database(folder.database) as db:
        kept = next(
            kept for kept in BrowsedRows(db).page(None, 50) if kept.info.checkpoint_id == place.info.checkpoint_id
        )
    into.mkdir()
    return package.export(kept, folder.absolute(kept.info.file), None, into)


def by_restore(place: Place, tmp_path: Path) -> TrainingService:
    return restored(place.root, place.info.checkpoint_id)


def by_resuming_after_a_restore(place: Place, tmp_path: Path) -> TrainingService:
    service = restored(place.root, place.info.checkpoint_id)
    service.close()  # as a crash leaves it: what the restore saved is the newest checkpoint
    return watching(place.root)


def by_a_copied_folder(place: Place, tmp_path: Path) -> TrainingService:
    restored(place.root, place.info.checkpoint_id).close()
    return watching(Path(shutil.copytree(place.root, tmp_path / "copy")))


def by_import(place: Place, tmp_path: Path) -> TrainingService:
    given, folder = package.read(exported(place, tmp_path / "out")), DataFolder(tmp_path / "other")
    service = watching(folder.root)
    with open_database(folder.database) as db:
        taken = import_package(db, folder, given, 1_000)
    sessions.feed(service, CANDLES[:BEFORE])
    service.handle(RestoreCheckpoint(taken.checkpoint_id))
    return service


def by_a_run_that_had_restored_it(place: Place, tmp_path: Path) -> TrainingService:
    """Two generations: the checkpoint that is restored belongs to a run that has itself taken few candles."""
    between = restored(place.root, place.info.checkpoint_id)
    sessions.feed(between, CANDLES[BEFORE : BEFORE + 5])
    second = sessions.saved_now(between)
    between.close()
    return restored(place.root, second.checkpoint_id, Market("file", "third", MINUTE))


def by_starting_from_it(place: Place, tmp_path: Path) -> TrainingService:
    chosen = start_from.find(place.info.checkpoint_id, DataFolder(place.root))
    start = StartingPoint(chosen.file, chosen.sha256, chosen.checkpoint_id, chosen.learned_until_ms)
    return watching(tmp_path / "other", start=start)


def by_starting_from_an_exported_folder(place: Place, tmp_path: Path) -> TrainingService:
    chosen = start_from.find(str(exported(place, tmp_path / "out")), DataFolder(place.root))
    start = StartingPoint(chosen.file, chosen.sha256, chosen.checkpoint_id, chosen.learned_until_ms)
    return watching(tmp_path / "other", start=start)


def by_pretraining(place: Place, tmp_path: Path) -> TrainingService:
    root = tmp_path / "pretrained"
    root.mkdir()
    pretraining.run(root, pretraining.write(root / "file.csv", _WALK[: _EARLIER + SEEN]), epochs=1)
    return watching(root, settings=pretraining.SMALL)


ROADS = (
    by_restore,
    by_resuming_after_a_restore,
    by_a_copied_folder,
    by_import,
    by_a_run_that_had_restored_it,
    by_starting_from_it,
    by_starting_from_an_exported_folder,
    by_pretraining,
)


def untaken(service: TrainingService) -> list[Candle]:
    position = service.status().position_ms
    return [candle for candle in CANDLES if position is None or candle.open_time_ms > position]


@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.__name__)
def test_forecasts_of_candles_the_weights_may_know_are_not_the_runs_own(
    road: Callable[[Place, Path], TrainingService], place: Place, tmp_path: Path
) -> None:
    with closing(road(place, tmp_path)) as service:
        events = sessions.feed(service, untaken(service))
        made = [event for event in events if isinstance(event, ForecastMade)]
        assert {one.mode for one in made if one.inputs_until_ms < LEARNED_UNTIL_MS} == {ForecastMode.SEEN}
        assert {one.mode for one in made if one.inputs_until_ms >= LEARNED_UNTIL_MS} == {ForecastMode.REPLAY}
        run_id, own_n = service.status().run_id, len(service._session.market.scores.newest(300))
        reader = RecordReader(service._db, run_id)
        scores = [score for score in reader.scores(horizon=1) if not score.after_gap]
    assert own_n == sum(score.mode is not ForecastMode.SEEN for score in scores), "nor may it earn a checkpoint a score"
    restored_at_ms = made[0].inputs_until_ms
    seen = [one for one in scores if restored_at_ms <= one.target_open_time_ms < LEARNED_UNTIL_MS]
    assert seen and all(score.mode is ForecastMode.SEEN for score in seen)


def preview(service: TrainingService, info: CheckpointInfo) -> CheckpointForecast:
    events = service.handle(ForecastWith((info.checkpoint_id,), service._session.market.market))
    return next(event for event in events if isinstance(event, CheckpointForecast))


def test_a_preview_of_known_candles_is_marked_too(place: Place) -> None:
    with closing(watching(place.root)) as service:
        sessions.feed(service, CANDLES[:BEFORE])
        first = preview(service, place.info)
        sessions.feed(service, CANDLES[BEFORE : SEEN + 1])
        later = preview(service, place.info)
    assert first.forecast is not None and first.forecast.mode is ForecastMode.SEEN
    assert later.forecast is not None and later.forecast.mode is ForecastMode.REPLAY


def test_an_older_checkpoint_of_the_run_keeps_its_own_forecasts(tmp_path: Path) -> None:
    with closing(watching(tmp_path)) as service:
        sessions.feed(service, CANDLES[:BEFORE])
        own = sessions.saved_now(service)
        sessions.feed(service, CANDLES[BEFORE : BEFORE + 5])
        service.handle(RestoreCheckpoint(own.checkpoint_id))
        made = [e for e in sessions.feed(service, CANDLES[BEFORE + 5 : BEFORE + 10]) if isinstance(e, ForecastMade)]
    assert {one.mode for one in made} == {ForecastMode.REPLAY}
