"""In-memory databases with the product's tables."""

from __future__ import annotations

from functools import cache

from sqlite_utils import Database

from core.storage.schema import create_tables


@cache
def _template() -> bytes:
    db = Database(memory=True)
    create_tables(db.conn)
    image = db.conn.serialize()
    db.conn.close()
    return image


def empty_tables() -> Database:
    """Copied: creating the tables takes longer than many tests."""
    db = Database(memory=True)
    db.conn.deserialize(_template())
    return db
