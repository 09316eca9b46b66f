"""Integrity checks of a database: its pages and its tables."""

from __future__ import annotations

import functools
import sqlite3
from contextlib import closing
from pathlib import Path

from core.storage.schema import Origin, create_tables, origin_of

UNREADABLE = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""Exceptions of reading a damaged file: its texts, and messages about them, may not be valid text."""
_MAGIC = b"SQLite format 3\0"
_SCHEMA = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"


def beginning_of(path: Path) -> str | None:
    """The fault in the first bytes of a file; None if there is none, or no file.

    Only while this process has no connection to it: closing any handle of a file drops all POSIX locks that the process
    holds on it (sqlite.org/howtocorrupt.html, 2.2). Another process that closes its connection then believes that it is
    the last, and deletes the -wal under our feet.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_MAGIC))
    except OSError:
        return None  # there is no file yet, or SQLite will report the error
    if not beginning:
        return "it is empty"
    return None if beginning == _MAGIC else "it does not begin as a database does"


def pages_of(connection: sqlite3.Connection, is_thorough: bool) -> str | None:
    """The fault that SQLite finds in the pages; None if there is none. Thorough: checks indexes against their tables.

    Raises one of UNREADABLE if the check is impossible.
    """
    pragma = "integrity_check" if is_thorough else "quick_check"
    findings = [str(row[0]) for row in connection.execute(f"PRAGMA {pragma}(1)")]
    return None if findings == ["ok"] else findings[0] if findings else "it cannot be read"


def names_of(connection: sqlite3.Connection) -> str | None:
    """The fault in the tables of markets and runs, by whose names everything else is found; None if there is none.

    Their indexes are checked too, which a check of the pages does not do. Both are small. Raises one of UNREADABLE.
    """
    known = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('markets', 'runs')")
    checks = [connection.execute(f"PRAGMA integrity_check({name})").fetchone() for (name,) in known.fetchall()]
    return next((str(finding) for (finding,) in checks if finding != "ok"), None)


def tables_of(connection: sqlite3.Connection) -> str | None:
    """The first table, index or trigger that is missing in a database, or is another one; None if all are there.

    To SQLite a flipped bit in a name is not damage but another table.
    """
    found = dict(connection.execute(_SCHEMA))
    odd = next((name for name, sql in _expected().items() if found.get(name) != sql), None)
    return None if odd is None else f"its schema has no '{odd}', or another one"


def fault_of(connection: sqlite3.Connection) -> str | None:
    """The fault that a thorough check of pages and tables finds; None if there is none."""
    try:
        fault = pages_of(connection, is_thorough=True) or tables_of(connection)
        is_ours = origin_of(connection) is Origin.THIS_SCHEMA
    except UNREADABLE as error:
        return str(error)
    return fault if fault is not None or is_ours else "nothing in it shows which version wrote it"


@functools.cache
def _expected() -> dict[str, str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        return dict(connection.execute(_SCHEMA))
