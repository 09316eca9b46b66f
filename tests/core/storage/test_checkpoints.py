"""The checkpoint browser's table: kept checkpoints, the best one, pins, notes and requests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlite_utils import Database

from core.domain.checkpoint_info import CheckpointInfo
from core.storage.checkpoints import CheckpointRows
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from tests.core.storage.samples import checkpoint, open_record

NAN = float("nan")


def save(record: TrainingRecord, *skills: float | None) -> list[CheckpointInfo]:
    infos = [checkpoint(record.reader.run_id, number, skill=skill) for number, skill in enumerate(skills)]
    with record.write():
        for info in infos:
            record.add_checkpoint(info)
    return infos


def test_the_newest_comes_first_and_other_runs_are_excluded(db: Database, other: Database) -> None:
    record = open_record(db)
    infos = save(record, None, None, None)
    save(open_record(db), 0.5)
    rows = CheckpointRows(other)
    assert rows.list(record.reader.run_id) == infos[::-1]
    assert rows.newest(record.reader.run_id) == infos[2]
    assert rows.by_id(infos[1].checkpoint_id) == infos[1]
    assert rows.newest("lost") is rows.best("lost") is rows.by_id("lost") is None


def test_the_table_marks_the_best_and_a_backup_needs_it(db: Database) -> None:
    record = open_record(db)
    best, _, newest = save(record, 0.2, -0.1, None)
    rows = CheckpointRows(db)
    assert [info.checkpoint_id for info in rows.list(record.reader.run_id) if info.is_best] == [best.checkpoint_id]
    needed = [info.checkpoint_id for info in rows.to_continue_from()]
    assert needed == [newest.checkpoint_id, best.checkpoint_id]


def test_after_a_deletion_the_next_is_the_best(db: Database) -> None:
    record = open_record(db)
    infos = save(record, 0.1, 0.3)
    with record.write():
        record.mark_deleted([infos[1].checkpoint_id])
    rows = CheckpointRows(db)
    assert rows.list(record.reader.run_id) == [replace(infos[0], is_best=True)]
    assert rows.by_id(infos[1].checkpoint_id) is None


def test_pins_and_notes_are_separate_and_can_be_removed(db: Database, other: Database) -> None:
    record = open_record(db)
    infos = save(record, None, None)
    rows, seen = CheckpointRows(db), CheckpointRows(other)
    rows.set_note(infos[0].checkpoint_id, "before the crash")
    rows.set_pinned(infos[0].checkpoint_id, True)
    assert seen.by_id(infos[0].checkpoint_id) == replace(infos[0], note="before the crash", is_pinned=True)
    assert seen.by_id(infos[1].checkpoint_id) == infos[1]
    rows.set_note(infos[0].checkpoint_id, "")
    rows.set_pinned(infos[0].checkpoint_id, False)
    assert seen.by_id(infos[0].checkpoint_id) == infos[0]


def test_requests_are_listed_until_they_are_carried_out(db: Database) -> None:
    record = open_record(db)
    infos = save(record, None, None, None)
    ids = [info.checkpoint_id for info in infos]
    rows = CheckpointRows(db)
    rows.request_deletion([ids[2]], 1_000)
    rows.request_deletion([ids[0], ids[2]], 2_000)
    assert rows.requested_deletions() == (ids[2], ids[0])
    assert rows.list(record.reader.run_id) == infos[::-1]
    with record.write():
        record.mark_deleted(rows.requested_deletions()[:1])
    assert rows.requested_deletions() == (ids[0],)


def test_a_checkpoint_pinned_meanwhile_is_not_deleted(db: Database) -> None:
    record = open_record(db)
    pinned, other = save(record, None, None)
    rows = CheckpointRows(db)
    rows.set_pinned(pinned.checkpoint_id, True)
    with record.write():
        assert record.mark_deleted([pinned.checkpoint_id, other.checkpoint_id]) == 1
    assert rows.list(record.reader.run_id) == [replace(pinned, is_pinned=True)]


def test_a_missing_checkpoint_cannot_be_marked_or_deleted(db: Database) -> None:
    record = open_record(db)
    (info,) = save(record, None)
    rows = CheckpointRows(db)
    with pytest.raises(StorageError, match="no longer exists"):
        rows.set_pinned("lost", True)
    with pytest.raises(StorageError, match="no longer exists"):
        rows.request_deletion([info.checkpoint_id, "lost"], 1)
    assert rows.requested_deletions() == ()
    with record.write():
        record.mark_deleted([info.checkpoint_id])
    with pytest.raises(StorageError, match="no longer exists"):
        rows.set_note(info.checkpoint_id, "too late")


def test_the_window_may_mark_after_a_trainer_was_fenced(folder: DataFolder, db: Database) -> None:
    record = open_record(db)
    (info,) = save(record, None)
    db.execute("UPDATE runs SET fence = fence + 1")
    CheckpointRows(db).set_note(info.checkpoint_id, "still mine")
    assert CheckpointRows(db).list(record.reader.run_id)[0].note == "still mine"
