"""All steps of a run as columns, for curves: read in pieces, beside a trainer that adds further steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.storage.checksums import SealedTable, intact_rows
from core.storage.database import select
from core.storage.record_tables import RUN, STEPS

if TYPE_CHECKING:
    from sqlite_utils import Database

FloatArray = NDArray[np.float64]

PIECE = 1_000
"""Steps read at once: about ten milliseconds."""
_NUMBERS = (
    "step",
    "loss",
    "prequential_loss",
    "gradient_norm",
    "learning_rate",
    "clip_norm",
    "duration_ms",
    "at_ms",
    "candle_open_time_ms",
    "clipped",
)
STEP_COLUMNS = (*_NUMBERS, "skipped")
_PLACES = tuple(STEPS.names.index(name) for name in _NUMBERS)
_REASON = STEPS.names.index("skipped_because")
_KEY = tuple(STEPS.names.index(name) for name in ("candle_open_time_ms", "step"))
_SQL = f"""
SELECT {STEPS.select()} FROM steps WHERE run = {RUN} AND (candle_open_time_ms, step) > (?, ?)
ORDER BY candle_open_time_ms, step LIMIT ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class StepColumns:
    """Steps in ascending order. values: [column, n], NaN where nothing was measured. reasons: of skipped steps."""

    values: FloatArray
    reasons: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.values[0])

    def column(self, name: str) -> FloatArray:
        """All NaN for a measurement that the record keeps only as a detail of newer steps."""
        if name in STEP_COLUMNS:
            column: FloatArray = self.values[STEP_COLUMNS.index(name)]
            return column
        return np.full(len(self), np.nan)

    def why_skipped(self, step: int) -> str | None:
        return self.reasons.get(step)


class StepColumnReader:
    """Keeps the steps that it has read, so that reading on costs only the new ones. Damaged rows are left out."""

    def __init__(self, db: Database, head_id: str) -> None:
        """head_id: the run that has the model's steps."""
        self._db, self._head_id = db, head_id
        self._values = np.full((len(STEP_COLUMNS), PIECE), np.nan)
        self._end = 0
        self._reasons: dict[int, str] = {}
        self._newest = (-(2**63), -1)

    def read_more(self) -> bool:
        """Read the next piece; False if it was the last. Raises StorageError."""
        rows = select(self._db, _SQL, (self._head_id, *self._newest, PIECE))
        if rows:
            self._newest = (rows[-1][_KEY[0]], rows[-1][_KEY[1]])
        intact = intact_rows(STEPS, rows, _ignore)
        if intact:
            self._append(
                np.array([[row[place] for place in _PLACES] for row in intact], dtype=np.float64).T,
                [row[_REASON] for row in intact],
            )
        return len(rows) == PIECE

    def columns(self) -> StepColumns:
        values = self._values[:, : self._end].copy()
        values.flags.writeable = False
        return StepColumns(values, dict(self._reasons))

    def _append(self, numbers: FloatArray, reasons: list[str | None]) -> None:
        """A step at or before an earlier one means that the model went back: those in between are dropped."""
        steps = numbers[0]
        later = np.append(steps[1:], np.inf)[::-1]
        stays = steps < np.minimum.accumulate(later)[::-1]
        first = float(steps.min())
        self._end = int(np.searchsorted(self._values[0, : self._end], first))
        self._reasons = {step: reason for step, reason in self._reasons.items() if step < first}
        stop = self._end + int(stays.sum())
        if stop > self._values.shape[1]:
            more = np.full((len(STEP_COLUMNS), max(stop - self._end, self._values.shape[1])), np.nan)
            self._values = np.concatenate([self._values, more], axis=1)
        skipped = np.array([reason is not None for reason in reasons], dtype=np.float64)
        self._values[:, self._end : stop] = np.vstack([numbers, skipped])[:, stays]
        self._end = stop
        kept = zip(steps[stays].tolist(), np.array(reasons, dtype=object)[stays], strict=True)
        self._reasons |= {int(step): reason for step, reason in kept if reason is not None}


def _ignore(_table: SealedTable, _id: int) -> None:
    """The trainer logs damaged rows."""
