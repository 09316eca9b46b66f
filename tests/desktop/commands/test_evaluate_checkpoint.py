"""`ghostcandle evaluate --checkpoint`."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.checkpoints import package
from core.checkpoints.weight_file import read_model_description
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import CheckpointsChanged
from core.settings.tree import Settings
from core.storage.browsing import BrowsedRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import SaveCheckpoint
from desktop.commands import start_from
from desktop.commands.errors import UserError
from desktop.commands.start_from import find, starting_point
from tests.core.training.hosting.saved_checkpoint import saved
from tests.core.training.rigs import SMALL, feed_two, service_of_two
from tests.support import commands
from tests.support.candles import HOUR, MINUTE, random_walk, write_csv


@dataclass(frozen=True)
class Learned:
    """A data folder with a checkpoint; tests must not change it."""

    folder: DataFolder
    info: CheckpointInfo
    file: Path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    root = tmp_path_factory.mktemp("learned")
    return Learned(DataFolder(root), *saved(root))


def test_an_exported_checkpoint_is_evaluated_frozen_and_its_folder_is_unchanged(
    learned: Learned, tmp_path: Path
) -> None:
    info, file = learned.info, learned.file
    with open_database(learned.folder.database, readonly=True) as db:
        (kept,) = BrowsedRows(db).of([info.checkpoint_id])
    place = package.export(kept, file, None, tmp_path)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    later = write_csv(tmp_path / "later.csv", random_walk(50, start_ms=info.candle_open_time_ms + MINUTE.duration_ms))
    report = tmp_path / "out.html"
    commands.configure(tmp_path / "elsewhere")
    details = commands.invoke_json(
        *("evaluate", str(later), "--checkpoint", str(place), "--frozen", "--report", str(report)),
        *("--data-dir", str(tmp_path / "elsewhere"), "--device", "cpu"),
    )
    assert details["steps"] == 0 and details["scored"] == 49
    assert details["checkpoint"] | {"learned_until_ms": 0} == {
        "id": info.checkpoint_id,
        "step": info.step,
        "market": "walk 1m (file)",
        "learned_until_ms": 0,
        "learns": False,
        "seen": 0,
        "counts_seen": False,
    }
    page = report.read_text(encoding="utf-8")
    assert "Its weights stayed fixed" in page and "with training on" not in page and info.checkpoint_id in page
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_candles_the_checkpoint_may_have_learned_from_count_only_on_request(learned: Learned, tmp_path: Path) -> None:
    info = learned.info
    chosen = find(info.checkpoint_id, learned.folder)
    assert chosen.learned_until_ms == info.candle_open_time_ms + MINUTE.duration_ms
    until = datetime.fromtimestamp(chosen.learned_until_ms / 1000, UTC)
    half = write_csv(tmp_path / "half.csv", random_walk(40, start_ms=chosen.learned_until_ms - 20 * MINUTE.duration_ms))
    start, details = starting_point(chosen, half, None, counts_seen=False, learns=True)
    assert details["seen"] == 20 and start.learned_until_ms == chosen.learned_until_ms, until
    start, details = starting_point(chosen, half, None, counts_seen=True, learns=True)
    assert details["seen"] == 20 and start.counts_seen
    with pytest.raises(UserError, match="none would be new"):
        starting_point(chosen, half, 20, counts_seen=False, learns=True)
    assert starting_point(chosen, half, 20, counts_seen=True, learns=True)[1]["seen"] == 20
    of_file = replace(chosen, market=replace(chosen.market, symbol="walk#dd2831"))
    assert starting_point(of_file, half, None, counts_seen=True, learns=True)[1]["market"] == "walk 1m (file)"
    start_ms = HOUR.open_time_ms(chosen.learned_until_ms) + HOUR.duration_ms
    hourly = write_csv(tmp_path / "hourly.csv", random_walk(40, start_ms=start_ms, interval=HOUR))
    with pytest.raises(UserError, match="1h"):
        starting_point(chosen, hourly, None, counts_seen=False, learns=True)


def test_pretraining_candles_count_as_seen(learned: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    far_ms = learned.info.candle_open_time_ms + 1_000 * MINUTE.duration_ms
    described = lambda path: {**read_model_description(path), "seen_until_ms": far_ms}  # noqa: E731
    monkeypatch.setattr(start_from, "read_model_description", described)
    assert find(learned.info.checkpoint_id, learned.folder).learned_until_ms == far_ms


def test_the_checkpoints_settings_and_the_local_device_are_used(learned: Learned) -> None:
    settings = find(learned.info.checkpoint_id, learned.folder).settings_over(Settings())
    assert settings.model == SMALL.model and settings.training.replay_samples == SMALL.training.replay_samples
    assert settings.training.device == Settings().training.device


def test_a_damaged_or_missing_checkpoint_is_an_error_message(learned: Learned, tmp_path: Path) -> None:
    folder = DataFolder(shutil.copytree(learned.folder.root, tmp_path / "data"))
    with pytest.raises(UserError, match="no checkpoint 'none'"):
        find("none", folder)
    with pytest.raises(UserError, match="not an exported checkpoint"):
        find(str(tmp_path), folder)
    file = folder.absolute(learned.info.file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(UserError, match="Nothing was evaluated"):
        find(learned.info.checkpoint_id, folder)


def test_a_checkpoint_of_several_markets_is_refused_for_what_it_is(tmp_path: Path) -> None:
    session = service_of_two(tmp_path)
    feed_two(session, random_walk(15), random_walk(15, seed=2))
    (saved,) = [event.saved for event in session.handle(SaveCheckpoint()) if isinstance(event, CheckpointsChanged)]
    session.close()
    assert saved is not None
    with pytest.raises(UserError, match=f"{saved.checkpoint_id} has learned several markets"):
        find(saved.checkpoint_id, DataFolder(tmp_path))


def test_checkpoint_options_require_a_checkpoint(tmp_path: Path) -> None:
    done = commands.invoke("evaluate", "none.csv", "--frozen", "--data-dir", str(tmp_path))
    assert done.returncode == 2 and "--checkpoint" in done.stderr and "Traceback" not in done.stderr
