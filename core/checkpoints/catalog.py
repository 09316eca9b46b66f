"""The stored checkpoints in memory: SQLite filters and sorts them."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.checkpoints.best import best_of
from core.checkpoints.columns import INSERT, NAMES, QUALITY, TABLE, values
from core.checkpoints.filtering import Filter, matching
from core.checkpoints.provenance import is_imported
from core.checkpoints.row import CheckpointRow

_SORT_KEYS = {"interval": "interval_ms", "verified": "verified_at", "age": "saved_ms"}
"""Columns to sort by, if not the compared ones."""


class Catalog:
    """Stored checkpoints by id. `is_best` and `is_in_use` of their infos are set here.

    What is not known matches no comparison, and is last in either order.
    """

    def __init__(self) -> None:
        self._rows: dict[str, CheckpointRow] = {}
        self._in_use: str | None = None
        self._changed_runs: set[str] = set()
        self.version = 0
        """Incremented by every change."""
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.executescript(TABLE)
        weakref.finalize(self, self._db.close)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[CheckpointRow]:
        self._mark_best()
        return iter(tuple(self._rows.values()))

    def get(self, checkpoint_id: str | None) -> CheckpointRow | None:
        """One checkpoint; None if it is not stored."""
        self._mark_best()
        return None if checkpoint_id is None else self._rows.get(checkpoint_id)

    def of_run(self, run_id: str | None) -> list[CheckpointRow]:
        self._mark_best()
        return self._of_run(run_id)

    def clear(self) -> None:
        self._rows.clear()
        self._db.execute("DELETE FROM checkpoints")
        self.version += 1

    def put(self, rows: Iterable[CheckpointRow]) -> None:
        """Add these; rows with the same id are replaced."""
        added = [self._marked(row, is_in_use=row.info.checkpoint_id == self._in_use) for row in rows]
        self._changed_runs |= {row.info.run_id for row in added}
        self._store(added)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove these; unknown ids are ignored."""
        gone = [row for id_ in set(ids) if (row := self._rows.pop(id_, None)) is not None]
        self._db.executemany("DELETE FROM checkpoints WHERE id = ?", [(row.info.checkpoint_id,) for row in gone])
        self._changed_runs |= {row.info.run_id for row in gone}
        self.version += bool(gone)

    def use(self, checkpoint_id: str | None) -> None:
        """Set the checkpoint that the model is using."""
        if checkpoint_id == self._in_use:
            return
        changed = [row for id_ in (self._in_use, checkpoint_id) if (row := self._rows.get(id_ or "")) is not None]
        self._in_use = checkpoint_id
        self._store([self._marked(row, is_in_use=row.info.checkpoint_id == checkpoint_id) for row in changed])

    def rows(
        self,
        condition: Filter | None = None,
        *,
        now_ms: int = 0,
        run_id: str | None = None,
        order_by: str = "sequence",
        is_descending: bool = True,
    ) -> list[CheckpointRow]:
        """The checkpoints that match the filter, sorted by a column; among equals the newest first, unknown values last
        in either order. In a column of quality, checkpoints of a diverged model come after those, so that an old score
        does not rank them first. Raises FilterError.

        run_id: of this run only.
        """
        self._mark_best()
        found = None if condition is None else matching(self._db, condition, now_ms)
        key = _SORT_KEYS.get(order_by, order_by if order_by in NAMES else "sequence")
        wrecks_last = "known_good DESC, " if order_by in QUALITY else ""
        ids = self._db.execute(
            f"SELECT id FROM checkpoints WHERE :run IS NULL OR run = :run "
            f"ORDER BY {wrecks_last}{key} IS NULL, {key} {'DESC' if is_descending else 'ASC'}, sequence DESC",
            {"run": run_id},
        )
        return [self._rows[id_] for (id_,) in ids if found is None or id_ in found]

    def _of_run(self, run_id: str | None) -> list[CheckpointRow]:
        ids = self._db.execute("SELECT id FROM checkpoints WHERE run = ? ORDER BY sequence DESC", (run_id,))
        return [self._rows[id_] for (id_,) in ids.fetchall()]

    def _mark_best(self) -> None:
        """Update the best checkpoint of each changed run. The best of an imported run is unknown."""
        changed, self._changed_runs = self._changed_runs, set()
        for run_id in changed:
            rows = self._of_run(run_id)
            best = None if is_imported(run_id) else best_of([row.info for row in rows])
            marked = (self._marked(row, is_best=row.info is best) for row in rows)
            self._store([new for new, row in zip(marked, rows, strict=True) if new is not row])

    @staticmethod
    def _marked(row: CheckpointRow, **marks: bool) -> CheckpointRow:
        is_same = all(getattr(row.info, name) == value for name, value in marks.items())
        return row if is_same else replace(row, info=replace(row.info, **marks))  # type: ignore[arg-type]

    def _store(self, rows: list[CheckpointRow]) -> None:
        self._rows.update((row.info.checkpoint_id, row) for row in rows)
        self._db.executemany(INSERT, map(values, rows))
        self.version += bool(rows)
