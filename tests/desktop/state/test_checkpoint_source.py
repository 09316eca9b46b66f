"""The checkpoint source over a real table: read in pages and kept up to date by notifications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.checkpoints.filtering import parse
from core.domain.clock import ManualClock
from core.domain.events import CheckpointsChanged
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from desktop.state.checkpoint_source import CheckpointSource, adds_sentence, adds_text
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from tests.core.storage.samples import checkpoint, open_record
from tests.desktop import scenario

MANY = 1_300
"""More than two pages."""


@pytest.fixture
def record(tmp_path: Path) -> Iterator[TrainingRecord]:
    """A trainer's record, with a separate connection."""
    DataFolder(tmp_path).ensure()
    db = open_database(DataFolder(tmp_path).database)
    record = open_record(db)
    with record.write():
        for number in range(MANY):
            record.add_checkpoint(checkpoint(record.reader.run_id, number, skill=number % 7 / 100))
    yield record
    db.close()


@pytest.fixture
def source(tmp_path: Path, record: TrainingRecord, state: RunState, clock: ManualClock) -> Iterator[CheckpointSource]:
    database = WindowDatabase(DataFolder(tmp_path))
    database.open()
    state.apply(replace(scenario.ready(), run_id=record.reader.run_id))
    yield CheckpointSource(database, state, state)
    database.close()


def test_many_are_read_page_by_page(qtbot: QtBot, source: CheckpointSource) -> None:
    first = len(source.catalog)
    assert 0 < first < MANY and source.is_loading, "the newest are there at once"
    assert source.checkpoints()[0].step == 10 * (MANY - 1)
    qtbot.waitUntil(lambda: len(source.catalog) == MANY)
    assert not source.is_loading and [info.step for info in source.checkpoints()[-2:]] == [10, 0]
    best = source.best()
    assert best is not None and best.skill == 0.06 and best.step == 10 * (MANY - 1 - (MANY - 1) % 7 + 6 - 7)


def test_the_nearest_to_a_step_is_the_one_named_or_of_the_watched_run(
    qtbot: QtBot, source: CheckpointSource, record: TrainingRecord, state: RunState
) -> None:
    run_id = record.reader.run_id
    qtbot.waitUntil(lambda: len(source.catalog) == MANY)

    def nearest(step: int, number: int | None = None) -> int | None:
        found = source.nearest(step, None if number is None else f"{run_id}-{number}")
        return None if found is None else found.step

    assert nearest(1_234) == 1_230 and nearest(10**9) == 10 * (MANY - 1) and nearest(0, MANY) == 0
    assert nearest(1_234, 7) == 70, "its own is kept"
    state.apply(replace(scenario.ready(), run_id="another"))
    assert nearest(1_234) is None


def test_checkpoints_saved_and_deleted_meanwhile_are_followed(
    qtbot: QtBot, source: CheckpointSource, record: TrainingRecord, state: RunState
) -> None:
    run_id = record.reader.run_id
    assert len(source.catalog)
    saved = checkpoint(run_id, MANY, skill=0.5)
    with record.write():
        record.add_checkpoint(saved)
        record.mark_deleted([f"{run_id}-3", f"{run_id}-{MANY - 1}"])
    state.apply(CheckpointsChanged(run_id, saved, (f"{run_id}-3", f"{run_id}-{MANY - 1}")))
    qtbot.waitUntil(lambda: not source.is_loading and len(source.catalog) == MANY - 1)
    steps = {info.step for info in source.checkpoints()}
    assert 10 * MANY in steps and 30 not in steps and 10 * (MANY - 1) not in steps
    best = source.best()
    assert best is not None and best.step == 10 * MANY
    assert source.newest_ids() == {saved.checkpoint_id}


def test_marks_are_read_back_from_the_table(qtbot: QtBot, source: CheckpointSource, record: TrainingRecord) -> None:
    run_id = record.reader.run_id
    qtbot.waitUntil(lambda: len(source.catalog) == MANY)
    ids = [f"{run_id}-{number}" for number in range(600)]
    source.set_tags(ids, ["kept"], [])
    source.set_verified({ids[0]: "", ids[1]: "It was cut short."})
    row = source.catalog.get(ids[0])
    assert row is not None and row.info.tags == ("kept",) and row.info.verified_at_ms
    assert len(source.catalog.rows(parse("damaged"))) == 1
    source.undo_stack.undo()
    assert not any(row.info.tags for row in source.catalog)


def test_a_deletion_and_its_undo_reach_the_table(
    qtbot: QtBot, source: CheckpointSource, record: TrainingRecord, tmp_path: Path
) -> None:
    run_id = record.reader.run_id
    qtbot.waitUntil(lambda: len(source.catalog) == MANY)
    ids = [f"{run_id}-{number}" for number in (4, 5)]
    source.request_deletion(ids)
    assert len(source.catalog) == MANY - 2
    source.undo_stack.undo()
    assert len(source.catalog) == MANY and source.catalog.get(ids[0]) is not None
    source.undo_stack.redo()
    assert len(source.catalog) == MANY - 2


def test_a_best_that_is_not_proven_to_add_is_no_news(
    source: CheckpointSource, record: TrainingRecord, state: RunState
) -> None:
    run_id = record.reader.run_id
    for number, (skill, low) in enumerate([(0.7, -0.003), (0.2, None), (0.01, 0.01)], MANY):
        with record.write():
            saved = replace(checkpoint(run_id, number, skill=skill), reason="best", model_gain=0.1, gain_low=low)
            record.add_checkpoint(saved)
    state.apply(CheckpointsChanged(run_id, saved))
    assert [info.skill for info in source.bests()] == [0.01]


def test_what_a_restored_checkpoint_adds_is_marked_as_the_old_ones() -> None:
    """Regression: the row looked as if the restored model had forecast already."""
    info = scenario.checkpoint(12_345)
    assert adds_text(replace(info, reason="restore")) == f"{adds_text(info)}, before restore"
    assert "before restore" not in adds_text(replace(info, reason="restore", gain_low=None))


@pytest.mark.parametrize(
    ("low", "high", "shown", "why"),
    [
        (0.004, 0.02, "+1.2 % (0.4 to 2.0)", "Adds +1.2 %"),
        (0.000004, 0.02, "+1.2 % (0.0004 to 2.0)", "Adds +1.2 %"),
        (-0.004, 0.02, "–", "−0.4 to 2.0 %, has 0 in it"),
        (None, None, "–", "800 of the 750"),
    ],
)
def test_what_a_model_adds_is_hidden_until_it_is_proven(
    low: float | None, high: float | None, shown: str, why: str
) -> None:
    gain = {"model_gain": 0.012, "gain_low": low, "gain_high": high, "gain_candles": 800}
    info = replace(scenario.checkpoint(12_345), **gain)  # type: ignore[arg-type]
    assert adds_text(info) == shown and why in adds_sentence(info)
