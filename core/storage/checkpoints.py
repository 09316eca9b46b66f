"""The table of checkpoints for the browser; pins, notes and deletion requests, written by the window."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.checkpoints.best import best_of
from core.checkpoints.provenance import is_imported
from core.domain.candle import Interval
from core.domain.checkpoint_info import CheckpointInfo
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.rows import CHECKPOINT_COLUMNS, to_checkpoint

if TYPE_CHECKING:
    from sqlite_utils import Database

PINNED = "SELECT checkpoint_id FROM checkpoint_marks WHERE is_pinned = 1"
SELECTED = f"""{", ".join(f"checkpoints.{column}" for column in CHECKPOINT_COLUMNS)},
gain_low, gain_high, COALESCE(gain_candles, 0),
COALESCE(is_pinned, 0), COALESCE(note, ''), COALESCE(name, ''), COALESCE(tags, ''), verified_at_ms, COALESCE(fault, '')
"""
"""The columns of `to_checkpoint`, from `checkpoints` joined with `JOINS`, whose rows may be missing."""
JOINS = """
LEFT JOIN checkpoint_gains ON checkpoint_gains.checkpoint_id = checkpoints.checkpoint_id
LEFT JOIN checkpoint_marks ON checkpoint_marks.checkpoint_id = checkpoints.checkpoint_id
"""
_SELECT = f"SELECT {SELECTED} FROM checkpoints {JOINS} WHERE is_deleted = 0"
_NEWEST = """
SELECT checkpoint_id FROM checkpoints
WHERE sequence IN (SELECT MAX(sequence) FROM checkpoints WHERE is_deleted = 0 GROUP BY run_id)
"""
_LEARNED_AT = """
SELECT candle_open_time_ms, interval_ms FROM checkpoints
JOIN runs USING (run_id) JOIN markets ON markets.id = runs.market_id
WHERE is_deleted = 0 AND checkpoint_id = ?
"""
_FORBIDDEN_IN_TAGS = re.compile(r"[\s,]+")


class CheckpointRows:
    """Stored checkpoints. Only the trainer knows `is_in_use`, so it is False."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, *run_ids: str) -> list[CheckpointInfo]:
        """All stored checkpoints of these runs, newest first, with the best of them marked."""
        holes = ", ".join("?" * len(run_ids))
        rows = select(self._db, f"{_SELECT} AND run_id IN ({holes}) ORDER BY sequence DESC", run_ids)
        infos = [to_checkpoint(row) for row in rows]
        best = best_of([info for info in infos if not is_imported(info.run_id)])
        return [replace(info, is_best=True) if info is best else info for info in infos]

    def newest(self, run_id: str) -> CheckpointInfo | None:
        return next(iter(self.list(run_id)), None)

    def best(self, run_id: str) -> CheckpointInfo | None:
        return next((info for info in self.list(run_id) if info.is_best), None)

    def by_id(self, checkpoint_id: str) -> CheckpointInfo | None:
        """One stored checkpoint, without a look at the others: `is_best` is False."""
        rows = select(self._db, f"{_SELECT} AND checkpoints.checkpoint_id = ?", (checkpoint_id,))
        return to_checkpoint(rows[0]) if rows else None

    def deleted_step(self, checkpoint_id: str) -> int | None:
        """The step of a checkpoint that was deleted; None if it was not, or never existed."""
        sql = "SELECT step FROM checkpoints WHERE is_deleted = 1 AND checkpoint_id = ?"
        rows = select(self._db, sql, (checkpoint_id,))
        return int(rows[0][0]) if rows else None

    def learned_at(self, checkpoint_id: str) -> tuple[int, Interval] | None:
        """The opening time of the newest candle that its run had processed, and the run's interval; None: deleted."""
        rows = select(self._db, _LEARNED_AT, (checkpoint_id,))
        return (int(rows[0][0]), Interval(int(rows[0][1]))) if rows else None

    def newest_ids(self) -> frozenset[str]:
        """The newest checkpoint of every run, from which it would continue."""
        return frozenset(str(row[0]) for row in select(self._db, _NEWEST))

    def to_continue_from(self) -> Iterator[CheckpointInfo]:
        """The newest checkpoint of every run, the newest known good one, and the best."""
        for (run_id,) in select(self._db, "SELECT DISTINCT run_id FROM checkpoints WHERE is_deleted = 0"):
            known = self.list(run_id)
            needed = (known[0], next((info for info in known if info.is_known_good), None), best_of(known))
            yield from (info for info in known if info in needed)

    def set_pinned(self, checkpoint_id: str, is_pinned: bool) -> None:
        """Pin or unpin a checkpoint; a pin cancels a deletion request.

        Raises StorageError for an unknown id.
        """
        self._mark(checkpoint_id, "is_pinned", is_pinned)
        if is_pinned:
            with write(self._db):
                self._db.conn.execute("DELETE FROM checkpoint_deletions WHERE checkpoint_id = ?", (checkpoint_id,))

    def set_note(self, checkpoint_id: str, note: str) -> None:
        """Replace its note. Raises StorageError for an unknown id."""
        self._mark(checkpoint_id, "note", note)

    def set_name(self, checkpoint_id: str, name: str) -> None:
        """Set its name; an empty one removes it. Raises StorageError for an unknown id."""
        self._mark(checkpoint_id, "name", name)

    def set_tags(self, checkpoint_id: str, tags: Sequence[str]) -> None:
        """Replace its tags: distinct words without spaces and commas. Raises StorageError."""
        words = dict.fromkeys(word for tag in tags for word in _FORBIDDEN_IN_TAGS.split(tag) if word)
        self._mark(checkpoint_id, "tags", ",".join(words))

    def set_verified(self, checkpoint_id: str, at_ms: int, fault: str) -> None:
        """Record a check of its file. fault: a sentence; empty if there is none."""
        self._mark(checkpoint_id, "fault", fault)
        self._mark(checkpoint_id, "verified_at_ms", at_ms)

    def request_deletion(self, ids: Iterable[str], at_ms: int) -> None:
        """Request their deletion by the trainer. Raises StorageError, without any request, for an unknown id."""
        sql = "INSERT INTO checkpoint_deletions (checkpoint_id, requested_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING"
        with write(self._db):
            for checkpoint_id in ids:
                self._require(checkpoint_id)
                self._db.conn.execute(sql, (checkpoint_id, at_ms))

    def cancel_deletion(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Cancel deletion requests. Returns those that still exist; the others were deleted meanwhile."""
        holes = ", ".join("?" * len(ids))
        with write(self._db):
            self._db.conn.execute(f"DELETE FROM checkpoint_deletions WHERE checkpoint_id IN ({holes})", ids)
        sql = f"SELECT checkpoint_id FROM checkpoints WHERE is_deleted = 0 AND checkpoint_id IN ({holes})"
        return tuple(str(row[0]) for row in select(self._db, sql, ids))

    def requested_deletions(self, until_ms: int | None = None) -> tuple[str, ...]:
        """Pending deletion requests of all runs, in order.

        until_ms: only requests made up to this time.
        """
        sql = (
            "SELECT checkpoint_id FROM checkpoint_deletions JOIN checkpoints USING (checkpoint_id) "
            "WHERE requested_at_ms <= ? AND is_deleted = 0 "
            f"AND checkpoint_id NOT IN ({PINNED}) ORDER BY requested_at_ms, sequence"
        )
        until = 2**63 - 1 if until_ms is None else until_ms
        return tuple(str(row[0]) for row in select(self._db, sql, (until,)))

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
            raise StorageError(f"The checkpoint '{checkpoint_id}' no longer exists; nothing was changed.")
