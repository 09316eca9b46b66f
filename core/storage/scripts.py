"""Runs several SQL statements inside the open transaction."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def run_script(db: Database, script: str) -> None:
    """Execute each statement. `Connection.executescript` would commit first; that of sqlite_utils tests after each
    character whether a statement is complete, which takes half the time of creating a database."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""
