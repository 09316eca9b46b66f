"""Opening the database at a start: a damaged one is moved away and replaced by the newest verified backup."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.clock import Clock, SystemClock
from core.domain.dates import local_text, utc_text
from core.files.durable import sha256_of, sync_folder
from core.storage.backup_record import Backup, list_backups, verify
from core.storage.backups import clear_damage_report, copy_durably, is_damage_reported, link_or_copy, written_ms
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import Watch, open_database, select
from core.storage.errors import CorruptDatabaseError, StorageError, damaged
from core.storage.folder import DataFolder
from core.storage.schema import UPGRADES, VERSION, Origin, origin_of
from core.storage.soundness import UNREADABLE, beginning_of, tables_of

if TYPE_CHECKING:
    from sqlite_utils import Database

    from core.domain.candle import Market

_WEIGHTS, _COPY = "*.safetensors", ".restoring.tmp"
_SMALL_BYTES, _PIECE_BYTES = 32 << 20, 4 << 20


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """`notice`: a sentence for the user about a damaged file and missing data; None if all is well."""

    db: Database
    notice: str | None


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of `restore`. kept: the new path of the replaced database, None if there was none."""

    backup: Backup
    kept: Path | None
    lost_until_ms: int | None
    """When the replaced database was last written, by the clock of that time; None: not since the backup."""


def open_or_recover(
    folder: DataFolder,
    *,
    clock: Clock | None = None,
    watch: Watch | None = None,
) -> OpenedDatabase:
    """Open the folder's database. A damaged one is moved to the quarantine and replaced by the newest verified backup,
    or by a new, empty database if there is none. Slow for a large one, so not for the GUI thread.

    watch: callbacks of the check, in bytes; if cancelled, the rest is left to the next start.

    Only the owner of the data folder may call this, and before its process has any connection to the file: a file in
    use must not be moved, and reading it directly releases this process's locks on it.
    Raises StorageError, with the damaged file in its place, if the disk refuses.
    """
    for left in folder.root.glob(f"*{_COPY}*"):  # of a restore that was killed: as large as the database
        with suppress(OSError):
            left.unlink()
    try:
        _refuse_missing(folder)
        if watch is not None:
            _read_through(folder.database, watch)
        opened = OpenedDatabase(_opened(folder, watch), None)
    except CorruptDatabaseError as damage:
        opened = _recovered(folder, damage, (clock or SystemClock()).now_ms())
    if watch is None or not watch.is_cancelled():
        clear_damage_report(folder.backups)
    return opened


def newest_unchecked(folder: DataFolder, market: Market, count: int) -> StoredColumns | None:
    """The newest candles of a large database before its check, to be shown meanwhile; None if there are none, the last
    owner did not close it, or its schema is another. The file is opened as immutable: no lock, no log, no write.

    To be called before this process has any connection to the file. Raises one of UNREADABLE, or StorageError.
    """
    from sqlite_utils import Database  # noqa: PLC0415 - see `open_database`

    path = folder.database
    log = path.with_name(f"{path.name}-wal")
    is_large = path.exists() and path.stat().st_size >= _SMALL_BYTES
    if not is_large or log.exists() or beginning_of(path) is not None:
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        if origin_of(connection) is not Origin.THIS_SCHEMA:
            return None
        stored = CandleStore(Database(connection, execute_plugins=False)).columns_before(market, None, count)
        return stored if len(stored) else None


def restore(folder: DataFolder, backup: Backup, now_ms: int) -> Restored:
    """Replace the database, which is moved away, by a backup, and restore its checkpoint files.

    Only the owner of the data folder may call this, without any connection. Raises StorageError, with nothing changed,
    if the backup is damaged or the disk refuses.
    """
    if (fault := _fault(backup)) is not None:
        raise StorageError(f"The backup {backup.name} cannot be used: {fault}. Nothing was changed.")
    written = written_ms(folder.database)
    copy = _copied(folder, backup)
    try:
        kept = set_aside(folder.database, now_ms, folder.quarantine)
        copy.rename(folder.database)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    sync_folder(folder.root)
    with closing(open_database(folder.database, creates=False)) as db:
        _restore_checkpoints(folder, backup, db, folder.quarantine / f"checkpoints-{_stamp(now_ms)}")
    is_complete = written == backup.record.written_ms
    return Restored(backup, kept, None if is_complete or not any(written) else max(written))


def missing_data_notice(restored: Restored) -> str:
    """A sentence for the user: the period of the missing data."""
    made_ms, until_ms = restored.backup.record.made_at_ms, restored.lost_until_ms
    if until_ms is None:
        return "As far as the files show, nothing was written after it."
    if until_ms > made_ms:
        when = f"Data written between {moment(made_ms)} and {moment(until_ms)}"
    else:
        when = "Data written after it, in a time that is not known as the clock was changed,"
    return (
        f"{when} is missing from it: candles of that time are fetched again where the exchange has them; forecasts, "
        "scores, notes and alerts of that time are not."
    )


def moment(at_ms: int) -> str:
    """A time in the machine's zone, with the zone's name."""
    return local_text(at_ms, "%Y-%m-%d %H:%M:%S %Z")


def set_aside(path: Path, now_ms: int, folder: Path) -> Path | None:
    """Move a database with its -wal and -shm to a dated name in `folder`. Returns the new path, None if there was none.
    Raises StorageError."""
    name = f"{path.stem}-{_stamp(now_ms)}"
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    target = next(place for each in names if not (place := folder / f"{each}{path.suffix}").exists())
    was_there = path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending in ("", "-wal", "-shm"):
            source = path.with_name(path.name + ending)
            if source.exists():
                shutil.move(source, target.with_name(target.name + ending))  # the quarantine may be on another disk
    except OSError as error:
        raise StorageError(
            f"The damaged database {path} cannot be moved away ({error.strerror}). Move it yourself, then start again."
        ) from error
    return target if was_there else None


def _refuse_missing(folder: DataFolder) -> None:
    """Raise if there are backups but no database: it was lost, or the last recovery was interrupted."""
    fault = beginning_of(folder.database)
    if fault is not None:  # SQLite deletes the -wal of a file that is not a database, so check first
        raise CorruptDatabaseError(f"The database {folder.database} is damaged ({fault}).")
    if not folder.database.exists() and list_backups(folder.backups):
        raise CorruptDatabaseError(f"The database {folder.database} is gone.")


def _read_through(path: Path, watch: Watch) -> None:
    """Read the file sequentially into the cache: the check, which reads in the order of the tables, takes ten times as
    long on a file that is not cached. Only while this process has no connection to it."""
    try:
        total, done = path.stat().st_size, 0
        if total < _SMALL_BYTES:
            return
        with path.open("rb") as file:
            while (piece := file.read(_PIECE_BYTES)) and not watch.is_cancelled():
                done += len(piece)
                watch.on_progress(done, total)
    except OSError:
        return  # SQLite will report the error


def _opened(folder: DataFolder, watch: Watch | None) -> Database:
    """Raises CorruptDatabaseError if the file is damaged."""
    is_cancelled = None if watch is None else watch.is_cancelled
    is_thorough = is_damage_reported(folder.backups)
    db = open_database(folder.database, quick_check=True, is_thorough=is_thorough, is_cancelled=is_cancelled)
    try:
        fault = tables_of(db.conn)
    except UNREADABLE as error:
        fault = str(error)
    if fault is not None:
        db.close()
        raise damaged(folder.database, fault)
    return db


def _recovered(folder: DataFolder, damage: CorruptDatabaseError, now_ms: int) -> OpenedDatabase:
    skipped: list[str] = []
    restored: Restored | None = None
    for backup in list_backups(folder.backups):
        fault = _fault(backup)
        if fault is None:
            restored = restore(folder, backup, now_ms)
            break
        skipped.append(f"{backup.name}: {fault}")
    kept = set_aside(folder.database, now_ms, folder.quarantine) if restored is None else restored.kept
    notice = [str(damage)]
    if kept is not None:
        notice.append(f"It was kept as {kept}.")
    if restored is not None:
        notice.append(f"The verified backup of {moment(restored.backup.record.made_at_ms)} took its place.")
        notice.append(missing_data_notice(restored))
    if skipped:
        more = "" if len(skipped) == 1 else f" and {len(skipped) - 1} more"
        notice.append(f"Backups that cannot be used were skipped: {skipped[0]}{more}.")
    if restored is None:
        notice.append("There is no verified backup, so a new, empty database was started.")
    return OpenedDatabase(open_database(folder.database), " ".join(notice))


def _fault(backup: Backup) -> str | None:
    if backup.record.schema_version not in (VERSION, *UPGRADES):
        return "another version of Ghostcandle made it"
    return verify(backup)


def _copied(folder: DataFolder, backup: Backup) -> Path:
    """A durable copy of the backup next to the database. Raises StorageError."""
    copy = folder.root / _COPY
    try:
        copy_durably(backup.database, copy)
        if sha256_of(copy) != backup.record.sha256:
            raise OSError("the copy differs from the original")
    except OSError as error:
        copy.unlink(missing_ok=True)
        raise StorageError(
            f"The backup {backup.name} could not replace {folder.database} ({error.strerror or error}); "
            f"nothing was changed. Free {backup.record.size_bytes / 1e6:,.0f} MB on the disk, then start again."
        ) from error
    return copy


def _restore_checkpoints(folder: DataFolder, backup: Backup, db: Database, aside: Path) -> None:
    """Restore files that the table names; move away those that it does not name, as a trainer would take them for the
    remains of a crash. Raises StorageError."""
    files = [str(file) for (file,) in select(db, "SELECT file FROM checkpoints WHERE is_deleted = 0")]
    named = {folder.absolute(file): backup.weights(file) for file in files}
    try:
        for path, kept in named.items():
            if not path.exists() and kept.exists():
                link_or_copy(kept, path)
        for (run_id,) in select(db, "SELECT run_id FROM runs"):
            for path in folder.checkpoints(run_id).glob(_WEIGHTS):
                if path not in named:
                    (aside / run_id).mkdir(parents=True, exist_ok=True)
                    shutil.move(path, aside / run_id / path.name)
    except OSError as error:
        raise StorageError(
            f"The backup {backup.name} is in place, but not all of its checkpoint files ({error.strerror or error}). "
            "Free some space on the disk."
        ) from error


def _stamp(at_ms: int) -> str:
    return utc_text(at_ms, "%Y%m%dT%H%M%S")
