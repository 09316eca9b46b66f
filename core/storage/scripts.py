"""Several SQL statements at once, inside the transaction that is open."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def run_script(db: Database, script: str) -> None:
    """Each statement in turn. `Connection.executescript` would commit first; that of sqlite_utils asks after each
    character whether a statement is complete, which is half of what a new database takes."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""
