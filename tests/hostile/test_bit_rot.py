"""Single flipped bits of the record on disk: each is detected and repaired from the backup."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sqlite_utils import Database

from core.domain.clock import SystemClock
from core.domain.events import Incident, Severity
from core.settings.record import RecordSettings
from core.storage.backup_record import list_backups
from core.storage.backups import make_backup
from core.storage.database import decode, open_database
from core.storage.errors import CorruptDatabaseError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.record_tables import SEALED
from core.storage.record_writer import TrainingRecord
from core.storage.recovering import open_or_recover
from core.storage.row_repair import find_damaged
from core.storage.runs import RunStore
from core.storage.soundness import UNREADABLE, pages_of
from core.training.commands import StopSession
from core.training.hosting.record_maintenance import RecordMaintenance
from tests.core.storage.children import write_detailed
from tests.core.storage.samples import MARKET, checkpoint, open_record
from tests.core.training import rigs

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

SEED, FLIPS, CANDLES = 20261122, 150, 60
NAMES = ("forecasts", "forecast_details", "scores", "score_details", "further_scores", "further_score_details")


@dataclass(frozen=True)
class Made:
    """A data folder with a record, a backup of it, and nothing in the log beside the database."""

    folder: DataFolder
    run_id: str
    content: dict[str, list[tuple[object, ...]]]


def content_of(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {
        table.name: connection.execute(f"SELECT {table.select()} FROM {table.name} ORDER BY id").fetchall()
        for table in SEALED
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = DataFolder(tmp_path_factory.mktemp("rot") / "data")
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        record = open_record(db)
        write_detailed(record, range(CANDLES))
        make_backup(folder, SystemClock(), keep=3)
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Made(folder, record.reader.run_id, content_of(db.conn))


@pytest.fixture
def folder(made: Made, tmp_path: Path) -> DataFolder:
    return DataFolder(Path(shutil.copytree(made.folder.root, tmp_path / "data")))


def pages(database: Path, names: tuple[str, ...]) -> list[int]:
    """The numbers, from 1 on, of the pages that hold rows of these tables, their indexes among them."""
    with closing(sqlite3.connect(database)) as db:
        found = []
        for name in names:
            sql = "SELECT pageno FROM dbstat WHERE name = ? OR name LIKE 'sqlite_autoindex_' || ? || '_%' OR name = ?"
            found += [int(row[0]) for row in db.execute(sql, (name, name, f"{name}_by_mode"))]
        return found


def flip(database: Path, bit: int) -> None:
    with database.open("rb+") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def is_found(database: Path) -> bool:
    """As a backup's check finds it: pages and indexes by SQLite, rows by their checksums."""
    with closing(sqlite3.connect(database)) as db:
        db.text_factory = decode
        try:
            return pages_of(db, is_thorough=True) is not None or bool(find_damaged(db))
        except UNREADABLE:
            return True


def is_harmless(database: Path, expected: dict[str, list[tuple[object, ...]]]) -> bool:
    """Every row is unchanged, and every index agrees."""
    with closing(sqlite3.connect(database)) as db:
        return content_of(db) == expected and pages_of(db, is_thorough=True) is None


def test_every_flipped_bit_in_forecasts_and_scores_is_detected(made: Made, tmp_path: Path) -> None:
    draw, copy = np.random.default_rng(SEED), tmp_path / "copy.sqlite3"
    print(f"seed {SEED}")
    where = pages(made.folder.database, NAMES)
    size = 4096 * 8
    found = harmless = 0
    while found < FLIPS:
        page = int(draw.choice(where))
        bit = (page - 1) * size + int(draw.integers(size))
        shutil.copyfile(made.folder.database, copy)
        flip(copy, bit)
        if is_found(copy):
            found += 1
            continue
        assert is_harmless(copy, made.content), f"bit {bit} of page {page} changed a row, and nobody saw it"
        harmless += 1
    print(f"{found} found, {harmless} in room that nothing uses")
    assert harmless < FLIPS


@pytest.fixture
def db(folder: DataFolder) -> Iterator[Database]:
    with closing(open_database(folder.database)) as db:
        yield db


def rot(db: Database, table: str, column: str, id_: int, value: object) -> None:
    """Change one value behind the checksum's back."""
    triggers = db.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
    ).fetchall()
    for name, _ in triggers:
        db.conn.execute(f"DROP TRIGGER {name}")
    db.conn.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, id_))
    for _, sql in triggers:
        db.conn.execute(sql)


def upkeep(db: Database, made: Made, folder: DataFolder) -> tuple[RecordMaintenance, TrainingRecord]:
    record = open_record(db, RunStore(db).get(made.run_id))
    return RecordMaintenance(db, record, folder, RecordSettings(), SystemClock()), record


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("forecasts", "origin_close", 1e300),
        ("forecasts", "mode", 3),
        ("forecasts", "checkpoint_id", "checkpoint-\udc80".encode("utf-8", "surrogateescape").decode("latin-1")),
        ("forecasts", "drawn", b"\x00" * 352),
        ("forecast_details", "arrays", b"\xff" * 9000),
        ("scores", "records", b"\x01" * 49),
        ("score_details", "losses", b"\x01" * 264),
        ("further_scores", "target_open_time_ms", 7),
        ("steps", "loss", -1.0),
        ("step_details", "gradients", b""),
    ],
)
def test_a_trainer_restores_the_row_from_the_backup_first(
    made: Made, folder: DataFolder, db: Database, table: str, column: str, value: object
) -> None:
    rot(db, table, column, 50, value)
    keeper, _ = upkeep(db, made, folder)
    (incident,) = keeper.opening()
    assert incident.kind == "damaged rows" and incident.severity is Severity.WARNING
    assert "1 restored from backups" in incident.what_was_done and incident.what_it_cost == "Nothing."
    assert content_of(db.conn) == made.content
    assert keeper.opening() == [], "and it is said once"


def test_a_row_in_no_backup_is_dropped_and_forecast_again(made: Made, folder: DataFolder, db: Database) -> None:
    record = open_record(db, RunStore(db).get(made.run_id))
    write_detailed(record, [CANDLES])
    rot(db, "forecasts", "scale", CANDLES + 1, -1.0)
    keeper, record = upkeep(db, made, folder)
    (incident,) = keeper.opening()
    assert "1 in no backup and removed" in incident.what_was_done and "missing" in incident.what_it_cost
    assert record.reader.forecast_of(CANDLES * 60_000) is None
    assert record.reader.incidents(1)[0].kind == "damaged rows"
    write_detailed(record, [CANDLES])
    stored = record.reader.forecast_of(CANDLES * 60_000)
    assert stored is not None and stored.horizons == 8


def test_readers_skip_a_damaged_row_and_the_trainer_repairs_it(made: Made, folder: DataFolder, db: Database) -> None:
    keeper, record = upkeep(db, made, folder)
    assert keeper.opening() == []
    rot(db, "scores", "records", 9, b"\x00" * 49)
    rot(db, "forecast_details", "arrays", 9, b"\x00" * 64)
    assert len(record.reader.scores()) == CANDLES - 2
    stored = record.reader.forecast_of(8 * 60_000)
    assert stored is not None and len(stored.quantiles.experts) == 0
    has_more, incidents = keeper.piece()
    assert not has_more and len(incidents) == 1
    assert content_of(db.conn) == made.content and record.reader.damaged == {}


def test_backup_of_a_damaged_database_is_whole_and_the_trainer_is_notified(
    made: Made, folder: DataFolder, db: Database
) -> None:
    keeper, _ = upkeep(db, made, folder)
    for id_ in (3, 4):
        rot(db, "scores", "scored_at_ms", id_, 1)
    backup = make_backup(folder, SystemClock(), keep=3)
    with closing(sqlite3.connect(backup.database)) as copy:
        assert content_of(copy) == made.content, "the copy was mended by the backup before it"
    assert len(list_backups(folder.backups)) == 2
    _, (incident,) = keeper.piece()
    assert "2 restored from backups" in incident.what_was_done
    assert content_of(db.conn) == made.content
    assert keeper.piece() == (False, [])


@pytest.mark.parametrize(("has_backup", "column"), [(True, "origin_close"), (False, "drawn"), (False, "mode")])
def test_a_real_session_continues_after_a_damaged_newest_forecast(
    tmp_path: Path, has_backup: bool, column: str
) -> None:
    """Of 60 candles 40 were taken; then the newest forecast rots, both what is drawn of it and its exact arrays."""
    undisturbed = rigs.service(tmp_path / "undisturbed")
    run_id = undisturbed.status().run_id
    rigs.feed(undisturbed, rigs.CANDLES[:60])
    undisturbed.close()
    folder = DataFolder(tmp_path / "rotten")
    session = rigs.service(folder.root)
    rigs.feed(session, rigs.CANDLES[:40])
    session.handle(StopSession())
    rotten_id = session.status().run_id
    session.close()
    if has_backup:
        make_backup(folder, SystemClock(), keep=1)
    with closing(open_database(folder.database)) as db:
        rot(db, "forecasts", column, 40, {"origin_close": 1e-300, "mode": 77}.get(column, b"\xff" * 5))
        rot(db, "forecast_details", "arrays", 40, np.full(400, np.nan).tobytes())
    session = rigs.service(folder.root)
    kinds = [event.kind for event in session.opening_events() if isinstance(event, Incident)]
    assert kinds == ["damaged rows"]
    rigs.feed(session, rigs.after(session, 60))
    session.close()
    with closing(open_database(folder.database)) as db:
        counts = RecordReader(db, rotten_id).counts()
        assert find_damaged(db.conn) == [] and counts.candles == (60 if has_backup else 59)
        assert counts.scored == (59 if has_backup else 58), "the dropped one was not scored"
    if has_backup:
        assert rigs.digest(folder.root, rotten_id) == rigs.digest(tmp_path / "undisturbed", run_id)


def changed_in_table(database: Path, table: str, text: str) -> None:
    """Change a bit of a text in the table's page alone, not in an index."""
    with closing(sqlite3.connect(database)) as db:
        (page,) = (number for (number,) in db.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,)))
    with database.open("rb") as file:
        file.seek((page - 1) * 4096)
        place = file.read(4096).index(text.encode())
    flip(database, ((page - 1) * 4096 + place + len(text) - 1) * 8)


def test_a_changed_letter_of_a_runs_id_is_restored_by_the_next_start(made: Made, folder: DataFolder) -> None:
    with closing(open_database(folder.database)) as db:
        with TrainingRecord(db, made.run_id, RunStore(db).acquire_fence(made.run_id)).write() as record:
            record.add_checkpoint(checkpoint(made.run_id, 1))
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    changed_in_table(folder.database, "runs", made.run_id)
    opened = open_or_recover(folder)
    with closing(opened.db):
        assert opened.notice is None and RunStore(opened.db).get(made.run_id).market == MARKET
        assert content_of(opened.db.conn) == made.content


def test_a_changed_letter_of_a_symbol_is_restored_by_the_next_start(made: Made, folder: DataFolder) -> None:
    settings = json.dumps({"market": {"symbol": MARKET.symbol}})
    with closing(open_database(folder.database)) as db:
        db.conn.execute("UPDATE runs SET settings_json = ?", (settings,))
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    changed_in_table(folder.database, "markets", MARKET.symbol)
    opened = open_or_recover(folder)
    with closing(opened.db):
        assert opened.notice is None and RunStore(opened.db).get(made.run_id).market == MARKET
        assert content_of(opened.db.conn) == made.content


def test_a_run_whose_fingerprint_has_a_changed_letter_is_continued(made: Made, folder: DataFolder) -> None:
    with closing(open_database(folder.database)) as db:
        db.conn.execute("UPDATE runs SET fingerprint = ?", ("0123456789abcdef",))
        found = RunStore(db).find(MARKET, "0123456789abcdee")
        assert found is not None and found.run_id == made.run_id
        assert RunStore(db).find(MARKET, "0123456789abcdaa") is None


def test_a_damaged_index_is_rebuilt_without_losing_rows(made: Made, folder: DataFolder) -> None:
    """A bit of a key: lookups miss a row that is there. Found by a backup's check, mended by the next start."""
    with closing(sqlite3.connect(folder.database)) as db:
        sql = "SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_scores_1' AND pagetype = 'leaf'"
        page = int(db.execute(sql).fetchone()[0])
    for bit in range(4095 * 8, 0, -8):  # the last key of the page is at its end
        copy = DataFolder(Path(shutil.copytree(folder.root, folder.root.with_name(f"at-{bit}"))))
        flip(copy.database, (page - 1) * 4096 * 8 + bit)
        with closing(sqlite3.connect(copy.database)) as db:
            fault = pages_of(db, is_thorough=True)
            is_of_index = fault is not None and " index " in fault and pages_of(db, is_thorough=False) is None
        if is_of_index:
            break
    with pytest.raises(CorruptDatabaseError):
        make_backup(copy, SystemClock(), keep=3)
    opened = open_or_recover(copy)
    with closing(opened.db):
        assert opened.notice is None and content_of(opened.db.conn) == made.content
        assert pages_of(opened.db.conn, is_thorough=True) is None
