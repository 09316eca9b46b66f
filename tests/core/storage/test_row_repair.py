"""Damaged rows are taken from backups that are damaged themselves, and nothing is dropped that could be restored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from core.domain.clock import ManualClock
from core.storage.backup_record import Backup
from core.storage.backups import make_backup
from core.storage.database import write
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_tables import FORECAST_DETAILS
from core.storage.row_repair import find_damaged, repair_rows
from tests.core.storage.children import write_detailed
from tests.core.storage.samples import open_record

CANDLES = 60
TABLE = FORECAST_DETAILS.name
DAMAGED = [(TABLE, id_) for id_ in range(1, CANDLES + 1)]


@pytest.fixture
def backup(folder: DataFolder, db: Database) -> Backup:
    """Of a record whose details have been damaged since."""
    write_detailed(open_record(db), range(CANDLES))
    backup = make_backup(folder, ManualClock(1_764_417_600_000), keep=3)
    db.conn.execute(f"UPDATE {TABLE} SET arrays = X'00'")
    assert find_damaged(db.conn) == DAMAGED
    return backup


def spoil_a_page(database: Path) -> set[int]:
    """Make one page of the table unreadable, amid others; returns the ids that can no longer be read."""
    with closing(sqlite3.connect(database)) as db:
        sql = "SELECT pageno, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        leaves = db.execute(sql, (TABLE,)).fetchall()
    number, size = leaves[len(leaves) // 2]
    with database.open("rb+") as file:
        file.seek((number - 1) * size)
        file.write(bytes(size))
    lost = set()
    with closing(sqlite3.connect(database)) as db:
        for _, id_ in DAMAGED:
            try:
                db.execute(f"SELECT * FROM {TABLE} WHERE id = ?", (id_,)).fetchall()
            except sqlite3.DatabaseError:
                lost.add(id_)
    return lost


def test_a_damaged_page_of_a_backup_costs_only_its_own_rows(db: Database, backup: Backup) -> None:
    lost = spoil_a_page(backup.database)
    assert lost and 1 not in lost and CANDLES not in lost
    done = repair_rows(db.conn, DAMAGED, [backup])
    assert {id_ for _, id_ in done.dropped} == lost and len(done) == CANDLES
    assert done.from_backup == backup.name and find_damaged(db.conn) == []
    kept = {id_ for (id_,) in db.conn.execute(f"SELECT id FROM {TABLE}")}
    assert kept == {id_ for _, id_ in DAMAGED} - lost, "a restored row is not removed again"


def test_a_full_disk_is_no_fault_of_the_backup(db: Database, backup: Backup) -> None:
    db.conn.execute("VACUUM")
    pages = db.conn.execute("PRAGMA page_count").fetchone()[0]
    db.conn.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="full"), write(db):
        repair_rows(db.conn, DAMAGED, [backup])
    assert find_damaged(db.conn) == DAMAGED, "nothing was dropped"
