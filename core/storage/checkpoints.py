"""The table of checkpoints, as the browser shows it; pins, notes and requests to delete, which the window writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from core.events import CheckpointInfo
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.retention import best_of
from core.storage.rows import CHECKPOINT_COLUMNS, Row, to_checkpoint

if TYPE_CHECKING:
    from sqlite_utils import Database

PINNED = "SELECT checkpoint_id FROM checkpoint_marks WHERE is_pinned = 1"
_SELECT = f"""
SELECT {", ".join(f"checkpoints.{column}" for column in CHECKPOINT_COLUMNS)}, COALESCE(is_pinned, 0), COALESCE(note, '')
FROM checkpoints LEFT JOIN checkpoint_marks USING (checkpoint_id)
WHERE is_deleted = 0
"""


class CheckpointRows:
    """Kept checkpoints. `is_best` is worked out here; `is_in_use` only the trainer knows, so it is False."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, run_id: str) -> list[CheckpointInfo]:
        """All that are kept, in the order of saving, the newest first."""
        rows = select(self._db, f"{_SELECT} AND run_id = ? ORDER BY sequence DESC", (run_id,))
        return _with_best(rows)

    def newest(self, run_id: str) -> CheckpointInfo | None:
        """The one saved last."""
        return next(iter(self.list(run_id)), None)

    def best(self, run_id: str) -> CheckpointInfo | None:
        """The one with the highest finite skill; None where none has a skill yet."""
        return next((info for info in self.list(run_id) if info.is_best), None)

    def by_id(self, checkpoint_id: str) -> CheckpointInfo | None:
        """One that is kept."""
        rows = select(self._db, "SELECT run_id FROM checkpoints WHERE checkpoint_id = ?", (checkpoint_id,))
        kept = self.list(rows[0][0]) if rows else []
        return next((info for info in kept if info.checkpoint_id == checkpoint_id), None)

    def set_pinned(self, checkpoint_id: str, is_pinned: bool) -> None:
        """Keep it for good, or no longer; a pin takes back a request to delete it.

        Raises StorageError for an id that is not kept.
        """
        self._mark(checkpoint_id, "is_pinned", is_pinned)
        if is_pinned:
            with write(self._db):
                self._db.conn.execute("DELETE FROM checkpoint_deletions WHERE checkpoint_id = ?", (checkpoint_id,))

    def set_note(self, checkpoint_id: str, note: str) -> None:
        """Replace its note. Raises StorageError for an id that is not kept."""
        self._mark(checkpoint_id, "note", note)

    def request_deletion(self, ids: Iterable[str], at_ms: int) -> None:
        """Ask the trainer to delete these. Raises StorageError, asking for nothing, if one is not kept."""
        sql = "INSERT INTO checkpoint_deletions (checkpoint_id, requested_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING"
        with write(self._db):
            for checkpoint_id in ids:
                self._require(checkpoint_id)
                self._db.conn.execute(sql, (checkpoint_id, at_ms))

    def requested_deletions(self, run_id: str) -> tuple[str, ...]:
        """Ids that are to be deleted and are still kept, in the order of asking."""
        sql = (
            "SELECT checkpoint_id FROM checkpoint_deletions JOIN checkpoints USING (checkpoint_id) "
            "WHERE run_id = ? AND is_deleted = 0 "
            f"AND checkpoint_id NOT IN ({PINNED}) ORDER BY requested_at_ms, sequence"
        )
        return tuple(str(row[0]) for row in select(self._db, sql, (run_id,)))

    def _mark(self, checkpoint_id: str, column: str, value: object) -> None:
        sql = (
            f"INSERT INTO checkpoint_marks (checkpoint_id, {column}) VALUES (?, ?) "
            f"ON CONFLICT (checkpoint_id) DO UPDATE SET {column} = excluded.{column}"
        )
        with write(self._db):
            self._require(checkpoint_id)
            self._db.conn.execute(sql, (checkpoint_id, value))

    def _require(self, checkpoint_id: str) -> None:
        sql = "SELECT 1 FROM checkpoints WHERE checkpoint_id = ? AND is_deleted = 0"
        if not select(self._db, sql, (checkpoint_id,)):
            raise StorageError(f"The checkpoint '{checkpoint_id}' is not there any more; nothing was changed.")


def _with_best(rows: list[Row]) -> list[CheckpointInfo]:
    infos = [to_checkpoint(row) for row in rows]
    best = best_of(infos)
    return [replace(info, is_best=True) if info is best else info for info in infos]
