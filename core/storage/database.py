"""Opening the database, and atomic writes. `recovering` handles a damaged one at a start.

A connection belongs to the thread that opened it; the opener closes it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from core.domain.passing_faults import PassingFault
from core.files.private import make_private
from core.storage.errors import CorruptDatabaseError, PassingError, StorageError, damaged, explain
from core.storage.lean_sqlite_utils import import_sqlite_utils
from core.storage.schema import Origin, create_tables, origin_of, upgrade
from core.storage.soundness import UNREADABLE, names_of, pages_of

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_TIMEOUT_MS = 10_000
START_AGAIN = "Close Ghostcandle and start it again: the newest verified backup then takes its place."
_WAL_RETRY_S = 0.02
_ENOUGH_BYTES = 50_000_000
"""Room for a log of SQLite's and some checkpoints, so that a full disk is not full again at once."""
_SHARE_OF_SMALL = 8
"""On a small disk, an eighth of its size is required instead."""
_log = logging.getLogger("ghostcandle")
_removed: WeakSet[Database] = WeakSet()
"""Those whose file was not in its place at the last write."""
_lost: list[sqlite3.Connection] = []
"""Never closed, where that would delete a log."""
_SYMBOLS_IN_INDEX = "SELECT id, symbol FROM markets ORDER BY venue, symbol, interval_ms"
_RESTORE_SYMBOL = """
UPDATE OR IGNORE markets SET symbol = ? WHERE id = ? AND symbol <> ? AND EXISTS (
    SELECT 1 FROM runs WHERE market_id = markets.id AND instr(settings_json, json_quote(?)) > 0
    AND instr(settings_json, json_quote(symbol)) = 0
)
"""
"""Of the table's symbol and that of its index, one is damaged: not the one in the settings of a run."""
_STEPS_BETWEEN_LOOKS = 20_000
"""Instructions of SQLite's virtual machine: about a millisecond."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks of a long operation. on_progress: called with the amount done and the total. is_cancelled: polled."""

    on_progress: Callable[[int, int], object]
    is_cancelled: Callable[[], bool]


def open_database(
    path: Path,
    *,
    readonly: bool = False,
    creates: bool = True,
    quick_check: bool = False,
    is_thorough: bool = False,
    busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    is_cancelled: Callable[[], bool] | None = None,
) -> Database:
    """Open the file, and create it unless `readonly`.

    creates: False after the start: a missing file then means that its disk is away.
    quick_check: check its pages first; is_thorough: and its indexes against its tables. is_cancelled: polled during the
    check; if True, the rest is skipped.

    Raises StorageError (CorruptDatabaseError) with a sentence for the user; a file of another schema is left as it is.
    """
    if (readonly or not creates) and not path.exists():
        raise _missing(path, readonly)

    import_sqlite_utils()
    from sqlite_utils import Database  # noqa: PLC0415 - not before the first paint

    try:
        connection = _connect(path, "ro" if readonly else "rwc" if creates else "rw", busy_timeout_ms)
        try:
            db = Database(connection, execute_plugins=False)
            if quick_check or is_thorough:
                _check(db, path, readonly, is_thorough, is_cancelled)
            _prepare(db, path, readonly)
            for ending in ("", "-wal", "-shm") if not readonly else ():
                make_private(path.with_name(path.name + ending))  # logs that SQLite creates later get the same mode
            return db
        except BaseException:
            connection.close()
            raise
    except UNREADABLE as error:
        known = explain(error, path)
        if known is None:
            raise
        if readonly and isinstance(known, CorruptDatabaseError):
            known = CorruptDatabaseError(f"{known} {START_AGAIN}")
        raise known from error
    except CorruptDatabaseError as damage:
        if not readonly:
            raise
        # Only the owner, who can write, may put a backup in the place of a damaged file.
        raise CorruptDatabaseError(f"{damage} {START_AGAIN}") from damage


def _missing(path: Path, readonly: bool) -> StorageError:
    if readonly:
        return StorageError(
            f"There is no database at {path}. Start Ghostcandle once with this data folder; if it had one, the folder "
            "was removed, or its disk is away."
        )
    sentence = f"The database {path} is not there: its disk is away, or the folder was removed. Connect the disk."
    return PassingError(sentence, PassingFault.AWAY, path)


@contextmanager
def write(db: Database) -> Iterator[None]:
    """One immediate transaction: holds the write lock from the start, and is committed as a whole or not at all.

    Waits for another writer up to the busy timeout. Does not nest. Raises StorageError; also where the file is not in
    its place any more, as its folder was removed or its disk unmounted: the system would take writes all the same.
    """
    path = path_of(db)
    if path.is_absolute() and not path.exists():  # else it is in memory
        _removed.add(db)
        raise _missing(path, readonly=False)
    if db in _removed:
        _connect_again(db, path)
    with translated(db):
        db.conn.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.conn.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


@contextmanager
def translated(db: Database) -> Iterator[None]:
    """Turn SQLite's errors caused by the environment (lock, disk, damage) into StorageError.

    If the disk does not answer, the database is connected again for the next use, as soon as that succeeds: files that
    were open before a disk was mounted again stay lost.
    """
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        path = path_of(db)
        known = explain(error, path)
        if known is None:
            raise
        if isinstance(known, PassingError) and known.fault is PassingFault.AWAY:
            with suppress(StorageError):
                _connect_again(db, path)
        if isinstance(known, CorruptDatabaseError):
            known = CorruptDatabaseError(f"{known} {START_AGAIN}")
        raise known from error


@contextmanager
def without_waiting(db: Database) -> Iterator[None]:
    """In the block, a lock of another program is an error at once."""
    (before_ms,) = db.execute("PRAGMA busy_timeout").fetchone()
    db.execute("PRAGMA busy_timeout = 0").close()
    try:
        yield
    finally:
        db.execute(f"PRAGMA busy_timeout = {before_ms}").close()


def select(db: Database, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """All rows at once: an open cursor would block checkpoints of the write-ahead log. Raises StorageError."""
    with translated(db), closing(db.conn.execute(sql, parameters)) as cursor:
        return cursor.fetchall()


def is_writable_now(path: Path, *, needs_room: bool) -> bool:
    """Whether the database can be written: its disk answers, nobody holds the file, and there is room if that was
    missing. Does not wait."""
    try:
        usage = shutil.disk_usage(path.parent)
        if needs_room and usage.free < min(_ENOUGH_BYTES, usage.total // _SHARE_OF_SMALL):
            return False
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=0.0, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except (OSError, sqlite3.Error):
        return False
    return True


def look_whether_writable(path: Path, *, needs_room: bool, answer: Callable[[bool], object]) -> None:
    """Call `answer` with the result of `is_writable_now` on another thread, as a network share may hang. No end of the
    program waits for that thread."""

    def look() -> None:
        is_writable = is_writable_now(path, needs_room=needs_room)
        with suppress(RuntimeError):  # the receiver has been closed meanwhile
            answer(is_writable)

    threading.Thread(target=look, name="look at the disk", daemon=True).start()


def decode(text: bytes) -> str:
    """Decode invalid text without an error: the checksum detects damaged rows."""
    return text.decode("utf-8", "replace")


def _connect(path: Path, mode: str, busy_timeout_ms: int) -> sqlite3.Connection:
    # Without an isolation level the driver begins no transactions: all are ours, and immediate.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=busy_timeout_ms / 1000, isolation_level=None
    )
    connection.text_factory = decode
    return connection


def path_of(db: Database) -> Path:
    return Path(str(db.conn.execute("PRAGMA database_list").fetchone()[2]))


def _connect_again(db: Database, path: Path) -> None:
    (timeout_ms,) = db.execute("PRAGMA busy_timeout").fetchone()
    connection = open_database(path, creates=False, busy_timeout_ms=timeout_ms).conn
    lost, db.conn = db.conn, connection
    _removed.discard(db)
    if sys.version_info >= (3, 12):
        # The last connection to a file deletes its log when it closes, by a name that is the new file's by now.
        lost.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        lost.close()
    else:
        _lost.append(lost)


def _prepare(db: Database, path: Path, readonly: bool) -> None:
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = NORMAL")
    origin = require_this_schema(db.conn, path)
    if readonly and origin is not Origin.THIS_SCHEMA:
        what = (
            "is empty" if origin is Origin.NOBODY else "is of an earlier version, and is brought up to date at a start"
        )
        raise StorageError(f"The database {path} {what}. Start Ghostcandle once with this data folder.")
    if not readonly:
        # SQLite opens such a file without an error, and fails at the first write.
        if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
            raise StorageError(
                f"The database {path} cannot be written: it or its folder is read-only. "
                "Make it writable, or choose another data folder."
            )
        _enable_wal(db, path)
        change = {Origin.NOBODY: create_tables, Origin.UPGRADABLE: upgrade}
        if origin in change:
            with write(db):
                if origin_of(db.conn) is origin:  # another process may have been first
                    change[origin](db.conn)


def _check(
    db: Database, path: Path, readonly: bool, is_thorough: bool, is_cancelled: Callable[[], bool] | None
) -> None:
    """Runs before any other statement, so that every error of SQLite is damage or a fault of the machine."""
    try:
        require_this_schema(db.conn, path)
        fault = _pages_of(db.conn, is_thorough, is_cancelled)
        # SQLite reports damage as text only; the second check passes if it is in the indexes alone
        if fault is not None and " index " in fault and not readonly and pages_of(db.conn, is_thorough=False) is None:
            _log.warning("An index of the database was damaged (%s); all are made again.", fault)
            indexed = db.conn.execute(_SYMBOLS_IN_INDEX).fetchall()
            db.conn.execute("REINDEX")
            db.conn.executemany(_RESTORE_SYMBOL, [(symbol, id_, symbol, symbol) for id_, symbol in indexed])
            _restore_run_ids(db.conn)
            fault = pages_of(db.conn, is_thorough=True)
    except UNREADABLE as error:
        if (known := explain(error, path)) is not None:
            raise known from error
        fault = str(error)
    if fault is not None:
        raise damaged(path, fault)


def _restore_run_ids(connection: sqlite3.Connection) -> None:
    """Restore ids of runs with one changed letter, as their checkpoints have them."""
    ids = [str(run_id) for (run_id,) in connection.execute("SELECT run_id FROM runs")]
    for (lost,) in connection.execute("SELECT DISTINCT run_id FROM checkpoints").fetchall():
        near = [each for each in ids if differs_by_a_letter(each, str(lost))]
        if lost not in ids and len(near) == 1:
            connection.execute("UPDATE runs SET run_id = ? WHERE run_id = ?", (lost, near[0]))


def differs_by_a_letter(one: str, other: str) -> bool:
    """Whether a changed bit may be all that tells two random texts of at least 16 letters apart."""
    return 16 <= len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _pages_of(connection: sqlite3.Connection, is_thorough: bool, is_cancelled: Callable[[], bool] | None) -> str | None:
    """The result of `soundness.pages_of`; None also if the check was cancelled."""
    if is_cancelled is not None:
        if is_cancelled():
            return None
        connection.set_progress_handler(lambda: int(is_cancelled()), _STEPS_BETWEEN_LOOKS)
    try:
        return pages_of(connection, is_thorough) or (None if is_thorough else names_of(connection))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return None
    finally:
        connection.set_progress_handler(None, 0)


def _enable_wal(db: Database, path: Path) -> None:
    """Switch to WAL. This needs exclusive access, for which SQLite does not wait, so we retry."""
    timeout_ms = int(db.conn.execute("PRAGMA busy_timeout").fetchone()[0])
    attempts = max(1, int(timeout_ms / 1000 / _WAL_RETRY_S))
    for attempt in range(attempts):
        try:
            db.enable_wal()
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or attempt == attempts - 1:
                raise
            time.sleep(_WAL_RETRY_S)
    if db.journal_mode != "wal":
        raise StorageError(
            f"The drive that holds {path} does not let two programs share a database. "
            "Choose a data folder on a local disk."
        )


def require_this_schema(connection: sqlite3.Connection, path: Path) -> Origin:
    """Raises StorageError for a database of a version that cannot be used, CorruptDatabaseError for one that is not
    ours."""
    origin = origin_of(connection)
    if origin is Origin.NEWER:
        raise StorageError(
            f"The database {path} was written by a newer version of Ghostcandle, and was left as it is. "
            "Update Ghostcandle, or choose another data folder."
        )
    if origin is Origin.OLDER:
        raise StorageError(
            f"The database {path} was written by an older version of Ghostcandle, which this one cannot read, and was "
            "left as it is. `ghostcandle export` of that version writes its candles to files that `ghostcandle import` "
            "reads. Then move the database away, or choose another data folder with --data-dir."
        )
    if origin is Origin.FOREIGN:
        raise CorruptDatabaseError(f"The database {path} is damaged (nothing in it shows which version wrote it).")
    return origin
