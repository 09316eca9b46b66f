"""Reads the checkpoints of all runs page by page, with their markets, for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING

from core.checkpoints.row import CheckpointRow, Evaluation
from core.domain.candle import Market
from core.storage.checkpoints import JOINS, SELECTED
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.markets import market_of
from core.storage.rows import Row, to_checkpoint

if TYPE_CHECKING:
    from sqlite_utils import Database


EVALUATION_COLUMNS = tuple(field.name for field in fields(Evaluation))
_row = attrgetter(*EVALUATION_COLUMNS)
_SELECT = f"""
SELECT venue, symbol, interval_ms, checkpoints.sequence, COALESCE(is_archived, 0),
    {", ".join(f"evaluations.{column}" for column in EVALUATION_COLUMNS)},
    {SELECTED}
FROM checkpoints
JOIN runs ON runs.run_id = checkpoints.run_id
JOIN markets ON markets.id = runs.market_id
LEFT JOIN run_marks ON run_marks.run_id = checkpoints.run_id
{JOINS}
LEFT JOIN evaluations ON evaluations.id = (
    SELECT MAX(id) FROM evaluations AS own WHERE own.checkpoint_id = checkpoints.checkpoint_id
)
WHERE is_deleted = 0
    AND NOT EXISTS (
        SELECT 1 FROM checkpoint_deletions WHERE checkpoint_deletions.checkpoint_id = checkpoints.checkpoint_id
    )
"""


_MEMBERS = """
SELECT heads.run_id, runs.created_at_ms, venue, symbol, interval_ms FROM runs
JOIN runs AS heads ON heads.sequence = runs.head
JOIN markets ON markets.id = runs.market_id ORDER BY runs.sequence
"""


class BrowsedRows:
    """The stored checkpoints of all runs, without those to be deleted. `is_best` and `is_in_use` are not set here.

    All methods raise StorageError.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def page(self, before: int | None, limit: int) -> list[CheckpointRow]:
        """The newest `limit` checkpoints saved before this sequence number (None: of all)."""
        bound = 2**63 - 1 if before is None else before
        return self._read("AND checkpoints.sequence < ? ORDER BY checkpoints.sequence DESC LIMIT ?", (bound, limit))

    def newer(self, after: int) -> list[CheckpointRow]:
        return self._read("AND checkpoints.sequence > ? ORDER BY checkpoints.sequence DESC", (after,))

    def of(self, ids: Sequence[str]) -> list[CheckpointRow]:
        """The checkpoints with these ids, as far as they exist."""
        holes = ", ".join("?" * len(ids))
        return self._read(f"AND checkpoints.checkpoint_id IN ({holes})", ids)

    def _read(self, condition: str, parameters: Sequence[object]) -> list[CheckpointRow]:
        joined: _Joined = {}
        for head, at_ms, *market in select(self._db, _MEMBERS, ()):
            joined.setdefault(head, []).append((at_ms, market_of(*market)))
        return [_to_row(row, joined) for row in select(self._db, f"{_SELECT} {condition}", parameters)]


_Joined = dict[str, list[tuple[int, Market]]]
"""A model's other markets and when they joined, in order, by the id of its head."""


def _to_row(row: Row, joined: _Joined) -> CheckpointRow:
    venue, symbol, interval_ms, sequence, is_archived, *rest = row
    found, rest = rest[: len(EVALUATION_COLUMNS)], rest[len(EVALUATION_COLUMNS) :]
    evaluation = None
    if found[0] is not None:
        values = dict(zip(EVALUATION_COLUMNS, found, strict=True))
        evaluation = Evaluation(**{**values, "learns": bool(values["learns"])})
    info = to_checkpoint(tuple(rest))
    others = tuple(market for at_ms, market in joined.get(info.run_id, ()) if at_ms <= info.created_at_ms)
    return CheckpointRow(info, venue, symbol, interval_ms, sequence, bool(is_archived), evaluation, others)


_NAMES, _HOLES = ", ".join(EVALUATION_COLUMNS), ", ".join("?" * len(EVALUATION_COLUMNS))


def add_evaluation(db: Database, evaluation: Evaluation) -> None:
    """Store a result besides earlier ones. Raises StorageError, also for an unknown checkpoint."""
    if not select(db, "SELECT 1 FROM checkpoints WHERE checkpoint_id = ?", (evaluation.checkpoint_id,)):
        raise StorageError(f"There is no checkpoint '{evaluation.checkpoint_id}' in this data folder.")
    with write(db):
        db.conn.execute(f"INSERT INTO evaluations ({_NAMES}) VALUES ({_HOLES})", _row(evaluation))
