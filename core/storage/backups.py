"""Backups of the database during writes: copied in pieces, checked, and only then renamed to their final name.

A backup is a folder, named after its number and the time: the number tells which is newer, as clocks are set back. It
holds the database, its SHA-256, and the checkpoint files needed to continue the runs, as hard links if the disk supports
them: without weights the learned state would be lost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.domain.clock import Clock
from core.domain.dates import read_utc, utc_text
from core.files.durable import sha256_of, sync_folder, write_durably
from core.files.private import make_private, make_private_folder
from core.storage.checkpoints import CAN_BE_BEST
from core.storage.database import START_AGAIN, decode
from core.storage.errors import CorruptDatabaseError, StorageError, explain
from core.storage.folder import DataFolder
from core.storage.row_repair import find_damaged, leave_list, mend
from core.storage.soundness import UNREADABLE, pages_of, tables_of

CHECKPOINTS = "checkpoints"
_DATABASE, _SUMS, _UNFINISHED = "database.sqlite3", "SHA256SUMS", ".making-"
_NAME = re.compile(r"(\d{6,})-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)", re.ASCII)
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
"""The newest, the newest known good and the best of every run."""
_log = logging.getLogger("ghostcandle")


class BackupCancelled(Exception):  # noqa: N818 - requested, not an error
    """The backup was cancelled; nothing of it is left."""


@dataclass(frozen=True, slots=True)
class Backup:
    """`verify` checks that it is as it was made."""

    folder: Path
    number: int
    made_at_ms: int

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def database(self) -> Path:
        return self.folder / _DATABASE

    @property
    def size_bytes(self) -> int:
        """Of the database; 0 if it is gone."""
        return self.database.stat().st_size if self.database.exists() else 0

    @property
    def sha256(self) -> str:
        """Of the database, as recorded. Raises OSError."""
        return (self.folder / _SUMS).read_text("ascii", "replace").split(" ")[0]


def list_backups(backups: Path) -> tuple[Backup, ...]:
    """All complete backups, newest first."""
    found = [backup for path in _inside(backups) if (backup := _read(path)) and (path / _SUMS).exists()]
    return tuple(sorted(found, key=lambda backup: backup.number, reverse=True))


def verify(backup: Backup) -> str | None:
    """The fault of the copy; None if it is byte for byte the one checked when it was made."""
    try:
        is_same = sha256_of(backup.database) == backup.sha256
    except OSError as error:
        return f"it cannot be read ({error.strerror or error})"
    return None if is_same else "it was altered: its SHA-256 is not the recorded one"


def make_backup(
    folder: DataFolder,
    clock: Clock,
    keep: int,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Backup:
    """Copy a snapshot of the database, check the copy, give it its name, and delete old backups.

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
        with FileLock(folder.backups / ".lock", mode=0o600, blocking=False, thread_local=False):
            for unfinished in folder.backups.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)
            _require_space(folder)
            backup = _made(folder, clock, after_piece)
            _delete_old(folder.backups, keep)
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
    times = [path.stat().st_mtime_ns for path in folder.root.glob(f"{folder.database.name}*") if path.stat().st_size]
    if every_hours <= 0 or not times:
        return False
    newest = next(iter(list_backups(folder.backups)), None)
    if newest is None or newest.made_at_ms > now_ms:  # a clock that was set back must not stop backups
        return True
    is_old = now_ms - newest.made_at_ms >= every_hours * 3_600_000
    return is_old and max(times) // 1_000_000 > newest.made_at_ms


def damage_found(backups: Path) -> bool:
    """Whether a backup has found the database damaged, so that the next start checks it thoroughly."""
    return (backups / _DAMAGE).exists()


def damage_answered(backups: Path) -> None:
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
        shutil.copyfile(path, target)
        make_private(target)
        _sync(target)


def _inside(backups: Path) -> list[Path]:
    try:
        return list(backups.iterdir())
    except OSError:
        return []


def _read(path: Path) -> Backup | None:
    if (parts := _NAME.fullmatch(path.name)) is None:
        return None
    number, date, hours, minutes, seconds = parts.groups()
    try:
        return Backup(path, int(number), read_utc(f"{date}{hours}:{minutes}:{seconds}"))
    except ValueError:
        return None


def _made(folder: DataFolder, clock: Clock, after_piece: Callable[[int, int, int], None]) -> Backup:
    temporary = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.backups))
    try:
        made_at_ms = _copy(folder, temporary, clock, after_piece)
        write_durably(temporary / _SUMS, f"{sha256_of(temporary / _DATABASE)}  {_DATABASE}\n".encode())
        number = 1 + max((known.number for path in _inside(folder.backups) if (known := _read(path))), default=0)
        target = folder.backups / f"{number:06}-{utc_text(made_at_ms, '%Y-%m-%dT%H-%M-%SZ')}"
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(folder.backups)
    return Backup(target, number, made_at_ms)


def _copy(folder: DataFolder, into: Path, clock: Clock, after_piece: Callable[[int, int, int], None]) -> int:
    """Returns the time of the snapshot."""
    uri, target = f"{folder.database.as_uri()}?mode=ro", into / _DATABASE
    with closing(sqlite3.connect(uri, uri=True, timeout=10.0, isolation_level=None)) as source:
        # One read transaction: writers continue in the log, and no piece is copied again because of them.
        source.execute("BEGIN")
        source.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        made_at_ms = clock.now_ms()
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # `_sync` does it once, at the end
            source.backup(copy, pages=_PAGES, progress=after_piece)
            copy.execute("PRAGMA journal_mode = DELETE")  # in one file, without a log beside it
            _repair_rows(folder, copy, lambda: after_piece(0, 0, 1))
            _compact(copy)
        make_private(target)
        _sync(target)
        _require_sound(folder, source, target)
        for file, sha256 in source.execute(_RESUMED_FROM).fetchall():
            _add_checkpoint(folder.absolute(str(file)), into / CHECKPOINTS / str(file), str(sha256))
    return made_at_ms


def _repair_rows(folder: DataFolder, copy: sqlite3.Connection, after_piece: Callable[[], None]) -> None:
    """Replace damaged rows of the copy by those of earlier backups, or drop them; a list lets the trainer do the
    same."""
    copy.text_factory = decode
    damaged = find_damaged(copy, after_piece) if tables_of(copy) is None else []
    if damaged:
        _log.warning("The database has %d damaged rows; the backup has none of them.", len(damaged))
        copy.execute("BEGIN")
        mend(copy, damaged, list_backups(folder.backups))
        copy.execute("COMMIT")
        leave_list(folder.backups, damaged)


def _compact(copy: sqlite3.Connection) -> None:
    empty, pages = (int(copy.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_count"))
    if 4 * empty > pages:
        with contextlib.suppress(sqlite3.Error):  # it needs as much space again; else the empty pages stay
            copy.execute("VACUUM")


def _require_sound(folder: DataFolder, source: sqlite3.Connection, target: Path) -> None:
    """Read the copy back from the disk. Raises StorageError."""
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        fault = _fault(copy)
    if fault is None:
        return
    if (damage := _fault(source)) is not None:
        raise _damaged(folder, damage)
    raise StorageError(
        f"The copy of the database in {folder.backups} is damaged ({fault}) and the original is not, so the copy was "
        "deleted; the earlier backups are kept. Check the disk."
    )


def _fault(connection: sqlite3.Connection) -> str | None:
    try:
        return pages_of(connection, is_thorough=True) or tables_of(connection)
    except UNREADABLE as error:
        return str(error)


def _damaged(folder: DataFolder, damage: str) -> CorruptDatabaseError:
    """Leave a report for the next start, which then checks thoroughly."""
    with contextlib.suppress(OSError):
        (folder.backups / _DAMAGE).write_text(damage, encoding="utf-8")
    return CorruptDatabaseError(
        f"The database {folder.database} is damaged ({damage}), so it was not backed up; the earlier backups are kept. "
        + START_AGAIN
    )


def _add_checkpoint(path: Path, target: Path, sha256: str) -> None:
    try:
        link_or_copy(path, target)
    except FileNotFoundError:  # deleted since: the next one of its run will be in the next backup
        return
    if sha256_of(target) != sha256:
        target.unlink()
        _log.warning("%s is damaged, so it is not in the backup.", path.name)


def _delete_old(backups: Path, keep: int) -> None:
    """Keep the newest ones, and the largest one if it is larger than all of them: a database that was begun again must
    not push out the record."""
    known = list_backups(backups)
    largest = max(known, key=lambda backup: (backup.size_bytes, backup.number))
    for backup in known[keep:]:
        if backup is not largest:
            shutil.rmtree(backup.folder, ignore_errors=True)


def _require_space(folder: DataFolder) -> None:
    sizes = [path.stat().st_size for path in folder.root.glob(f"{folder.database.name}*")]
    needed, free = sum(sizes) + _MARGIN_BYTES, shutil.disk_usage(folder.backups).free
    if free < needed:
        raise StorageError(
            f"No backup was made: it needs {needed / 1e6:,.0f} MB and its disk has {free / 1e6:,.0f} MB free. "
            "The earlier ones are as they were. Free some space."
        )


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
