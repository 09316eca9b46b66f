"""States of alerts on ghosts, so that each fires once, also across restarts. Written by the window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.storage.database import select, write

if TYPE_CHECKING:
    from sqlite_utils import Database

_PUT = """
INSERT INTO ghost_alerts (name, state, changed_at_ms) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET state = excluded.state, changed_at_ms = excluded.changed_at_ms
"""


class GhostAlertStore:
    """All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def states(self) -> dict[str, str]:
        """By the name of the alert."""
        return {str(name): str(state) for name, state in select(self._db, "SELECT name, state FROM ghost_alerts")}

    def put(self, name: str, state: str, at_ms: int) -> None:
        with write(self._db):
            self._db.conn.execute(_PUT, (name, state, at_ms))

    def remove(self, names: Iterable[str]) -> None:
        """Missing ones are not an error."""
        with write(self._db):
            self._db.conn.executemany("DELETE FROM ghost_alerts WHERE name = ?", [(name,) for name in names])
