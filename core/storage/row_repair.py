"""Finds rows with a wrong checksum, and replaces them by the newest backup's.

A row that no backup has intact is dropped, as its content is lost. The check of a backup verifies every row of its
copy, repairs the copy, and leaves a list for the trainer, which alone may write to those tables.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from core.files.durable import write_durably
from core.storage.backup_record import Backup
from core.storage.checksums import Row, SealedTable
from core.storage.database import decode
from core.storage.record_tables import DETAILS, SEALED
from core.storage.soundness import UNREADABLE

_LIST = "damaged-rows.json"
_AT_ONCE = 500
_LONGEST_LIST = 1_000_000
_BY_NAME = {table.name: table for table in SEALED}

DamagedRow = tuple[str, int]
"""Table and id."""


@dataclass(frozen=True, slots=True)
class RowRepair:
    """The result for damaged rows. from_backup: the name of the newest backup that rows were taken from."""

    restored: tuple[DamagedRow, ...]
    dropped: tuple[DamagedRow, ...]
    from_backup: str | None

    def __len__(self) -> int:
        return len(self.restored) + len(self.dropped)


def find_damaged(connection: sqlite3.Connection, after_piece: Callable[[], None] = lambda: None) -> list[DamagedRow]:
    """Check every row. after_piece: called now and then. Raises one of UNREADABLE."""
    found: list[DamagedRow] = []
    for table in SEALED:
        last = -(2**63)
        while rows := _rows(connection, table, "WHERE id > ? ORDER BY id LIMIT ?", (last, _AT_ONCE)):
            found += [(table.name, int(row[0])) for row in rows if not table.is_intact(row)]
            last = int(rows[-1][0])
            after_piece()
    return found


def find_damaged_among_newest(connection: sqlite3.Connection, newest: int) -> list[DamagedRow]:
    """Check the newest rows of each table. Raises one of UNREADABLE."""
    return [
        (table.name, int(row[0]))
        for table in SEALED
        for row in _rows(connection, table, "ORDER BY id DESC LIMIT ?", (newest,))
        if not table.is_intact(row)
    ]


def still_damaged(connection: sqlite3.Connection, rows: Iterable[DamagedRow]) -> list[DamagedRow]:
    """The existing rows among these that are damaged. Raises one of UNREADABLE."""
    found = []
    for name, id_ in sorted(set(rows)):
        table = _BY_NAME.get(name)
        if table is not None and any(not table.is_intact(row) for row in _row(connection, table, id_)):
            found.append((name, id_))
    return found


def repair_rows(connection: sqlite3.Connection, damaged: Sequence[DamagedRow], backups: Sequence[Backup]) -> RowRepair:
    """Replace each damaged row from the newest backup that has it intact, or drop it with its detail.

    To be called inside a transaction. backups: newest first. Raises sqlite3.Error.
    """
    left = list(damaged)
    restored: list[DamagedRow] = []
    from_backup = None
    for backup in backups:
        if not left:
            break
        with closing(_intact(backup, left)) as intact:
            taken = [(name, id_) for name, id_, row in intact if _restore(connection, name, id_, row)]
        if taken and from_backup is None:
            from_backup = backup.name
        restored += taken
        left = [row for row in left if row not in taken]
    for name, id_ in left:
        table = _BY_NAME[name]
        for each in (table, DETAILS[table]) if table in DETAILS else (table,):
            connection.execute(f"DELETE FROM {each.name} WHERE id = ?", (id_,))
    return RowRepair(tuple(restored), tuple(left), from_backup)


def save_damaged_list(backups: Path, rows: Sequence[DamagedRow]) -> None:
    """Leave the list of damaged rows for the trainer. Raises OSError."""
    write_durably(backups / _LIST, json.dumps(rows[:_LONGEST_LIST]).encode())


def load_damaged_list(backups: Path) -> list[DamagedRow]:
    """The list of `save_damaged_list`; empty if there is none or it is invalid."""
    try:
        read = json.loads((backups / _LIST).read_bytes())
        return [(str(name), int(id_)) for name, id_ in read]
    except (OSError, ValueError, TypeError):
        return []


def delete_damaged_list(backups: Path) -> None:
    """Delete the list, after its rows were repaired."""
    with contextlib.suppress(OSError):  # then they are checked again
        (backups / _LIST).unlink(missing_ok=True)


def _intact(backup: Backup, damaged: Sequence[DamagedRow]) -> Generator[tuple[str, int, Row]]:
    """The damaged rows that this backup has intact."""
    try:
        source = sqlite3.connect(f"{backup.database.as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error:
        return  # its database is gone
    with closing(source):
        source.text_factory = decode
        for name, id_ in damaged:
            try:
                found = _row(source, _BY_NAME[name], id_)
            except UNREADABLE:  # an older schema, or a damaged page: others may be whole
                continue
            yield from ((name, id_, row) for row in found if _BY_NAME[name].is_intact(row))


def _restore(connection: sqlite3.Connection, name: str, id_: int, row: Row) -> bool:
    table = _BY_NAME[name]
    former = connection.execute(f"SELECT {table.select()} FROM {name} WHERE id = ?", (id_,)).fetchall()
    connection.execute(f"DELETE FROM {name} WHERE id = ?", (id_,))
    try:
        connection.execute(table.insert, row)
    except sqlite3.IntegrityError:  # another row has its key: the backup is from before a restore of this database
        connection.executemany(table.insert, former)
        return False
    return True


def _row(connection: sqlite3.Connection, table: SealedTable, id_: int) -> list[Row]:
    return _rows(connection, table, "WHERE id = ?", (id_,))


def _rows(connection: sqlite3.Connection, table: SealedTable, which: str, values: tuple[int, ...]) -> list[Row]:
    with closing(connection.execute(f"SELECT {table.select()} FROM {table.name} {which}", values)) as cursor:
        return cursor.fetchall()
