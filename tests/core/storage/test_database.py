"""Opening a database: new, concurrently, and with damage, locks, a newer schema or a full disk."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from core.domain.clock import ManualClock
from core.domain.passing_faults import PassingFault
from core.storage import database
from core.storage.candles import CandleStore
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database, write
from core.storage.errors import CorruptDatabaseError, PassingError, StorageError
from core.storage.folder import DataFolder
from core.storage.recovering import open_or_recover
from core.storage.runs import RunStore
from core.storage.schema import VERSION
from core.storage.soundness import fault_of, tables_of
from tests.core.storage.samples import MARKET, candle, checkpoint, open_record
from tests.support.lost_files import lose_open_files

TABLES = {"markets", "candles", "runs", "steps", "forecasts", "scores", "checkpoints", "incidents"}
NOON_MS = 1_764_417_600_000


def filled(path: Path, candles: int = 500) -> None:
    with open_database(path) as db:
        CandleStore(db).save(MARKET, [candle(number) for number in range(candles)])


def test_a_new_file_gets_all_tables_and_settings(db: Database) -> None:
    assert set(db.table_names()) > TABLES
    assert db.journal_mode == "wal"
    pragmas = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("foreign_keys", "synchronous")}
    assert pragmas == {"foreign_keys": 1, "synchronous": 1}
    assert db.execute("PRAGMA busy_timeout").fetchone()[0] >= 5_000


def test_opening_again_changes_nothing(folder: DataFolder) -> None:
    filled(folder.database)
    before = folder.database.read_bytes()
    open_database(folder.database).close()
    assert folder.database.read_bytes() == before


@pytest.mark.parametrize("attempt", range(5))
def test_several_connections_open_a_new_file_at_the_same_time(folder: DataFolder, attempt: int) -> None:
    together = threading.Barrier(6)

    def open_and_save(number: int) -> int:
        together.wait()
        with open_database(folder.database) as db:
            return CandleStore(db).save(MARKET, [candle(number)])

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_and_save, range(6))) == [1] * 6
    with open_database(folder.database, quick_check=True) as db:
        assert CandleStore(db).count(MARKET) == 6


def test_a_reader_does_not_create_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no database"):
        open_database(tmp_path / "none.sqlite3", readonly=True)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_of_a_damaged_file_learns_how_it_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "damaged.sqlite3"
    file.write_bytes(b"nothing of a database" * 1_000)
    with pytest.raises(CorruptDatabaseError, match="start it again"):
        open_database(file, readonly=True)
    with pytest.raises(CorruptDatabaseError) as found:
        open_database(file)
    assert "start it again" not in str(found.value), "that start is this one"


def test_a_reader_cannot_write(db: Database, other: Database) -> None:
    with pytest.raises(StorageError, match="read-only"):
        CandleStore(other).save(MARKET, [candle(1)])
    assert CandleStore(db).count(MARKET) == 0


def of_before_1_0(path: Path) -> None:
    """As version 0.1.0 named what it had done to a database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE _sqlite_migrations (migration_set TEXT, name TEXT, applied_at TEXT)")
        connection.execute("INSERT INTO _sqlite_migrations VALUES ('ghostcandle', 'proven_holes', '2026-11-28')")
        connection.commit()


def of_next_year(path: Path) -> None:
    open_database(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def of_version_2(path: Path) -> None:
    """Without the tables that came later; one checkpoint, as that version stored it."""
    with closing(open_database(path)) as db:
        record = open_record(db)
        with record.write():
            record.add_checkpoint(checkpoint(record.reader.run_id, 1, skill=0.5))
        for table in ("checkpoint_gains", "insides"):
            db.conn.execute(f"DROP TABLE {table}")
        db.conn.execute("PRAGMA user_version = 2")


def test_a_database_of_an_earlier_version_gets_the_tables_that_it_lacks(folder: DataFolder) -> None:
    of_version_2(folder.database)
    with pytest.raises(StorageError, match="brought up to date at a start"):
        open_database(folder.database, readonly=True)
    with closing(open_or_recover(folder).db) as db:
        assert tables_of(db.conn) is fault_of(db.conn) is None, "as in a new one"
        (info,) = CheckpointRows(db).list(RunStore(db).list()[0].run_id)
    assert info.skill == 0.5 and info.gain_low is None and list(folder.quarantine.iterdir()) == []


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize(
    ("write_file", "way_out"),
    [(of_next_year, "newer version.*Update Ghostcandle"), (of_before_1_0, "older version.*ghostcandle export")],
)
def test_another_schema_is_refused_and_not_modified(
    folder: DataFolder, write_file: Callable[[Path], None], way_out: str, readonly: bool
) -> None:
    write_file(folder.database)
    before = folder.database.read_bytes()
    with pytest.raises(StorageError, match=way_out):
        open_database(folder.database, readonly=readonly)
    with pytest.raises(StorageError, match=way_out):
        open_or_recover(folder)
    assert folder.database.read_bytes() == before and list(folder.quarantine.iterdir()) == []


def test_a_reader_refuses_an_empty_database(folder: DataFolder) -> None:
    folder.database.touch()
    with pytest.raises(StorageError, match="is empty"):
        open_database(folder.database, readonly=True)


def test_a_database_of_another_program_counts_as_damaged(folder: DataFolder) -> None:
    with closing(sqlite3.connect(folder.database)) as connection:
        connection.execute("CREATE TABLE incidents (something TEXT)")
    with pytest.raises(CorruptDatabaseError, match="which version"):
        open_database(folder.database)


def test_a_path_that_cannot_be_opened_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be opened"):
        open_database(tmp_path / "file" / "db.sqlite3")
    with pytest.raises(StorageError, match="cannot be opened"):
        open_database(tmp_path)


@pytest.mark.hostile
@pytest.mark.parametrize("readonly", [True, False])
def test_a_name_in_the_schema_that_is_no_text_is_damage(folder: DataFolder, *, readonly: bool) -> None:
    """SQLite's message about it cannot be decoded."""
    filled(folder.database)
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_master SET name = CAST(X'ff' AS TEXT), sql = 'CREATE x' WHERE name = 'steps'")
    with pytest.raises(CorruptDatabaseError):
        open_database(folder.database, readonly=readonly)


def test_a_file_locked_by_another_program_is_not_reported_as_damaged(folder: DataFolder) -> None:
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as holder:
        holder.execute("CREATE TABLE held (something TEXT)")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked") as caught:
            open_database(folder.database, busy_timeout_ms=60)
        holder.execute("ROLLBACK")
    assert not isinstance(caught.value, CorruptDatabaseError)


def test_a_writer_waits_for_another_and_then_reports_the_lock(folder: DataFolder, db: Database) -> None:
    with open_database(folder.database, busy_timeout_ms=60) as late:
        with write(db), pytest.raises(StorageError, match="locked"):
            CandleStore(late).save(MARKET, [candle(1)])
        assert CandleStore(late).save(MARKET, [candle(1)]) == 1


def test_the_busy_timeout_is_in_milliseconds(folder: DataFolder) -> None:
    with open_database(folder.database, busy_timeout_ms=1_234) as db:
        assert db.execute("PRAGMA busy_timeout").fetchone() == (1_234,)


def test_writers_wait_their_turn(folder: DataFolder, db: Database) -> None:
    started = threading.Event()

    def save_late() -> int:
        with open_database(folder.database) as late:
            started.set()
            return CandleStore(late).save(MARKET, [candle(2)])

    with ThreadPoolExecutor(1) as pool:
        with write(db):
            saving = pool.submit(save_late)
            started.wait()
            assert not saving.done()
        assert saving.result() == 1


def test_a_transaction_is_all_or_nothing(db: Database, other: Database) -> None:
    insert = "INSERT INTO markets (venue, symbol, interval_ms) VALUES (?, 'A/B', 60000)"
    with pytest.raises(KeyError), write(db):
        db.conn.execute(insert, ("first",))
        raise KeyError("in the middle")
    with pytest.raises(sqlite3.IntegrityError), write(db):
        db.conn.execute(insert, ("second",))
        db.conn.execute("INSERT INTO markets (venue, symbol, interval_ms) VALUES (NULL, 'A/B', 60000)")
    with write(db):
        db.conn.execute(insert, ("third",))
        assert other.execute("SELECT COUNT(*) FROM markets").fetchone()[0] == 0
    assert [row["venue"] for row in other["markets"].rows] == ["third"]


def test_a_full_disk_is_explained_and_keeps_the_stored_data(db: Database, other: Database) -> None:
    store = CandleStore(db)
    store.save(MARKET, [candle(number) for number in range(100)])
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(PassingError, match="is full"):
        store.save(MARKET, [candle(number) for number in range(100, 5_000)])
    assert CandleStore(other).count(MARKET) == 100
    assert store.save(MARKET, [candle(100)]) == 1


@pytest.mark.hostile
def test_after_the_start_an_empty_folder_is_a_disk_that_is_away(folder: DataFolder) -> None:
    with pytest.raises(PassingError, match="disk is away") as caught:
        open_database(folder.database, creates=False)
    assert caught.value.fault is PassingFault.AWAY and not folder.database.exists()


@pytest.mark.hostile
@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved")
def test_a_folder_that_was_removed_takes_no_writes_until_it_is_back(folder: DataFolder) -> None:
    """The open files would take them, and nobody would find them."""
    with open_database(folder.database) as db:
        store = CandleStore(db)
        store.save(MARKET, [candle(1)])
        away = folder.root.rename(folder.root.with_name("away"))
        for _ in range(2):
            with pytest.raises(PassingError, match="is not there") as caught:
                store.save(MARKET, [candle(2)])
            assert caught.value.fault is PassingFault.AWAY
        shutil.copytree(away, folder.root)
        assert store.save(MARKET, [candle(2)]) == 1
        with open_database(folder.database, readonly=True) as other:
            assert CandleStore(other).load(MARKET) == [candle(1), candle(2)]
    while database._lost:
        database._lost.pop().close()


@pytest.mark.hostile
def test_a_disk_that_cannot_be_read_is_no_damage_while_it_is_away(folder: DataFolder) -> None:
    """SQLite reports both by one error."""
    filled(folder.database)
    damage(folder.database)
    with open_database(folder.database) as db:
        away = folder.root.rename(folder.root.with_name("away"))
        with pytest.raises(PassingError) as caught:
            CandleStore(db).load(MARKET)
        assert caught.value.fault is PassingFault.AWAY
        away.rename(folder.root)
        with pytest.raises(CorruptDatabaseError):
            CandleStore(db).load(MARKET)


@pytest.mark.hostile
@pytest.mark.skipif(sys.platform != "linux", reason="/proc and O_PATH")
def test_when_its_disk_is_back_a_database_is_connected_again(folder: DataFolder) -> None:
    with open_database(folder.database, busy_timeout_ms=1_234) as db:
        store = CandleStore(db)
        store.save(MARKET, [candle(1)])
        lose_open_files(folder.database)
        with pytest.raises(PassingError) as caught:
            store.save(MARKET, [candle(2)])
        assert caught.value.fault is PassingFault.AWAY
        assert store.save(MARKET, [candle(2)]) == 1
        assert db.execute("PRAGMA busy_timeout").fetchone() == (1_234,)
        with open_database(folder.database, readonly=True) as other:
            assert CandleStore(other).load(MARKET) == [candle(1), candle(2)]
    while database._lost:
        database._lost.pop().close()


def test_damage_in_the_middle_is_found_on_request(folder: DataFolder) -> None:
    filled(folder.database)
    damage(folder.database)
    with pytest.raises(CorruptDatabaseError, match="damaged"):
        open_database(folder.database, quick_check=True)


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-8192:] = b"\xa5" * 8192
    path.write_bytes(content)


def write_text(path: Path) -> None:
    path.write_text("this is no database, " * 1_000, encoding="utf-8")


def cut_in_half(path: Path) -> None:
    filled(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def damage_a_filled_one(path: Path) -> None:
    filled(path)
    damage(path)


@pytest.mark.parametrize("spoil", [write_text, cut_in_half, damage_a_filled_one])
def test_a_damaged_file_is_moved_aside_and_a_new_one_created(folder: DataFolder, spoil: Callable[[Path], None]) -> None:
    spoil(folder.database)
    spoiled = folder.database.read_bytes()
    opened = open_or_recover(folder, clock=ManualClock(NOON_MS))
    with opened.db as db:
        assert CandleStore(db).save(MARKET, [candle(1)]) == 1
    kept = folder.quarantine / "ghostcandle-20251129T120000.sqlite3"
    assert kept.read_bytes() == spoiled
    assert opened.notice is not None
    assert str(kept) in opened.notice
    again = open_or_recover(folder)
    with again.db as db:
        assert again.notice is None
        assert CandleStore(db).count(MARKET) == 1


def test_wal_and_index_are_moved_along_and_nothing_is_overwritten(folder: DataFolder) -> None:
    beside = [folder.database.with_name(folder.database.name + ending) for ending in ("-wal", "-shm")]
    for _ in range(2):
        for path in (folder.database, *beside):
            write_text(path)
        open_or_recover(folder, clock=ManualClock(NOON_MS)).db.close()
    stem = "ghostcandle-20251129T120000"
    expected = {f"{stem}{number}.sqlite3{ending}" for number in ("", "-2") for ending in ("", "-wal", "-shm")}
    assert {path.name for path in folder.quarantine.iterdir()} == expected


def test_the_wal_of_a_killed_writer_is_recovered(folder: DataFolder, tmp_path: Path) -> None:
    elsewhere = DataFolder(tmp_path / "elsewhere")
    elsewhere.ensure()
    copy = elsewhere.database
    with open_database(folder.database) as db:
        CandleStore(db).save(MARKET, [candle(number) for number in range(10)])
        for ending in ("", "-wal"):  # as they lie on the disk while the connection is open
            shutil.copy(f"{folder.database}{ending}", f"{copy}{ending}")
    assert Path(f"{copy}-wal").stat().st_size > 0
    opened = open_or_recover(elsewhere)
    with opened.db as db:
        assert opened.notice is None
        assert CandleStore(db).count(MARKET) == 10


def test_a_programming_error_is_not_wrapped(db: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), write(db):
        db.conn.execute("INSERT INTO ghosts VALUES (1)")
    assert not db.conn.in_transaction
