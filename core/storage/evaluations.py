"""The results of evaluations of checkpoints over files, written by the window."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING

from core.checkpoints.evaluation import Evaluation
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.rows import Row

if TYPE_CHECKING:
    from sqlite_utils import Database

EVALUATION_COLUMNS = tuple(field.name for field in fields(Evaluation))
_row = attrgetter(*EVALUATION_COLUMNS)
_NAMES, _HOLES = ", ".join(EVALUATION_COLUMNS), ", ".join("?" * len(EVALUATION_COLUMNS))


def to_evaluation(row: Row) -> Evaluation:
    """A row of EVALUATION_COLUMNS."""
    values = dict(zip(EVALUATION_COLUMNS, row, strict=True))
    return Evaluation(**{**values, "learns": bool(values["learns"])})


def add_evaluation(db: Database, evaluation: Evaluation) -> None:
    """Store a result besides earlier ones. Raises StorageError, also for an unknown checkpoint."""
    if not select(db, "SELECT 1 FROM checkpoints WHERE checkpoint_id = ?", (evaluation.checkpoint_id,)):
        raise StorageError(f"There is no checkpoint '{evaluation.checkpoint_id}' in this data folder.")
    with write(db):
        db.conn.execute(f"INSERT INTO evaluations ({_NAMES}) VALUES ({_HOLES})", _row(evaluation))
