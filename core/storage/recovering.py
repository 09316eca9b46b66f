"""Opening the database at a start: a damaged one is set aside, and the newest verified backup takes its place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.clock import Clock, SystemClock
from core.domain.dates import local_text, utc_text
from core.files.durable import sync_folder
from core.storage.backup_record import Backup, list_backups, sha256_of, verify
from core.storage.backups import damage_answered, damage_found, last_written_ms, link_or_copy
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import Watch, open_database, select
from core.storage.errors import CorruptDatabaseError, StorageError
from core.storage.folder import DataFolder
from core.storage.soundness import UNREADABLE, beginning_of, is_newer, tables_of

if TYPE_CHECKING:
    from sqlite_utils import Database

    from core.domain.candle import Market

_WEIGHTS = "*.safetensors"
_SMALL_BYTES, _PIECE_BYTES = 32 << 20, 4 << 20


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """`notice` says to the user what became of a damaged file, and what is missing; None where all was well."""

    db: Database
    notice: str | None


@dataclass(frozen=True, slots=True)
class Restored:
    """What `restore` did. kept: where the former database lies now, None where there was none."""

    backup: Backup
    kept: Path | None
    lost_until_ms: int | None
    """When the former database was last written to, where that was after the backup; else None."""


def open_or_recover(
    folder: DataFolder,
    *,
    clock: Clock | None = None,
    quick_check: bool = True,
    watch: Watch | None = None,
    conversion: Watch | None = None,
) -> OpenedDatabase:
    """Open the folder's database. One that is damaged is moved to the quarantine; the newest verified backup takes its
    place, or where there is none a new, empty database. Slow where it is large, so not for a thread that paints.

    watch: looks at the check, in bytes; once it is cancelled, what is left of it is left to the next start. conversion:
    looks at bringing an older database up to date; cancelled, that raises StorageError with the file as it was.

    Only the owner of the data folder may call this, and before its process has any connection to the file: a file must
    not be moved from under another process, and looking into it by ourselves lets go of this process's locks.
    Raises StorageError, with the damaged file where it was, where the disk refuses what is needed.
    """
    try:
        _refuse_missing(folder)
        if watch is not None:
            _read_through(folder.database, watch)
        opened = OpenedDatabase(_opened(folder, quick_check, watch, conversion), None)
    except CorruptDatabaseError as damage:
        opened = _recovered(folder, damage, (clock or SystemClock()).now_ms())
    if watch is None or not watch.is_cancelled():
        damage_answered(folder.backups)
    return opened


def newest_unchecked(folder: DataFolder, market: Market, count: int) -> StoredColumns | None:
    """The newest candles of a large database that was not looked at yet, to be shown while it is; None where there are
    none, or the last owner did not close it. The file is opened as one that nobody changes: no lock, no log, no write.

    Only before this process has any connection to the file. Raises one of UNREADABLE, or StorageError.
    """
    from sqlite_utils import Database  # noqa: PLC0415 - see database._prepare

    path = folder.database
    log = path.with_name(f"{path.name}-wal")
    is_large = path.exists() and path.stat().st_size >= _SMALL_BYTES
    if not is_large or log.exists() or beginning_of(path) is not None:
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        stored = CandleStore(Database(connection, execute_plugins=False)).columns_before(market, None, count)
        return stored if len(stored) else None


def restore(folder: DataFolder, backup: Backup, now_ms: int) -> Restored:
    """Put a backup in the place of the database, which is set aside, and its checkpoint files where they belong.

    Only the owner of the data folder may call this, without any connection. Raises StorageError, with nothing changed,
    where the backup is not what it was or the disk refuses.
    """
    if (fault := _fault(backup)) is not None:
        raise StorageError(f"The backup {backup.name} cannot be used: {fault}. Nothing was changed.")
    written_ms = last_written_ms(folder.database)
    copy = _copied(folder, backup)
    try:
        kept = set_aside(folder.database, now_ms, folder.quarantine)
        copy.rename(folder.database)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    sync_folder(folder.root)
    with closing(open_database(folder.database)) as db:
        _take_checkpoints_back(folder, backup, db, folder.quarantine / f"checkpoints-{_stamp(now_ms)}")
    made_ms = backup.record.made_at_ms
    return Restored(backup, kept, written_ms if written_ms is not None and written_ms > made_ms else None)


def what_is_missing(restored: Restored) -> str:
    """A sentence for the user: from when to when."""
    made_ms, until_ms = restored.backup.record.made_at_ms, restored.lost_until_ms
    if until_ms is None:
        return "As far as the files tell, nothing was written after it."
    return (
        f"What was written between {moment(made_ms)} and {moment(until_ms)} is missing from it: candles of that time "
        "are fetched again where the exchange has them; forecasts, scores, notes and alerts of that time are not."
    )


def moment(at_ms: int) -> str:
    """A time for people, in the machine's zone, which is named."""
    return local_text(at_ms, "%Y-%m-%d %H:%M:%S %Z")


def set_aside(path: Path, now_ms: int, folder: Path) -> Path | None:
    """Move a database with its -wal and -shm to a dated name in `folder`. Returns where the database went, None where
    there was none. Raises StorageError."""
    target = folder / f"{path.stem}-{_stamp(now_ms)}{path.suffix}"
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{path.stem}-{_stamp(now_ms)}-{number}{path.suffix}"
    was_there = path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending in ("", "-wal", "-shm"):
            source = path.with_name(path.name + ending)
            if source.exists():
                source.rename(target.with_name(target.name + ending))
    except OSError as error:
        raise StorageError(
            f"The damaged database {path} cannot be moved away ({error.strerror}). Move it yourself, then start again."
        ) from error
    return target if was_there else None


def _refuse_missing(folder: DataFolder) -> None:
    """No database where there are backups of one: it was lost, or the last recovery was ended in its middle."""
    fault = beginning_of(folder.database)
    if fault is not None:  # SQLite deletes a -wal that it finds beside a file that is no database; so look before
        raise CorruptDatabaseError(f"The database {folder.database} is damaged ({fault}).")
    if not folder.database.exists() and list_backups(folder.backups):
        raise CorruptDatabaseError(f"The database {folder.database} is gone.")


def _read_through(path: Path, watch: Watch) -> None:
    """Bring the file to memory in the order of the disk: the check, which goes through it in the order of its tables,
    takes ten times as long on a file that is not there. Only while this process has no connection to it."""
    try:
        total, done = path.stat().st_size, 0
        if total < _SMALL_BYTES:
            return
        with path.open("rb") as file:
            while (piece := file.read(_PIECE_BYTES)) and not watch.is_cancelled():
                done += len(piece)
                watch.on_progress(done, total)
    except OSError:
        return  # SQLite will say what is wrong with it


def _opened(folder: DataFolder, quick_check: bool, watch: Watch | None, conversion: Watch | None) -> Database:
    """Raises CorruptDatabaseError for what cannot be the database that was written."""
    path = folder.database
    try:
        db = open_database(
            path,
            quick_check=quick_check,
            is_thorough=damage_found(folder.backups),
            is_cancelled=None if watch is None else watch.is_cancelled,
            conversion=conversion,
        )
    except UNREADABLE as error:
        raise StorageError(
            f"The database {path} could not be brought up to date ({error}); it was left as it is. "
            "`ghostcandle backups restore` puts the newest backup in its place."
        ) from error
    try:
        fault = tables_of(db.conn)
    except UNREADABLE as error:
        fault = str(error)
    if fault is not None:
        db.close()
        raise CorruptDatabaseError(f"The database {path} is damaged ({fault}).")
    return db


def _recovered(folder: DataFolder, damage: CorruptDatabaseError, now_ms: int) -> OpenedDatabase:
    passed_over: list[str] = []
    for backup in list_backups(folder.backups):
        fault = _fault(backup)
        if fault is not None:
            passed_over.append(f"{backup.name}: {fault}")
            continue
        restored = restore(folder, backup, now_ms)
        taken = f"The verified backup of {moment(backup.record.made_at_ms)} took its place."
        return _told(folder, damage, restored.kept, taken, what_is_missing(restored), _newer_ones(passed_over))
    kept = set_aside(folder.database, now_ms, folder.quarantine)
    nothing = "There is no verified backup, so a new, empty database was started."
    return _told(folder, damage, kept, _newer_ones(passed_over), nothing)


def _told(folder: DataFolder, damage: CorruptDatabaseError, kept: Path | None, *rest: str) -> OpenedDatabase:
    where = "" if kept is None else f"It was kept as {kept}."
    return OpenedDatabase(
        open_database(folder.database), " ".join(part for part in (str(damage), where, *rest) if part)
    )


def _newer_ones(passed_over: list[str]) -> str:
    if not passed_over:
        return ""
    more = "" if len(passed_over) == 1 else f" and {len(passed_over) - 1} more"
    return f"Passed over were backups that cannot be used: {passed_over[0]}{more}."


def _fault(backup: Backup) -> str | None:
    if is_newer(backup.record.steps):
        return "a newer version of Ghostcandle made it"
    return verify(backup)


def _copied(folder: DataFolder, backup: Backup) -> Path:
    """A durable copy of the backup beside the database. Raises StorageError."""
    try:
        handle, name = tempfile.mkstemp(dir=folder.root, prefix=".restoring-", suffix=".tmp")
        copy = Path(name)
        try:
            with os.fdopen(handle, "wb") as file, backup.database.open("rb") as source:
                shutil.copyfileobj(source, file)
                file.flush()
                os.fsync(file.fileno())
            if sha256_of(copy) != backup.record.sha256:
                raise OSError("what was written is not what is read")
        except BaseException:
            copy.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageError(
            f"The backup {backup.name} could not be put in the place of {folder.database} ({error.strerror or error}); "
            f"nothing was changed. Free {backup.record.size_bytes / 1e6:,.0f} MB on the disk, then start again."
        ) from error
    return copy


def _take_checkpoints_back(folder: DataFolder, backup: Backup, db: Database, aside: Path) -> None:
    """Files that the table names and that were cleaned up since come back; those that it does not name are set aside,
    for a trainer would take them for what a crash has left. Raises StorageError."""
    try:
        for kept in backup.record.checkpoints:
            path = folder.absolute(kept.file)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(backup.weights(kept), path)
        _set_unnamed_aside(folder, db, aside)
    except OSError as error:
        raise StorageError(
            f"The backup {backup.name} is in place, but not all of its checkpoint files ({error.strerror or error}). "
            "Free some space on the disk."
        ) from error


def _set_unnamed_aside(folder: DataFolder, db: Database, aside: Path) -> None:
    rows = select(db, "SELECT run_id, file FROM checkpoints WHERE is_deleted = 0")
    named = {folder.absolute(str(file)) for _run, file in rows}
    for run_id in sorted({str(run) for (run,) in select(db, "SELECT run_id FROM runs")}):
        for path in sorted(folder.checkpoints(run_id).glob(_WEIGHTS)):
            if path.resolve() not in named:
                (aside / run_id).mkdir(parents=True, exist_ok=True)
                path.rename(aside / run_id / path.name)


def _stamp(at_ms: int) -> str:
    return utc_text(at_ms, "%Y%m%dT%H%M%S")
