"""Backups of the database during writes: copied in pieces, verified, and only then renamed to their final name.

The checkpoint files needed to continue its runs go with the copy, as hard links if the disk supports them: without
weights the learned state would be lost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from filelock import FileLock, Timeout

from core.domain.clock import Clock
from core.domain.dates import utc_text
from core.files.durable import replacing, sha256_of, sync_folder, write_durably
from core.files.private import make_private, make_private_folder
from core.storage.backup_record import CHECKPOINTS, DATABASE, RECORD, UNFINISHED, Backup, Record, list_backups
from core.storage.checkpoints import CheckpointRows
from core.storage.database import START_AGAIN, decode, require_this_schema
from core.storage.errors import CorruptDatabaseError, StorageError, explain
from core.storage.folder import DataFolder
from core.storage.row_repair import find_damaged, repair_rows, save_damaged_list
from core.storage.schema import VERSION
from core.storage.soundness import UNREADABLE, fault_of, tables_of

_PAGES = 256
_PAUSE_S = 0.005
"""Pause after each piece, to leave the disk to others."""
_MARGIN_BYTES = 32_000_000
_DAMAGE = "damage-found.txt"
_ROWS = "SELECT (SELECT COUNT(*) FROM candles) + (SELECT COUNT(*) FROM steps)"
_log = logging.getLogger("ghostcandle")

AfterPiece = Callable[[int, int, int], None]
"""Called as by `sqlite3.Connection.backup`: its status, the pages left, and all pages."""


class BackupCancelled(Exception):  # noqa: N818 - requested, not an error
    """The backup was cancelled; nothing of it is left."""


def make_backup(
    folder: DataFolder,
    clock: Clock,
    keep: int,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Backup:
    """Copy a snapshot of the database, verify the copy, name it, and delete old backups.

    Slow, so not for the GUI thread. Others may read and write meanwhile. on_progress: pages of the database.
    Raises BackupCancelled, and StorageError, with nothing left behind and no former backup touched; a
    CorruptDatabaseError if the database itself is damaged, which the next start checks.
    """

    def after_piece(_status: int, left: int, total: int) -> None:
        on_progress(total - left, total)
        if is_cancelled():
            raise BackupCancelled
        clock.sleep_s(_PAUSE_S)

    try:
        make_private_folder(folder.backups)
        lock = folder.backups / ".lock"
        with FileLock(lock, mode=0o600, blocking=False, thread_local=False, fallback_to_soft=False):
            for unfinished in folder.backups.glob(f"{UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)
            _require_space(folder)
            backup = _made(folder, clock, after_piece)
            # The newest ones stay, and the most complete one: a database that was begun again must not push it out.
            made = list_backups(folder.backups)
            fullest = max(made, key=lambda each: (each.record.rows, each.record.number))
            for old in made[keep:]:
                if old is not fullest:
                    shutil.rmtree(old.folder, ignore_errors=True)
            return backup
    except Timeout:
        raise StorageError("Another backup of this data folder is being made. Wait for it, then try again.") from None
    except UNREADABLE as error:
        known = explain(error, folder.database) or StorageError(f"No backup could be made ({error}).")
        is_damage = isinstance(known, CorruptDatabaseError) or not isinstance(error, sqlite3.Error)
        raise _damaged(folder, str(error)) if is_damage else known from error
    except OSError as error:
        raise StorageError(
            f"No backup could be written to {folder.backups} ({error.strerror or error}). The earlier ones are as they "
            "were. Free some space, or allow writing to that folder."
        ) from error


def is_due(folder: DataFolder, every_hours: int, now_ms: int) -> bool:
    """Whether the newest backup is this old, and anything was written since. Zero hours: never."""
    written = written_ms(folder.database)
    if every_hours <= 0 or not any(written):
        return False
    newest = next(iter(list_backups(folder.backups)), None)
    if newest is None:
        return True
    made_ms = newest.record.made_at_ms
    # A clock that was set back must not stop backups: one from the future counts as old.
    is_old = now_ms - made_ms >= every_hours * 3_600_000 or made_ms > now_ms
    return is_old and written != newest.record.written_ms


def written_ms(database: Path) -> tuple[int, int]:
    """When the database and its log were last written; 0 for a file that is missing. As the clock may have been wrong
    or set back, only equal times mean something: nothing was written in between."""
    moments = []
    for path in (database, database.with_name(f"{database.name}-wal")):
        try:
            status = path.stat()
            moments.append(status.st_mtime_ns // 1_000_000 if status.st_size else 0)  # a reader leaves an empty log
        except OSError:
            moments.append(0)
    return moments[0], moments[1]


def is_damage_reported(backups: Path) -> bool:
    """Whether a backup has found the database damaged, so that the next start checks it thoroughly."""
    return (backups / _DAMAGE).exists()


def clear_damage_report(backups: Path) -> None:
    """Clear the report of damage, after the database was checked."""
    with contextlib.suppress(OSError):  # then the next start checks thoroughly again
        (backups / _DAMAGE).unlink()


def link_or_copy(path: Path, target: Path) -> None:
    """A hard link, or a copy on disks without links; its folder is created. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, target)
    except FileNotFoundError:
        raise
    except OSError:
        copy_durably(path, target)


def copy_durably(path: Path, target: Path) -> None:
    """A private copy. Raises OSError, and leaves no part of one then."""
    with path.open("rb") as source, replacing(target) as file:
        shutil.copyfileobj(source, file)


def _made(folder: DataFolder, clock: Clock, after_piece: AfterPiece) -> Backup:
    temporary = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.backups))
    try:
        record = _copied(folder, temporary, clock, after_piece)
        write_durably(temporary / RECORD, record.model_dump_json(indent=2).encode() + b"\n")
        target = folder.backups / f"{record.number:04}-{utc_text(record.made_at_ms, '%Y-%m-%dT%H-%M-%SZ')}"
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(folder.backups)
    return Backup(target, record)


def _copied(folder: DataFolder, into: Path, clock: Clock, after_piece: AfterPiece) -> Record:
    uri, target = f"{folder.database.as_uri()}?mode=ro", into / DATABASE
    number = 1 + max((known.record.number for known in list_backups(folder.backups)), default=0)
    written = written_ms(folder.database)
    with closing(sqlite3.connect(uri, uri=True, timeout=10.0, isolation_level=None)) as source:
        source.text_factory = decode
        # One read transaction: writers continue in the log, and no piece is copied again because of them.
        source.execute("BEGIN")
        with contextlib.suppress(CorruptDatabaseError):  # the check of the copy finds it, and reports it
            require_this_schema(source, folder.database)
        made_at_ms = clock.now_ms()
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # it is synced once, at the end
            source.backup(copy, pages=_PAGES, progress=after_piece)
            copy.execute("PRAGMA journal_mode = DELETE")  # in one file, without a log beside it
            _repair_rows(folder, copy, after_piece)
            numbers = (copy.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
            empty, pages = map(int, numbers)
            if 4 * empty > pages:
                with contextlib.suppress(sqlite3.Error):  # it needs as much space again; else the empty pages stay
                    copy.execute("VACUUM")
        make_private(target)
        with target.open("rb+") as file:
            os.fsync(file.fileno())
        rows = _require_sound(folder, source, target)
        _add_checkpoints(folder, source, into)
    size_bytes, sha256 = target.stat().st_size, sha256_of(target)
    return Record(
        number=number,
        made_at_ms=made_at_ms,
        schema_version=VERSION,
        written_ms=written,
        size_bytes=size_bytes,
        sha256=sha256,
        rows=rows,
    )


def _repair_rows(folder: DataFolder, copy: sqlite3.Connection, after_piece: AfterPiece) -> None:
    """Check every row that has a checksum. In the copy, damaged rows are replaced from earlier backups, or dropped; a
    list lets the trainer do the same."""
    copy.text_factory = decode
    pages = int(copy.execute("PRAGMA page_count").fetchone()[0])
    damaged = find_damaged(copy, lambda: after_piece(0, 0, pages)) if tables_of(copy) is None else []
    if damaged:
        _log.warning("The database has %d damaged rows; the backup has none of them.", len(damaged))
        copy.execute("BEGIN")
        repair_rows(copy, damaged, list_backups(folder.backups))
        copy.execute("COMMIT")
        save_damaged_list(folder.backups, damaged)


def _require_sound(folder: DataFolder, source: sqlite3.Connection, target: Path) -> int:
    """Read the copy back from the disk. Returns its rows. Raises StorageError."""
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        fault = fault_of(copy)
        if fault is None:
            return int(copy.execute(_ROWS).fetchone()[0])
    if (damage := fault_of(source)) is not None:
        raise _damaged(folder, damage)
    raise StorageError(
        f"The copy of the database in {folder.backups} differs from the original ({fault}), so it was deleted; the "
        "earlier backups are kept. Check the disk."
    )


def _damaged(folder: DataFolder, damage: str) -> CorruptDatabaseError:
    """Leave a report for the next start, which then checks thoroughly."""
    with contextlib.suppress(OSError):
        (folder.backups / _DAMAGE).write_text(damage, encoding="utf-8")
    return CorruptDatabaseError(
        f"The database {folder.database} is damaged ({damage}), so it was not backed up; the earlier backups are kept. "
        + START_AGAIN
    )


def _add_checkpoints(folder: DataFolder, source: sqlite3.Connection, into: Path) -> None:
    """Damaged ones are skipped with a warning."""
    from sqlite_utils import Database  # noqa: PLC0415 - see `open_database`

    for info in CheckpointRows(Database(source, execute_plugins=False)).to_continue_from():
        target = into / CHECKPOINTS / info.file
        try:
            link_or_copy(folder.absolute(info.file), target)
        except FileNotFoundError:  # deleted since: the next one of its run will be in the next backup
            continue
        if sha256_of(target) != info.sha256:
            target.unlink()
            _log.warning("%s is not whole, so it is not in the backup.", info.file)


def _require_space(folder: DataFolder) -> None:
    sizes = [path.stat().st_size for path in folder.root.glob(f"{folder.database.name}*") if path.is_file()]
    needed, free = sum(sizes) + _MARGIN_BYTES, shutil.disk_usage(folder.backups).free
    if free < needed:
        raise StorageError(
            f"No backup was made: it needs {needed / 1e6:,.0f} MB and its disk has {free / 1e6:,.0f} MB free. "
            "The earlier ones are as they were. Free some space."
        )
