"""The window's marks of runs: the archived ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.storage.database import select, write
from core.storage.errors import StorageError

if TYPE_CHECKING:
    from sqlite_utils import Database

_SET = """
INSERT INTO run_marks (run_id, is_archived) VALUES (?, ?)
ON CONFLICT (run_id) DO UPDATE SET is_archived = excluded.is_archived
"""


def set_archived(db: Database, run_id: str, is_archived: bool) -> None:
    """Archive or unarchive a run; nothing is deleted. Raises StorageError for an unknown run."""
    with write(db):
        if not select(db, "SELECT 1 FROM runs WHERE run_id = ?", (run_id,)):
            raise StorageError(f"There is no run '{run_id}' in the database; nothing was changed.")
        db.conn.execute(_SET, (run_id, is_archived))
