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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from core.domain.clock import Clock
from core.files.durable import sha256_of, sync_folder
from core.files.private import make_private, make_private_folder
from core.storage.backup_record import (
    CHECKPOINTS,
    DATABASE,
    UNFINISHED,
    Backup,
    KeptFile,
    Record,
    folder_name,
    list_backups,
    write_record,
)
from core.storage.checkpoints import CAN_BE_BEST
from core.storage.database import START_AGAIN, decode
from core.storage.errors import CorruptDatabaseError, StorageError, explain
from core.storage.folder import DataFolder
from core.storage.row_repair import find_damaged, leave_list, mend
from core.storage.schema import VERSION, Origin, origin_of
from core.storage.soundness import UNREADABLE, pages_of, tables_of

_PAGES = 256
_PAUSE_S = 0.005
"""Pause after each piece, to leave the disk to others."""
_MARGIN_BYTES = 32_000_000
_DAMAGE = "damage-found.txt"
_RESUMED_FROM = f"""
SELECT file, sha256 FROM checkpoints WHERE is_deleted = 0 AND sequence IN (
    SELECT MAX(sequence) FROM checkpoints WHERE is_deleted = 0 GROUP BY run_id
    UNION SELECT MAX(sequence) FROM checkpoints WHERE is_deleted = 0 AND is_known_good = 1 GROUP BY run_id
    UNION SELECT sequence FROM (
        SELECT sequence, ROW_NUMBER() OVER (PARTITION BY run_id ORDER BY skill DESC, sequence DESC) AS place
        FROM checkpoints WHERE is_deleted = 0 AND {CAN_BE_BEST}
    ) WHERE place = 1
) ORDER BY sequence
"""
_log = logging.getLogger("ghostcandle")

Progress = Callable[[int, int], object]


class BackupCancelled(Exception):  # noqa: N818 - requested, not an error
    """The backup was cancelled; nothing of it is left."""


def make_backup(
    folder: DataFolder,
    clock: Clock,
    keep: int,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Progress = lambda done, total: None,
) -> Backup:
    """Copy a snapshot of the database, verify the copy, give it its name, and delete old backups.

    Slow, so not for the GUI thread. Others may read and write meanwhile. on_progress: pages of the database.
    Raises BackupCancelled, and StorageError, with nothing left behind and no former backup touched; a
    CorruptDatabaseError if the database itself is damaged, which the next start checks.
    """
    try:
        make_private_folder(folder.backups)
        with _alone(folder.backups):
            for unfinished in folder.backups.glob(f"{UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)
            _require_space(folder)
            backup = _made(folder, clock, is_cancelled, on_progress)
            _forget_old(folder.backups, keep)
            return backup
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
    written_ms = last_written_ms(folder.database)
    if every_hours <= 0 or written_ms is None:
        return False
    newest = next(iter(list_backups(folder.backups)), None)
    if newest is None:
        return True
    made_ms = newest.record.made_at_ms
    # A clock that was set back must not stop backups: one from the future counts as old.
    is_old = now_ms - made_ms >= every_hours * 3_600_000 or made_ms > now_ms
    return is_old and (written_ms > made_ms or made_ms > now_ms)


def last_written_ms(database: Path) -> int | None:
    """When the database or its log was last written; None without a database."""
    moments = []
    for ending in ("", "-wal"):
        try:
            status = database.with_name(database.name + ending).stat()
        except OSError:
            continue
        if status.st_size or not ending:  # a reader leaves an empty log
            moments.append(status.st_mtime_ns // 1_000_000)
    return max(moments, default=None)


def damage_found(backups: Path) -> bool:
    """Whether a backup has found the database damaged, so that the next start checks it thoroughly."""
    return (backups / _DAMAGE).exists()


def damage_answered(backups: Path) -> None:
    """Clear the report of damage, after the database was checked."""
    with contextlib.suppress(OSError):  # then the next start checks thoroughly again
        (backups / _DAMAGE).unlink()


@contextmanager
def _alone(backups: Path) -> Iterator[None]:
    lock = FileLock(backups / ".lock", mode=0o600, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise StorageError("Another backup of this data folder is being made. Wait for it, then try again.") from None
    try:
        yield
    finally:
        lock.release()


def _made(folder: DataFolder, clock: Clock, is_cancelled: Callable[[], bool], on_progress: Progress) -> Backup:
    temporary = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.backups))

    pages = 0

    def go_on(_status: int, left: int, total: int) -> None:
        nonlocal pages
        pages = total or pages  # 0: all are copied, and the rows are being checked
        on_progress(pages - left, pages)
        if is_cancelled():
            raise BackupCancelled
        clock.sleep_s(_PAUSE_S)

    try:
        record = _copied(folder, temporary / DATABASE, clock, go_on)
        write_record(temporary, record)
        make_private(temporary / DATABASE)
        sync_folder(temporary)
        target = _free_name(folder.backups, record.made_at_ms)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(folder.backups)
    return Backup(target, record)


def _copied(folder: DataFolder, target: Path, clock: Clock, go_on: Callable[[int, int, int], None]) -> Record:
    uri = f"{folder.database.as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=10.0, isolation_level=None)) as source:
        # One read transaction: writers continue in the log, and no piece is copied again because of them.
        source.execute("BEGIN")
        rows = _counted(source)
        made_at_ms = clock.now_ms()
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # `_sync` does it once, at the end
            source.backup(copy, pages=_PAGES, progress=go_on)
            copy.execute("PRAGMA journal_mode = DELETE")  # in one file, without a log beside it
            if _mended(folder, copy, lambda: go_on(0, 0, 0)):
                rows = _counted(copy)
            _give_back_room(copy)
        _sync(target)
        _verify(folder, source, target, rows)
        kept = tuple(_kept_checkpoints(folder, source, target.parent / CHECKPOINTS))
    return Record(
        made_at_ms=made_at_ms,
        size_bytes=target.stat().st_size,
        sha256=sha256_of(target),
        schema_version=VERSION,
        rows=rows,
        checkpoints=kept,
    )


def _mended(folder: DataFolder, copy: sqlite3.Connection, after_piece: Callable[[], None]) -> bool:
    """Check every row that has a checksum. In the copy, damaged rows are replaced by those of earlier backups, or
    dropped; a list lets the trainer do the same. True if there were any."""
    copy.text_factory = decode
    damaged = find_damaged(copy, after_piece) if tables_of(copy) is None else []
    if not damaged:
        return False
    _log.warning("The database has %d damaged rows; the backup has none of them.", len(damaged))
    copy.execute("BEGIN")
    mend(copy, damaged, list_backups(folder.backups))
    copy.execute("COMMIT")
    leave_list(folder.backups, damaged)
    return True


def _verify(folder: DataFolder, source: sqlite3.Connection, target: Path, rows: dict[str, int]) -> None:
    """Read the copy back from the disk. Raises StorageError."""
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        fault = _fault(copy, rows)
        if fault is None:
            return
    if (damage := _damage(source)) is not None:
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


def _give_back_room(connection: sqlite3.Connection) -> None:
    """Shrink the file if more than a quarter of it is empty. This temporarily needs as much space again; without it the
    empty pages stay, and are reused."""
    empty, pages = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_count")
    )
    if 4 * empty > pages:
        try:
            connection.execute("VACUUM")
        except sqlite3.Error as error:
            _log.warning("%d empty pages stay in the database (%s).", empty, error)


def _fault(copy: sqlite3.Connection, rows: dict[str, int]) -> str | None:
    try:
        fault = pages_of(copy, is_thorough=True) or tables_of(copy)
        if fault is not None:
            return fault
        if origin_of(copy) is not Origin.THIS_SCHEMA:
            return "another version of Ghostcandle wrote it"
        copied = _counted(copy)
        odd = sorted(table for table in rows.keys() | copied.keys() if rows.get(table) != copied.get(table))
    except UNREADABLE as error:
        return str(error)
    return f"its table '{odd[0]}' has other rows" if odd else None


def _damage(source: sqlite3.Connection) -> str | None:
    try:
        return pages_of(source, is_thorough=True) or tables_of(source)
    except UNREADABLE as error:
        return str(error)


def _kept_checkpoints(folder: DataFolder, source: sqlite3.Connection, into: Path) -> Iterator[KeptFile]:
    """The newest, the newest known good and the best of every run; damaged ones are skipped with a warning."""
    into.mkdir()
    for number, (file, sha256) in enumerate(_resumed_from(source)):
        kept = KeptFile(file=str(file), kept_as=f"{number:06}.safetensors", sha256=str(sha256))
        try:
            link_or_copy(folder.absolute(kept.file), into / kept.kept_as)
            if sha256_of(into / kept.kept_as) == kept.sha256:
                yield kept
                continue
        except FileNotFoundError:  # deleted since: the next one of its run will be in the next backup
            continue
        (into / kept.kept_as).unlink()
        _log.warning("%s is not whole, so it is not in the backup.", kept.file)


def _resumed_from(source: sqlite3.Connection) -> list[tuple[str, str]]:
    """File and sha256 of those checkpoints."""
    return source.execute(_RESUMED_FROM).fetchall()


def link_or_copy(path: Path, target: Path) -> None:
    """A hard link, or a copy on disks without links. Raises OSError."""
    try:
        os.link(path, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(path, target)
        make_private(target)
        _sync(target)


def _forget_old(backups: Path, keep: int) -> None:
    """Keep the newest ones, and the most complete one if it has more rows than all of them."""
    known = list_backups(backups)
    newest, older = known[:keep], known[keep:]
    fullest = max(older, key=lambda backup: backup.rows, default=None)
    if fullest is not None and fullest.rows <= max(backup.rows for backup in newest):
        fullest = None
    for backup in older:
        if backup is not fullest:
            shutil.rmtree(backup.folder, ignore_errors=True)


def _require_space(folder: DataFolder) -> None:
    sizes = [path.stat().st_size for path in folder.root.glob(f"{folder.database.name}*") if path.is_file()]
    needed, free = sum(sizes) + _MARGIN_BYTES, shutil.disk_usage(folder.backups).free
    if free < needed:
        raise StorageError(
            f"No backup was made: it needs {needed / 1e6:,.0f} MB and its disk has {free / 1e6:,.0f} MB free. "
            "The earlier ones are as they were. Free some space."
        )


def _free_name(backups: Path, at_ms: int) -> Path:
    name, number = folder_name(at_ms), 1
    while (target := backups / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return target


def _counted(connection: sqlite3.Connection) -> dict[str, int]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    names = [str(row[0]) for row in connection.execute(sql)]
    return {name: int(connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0]) for name in names}


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
