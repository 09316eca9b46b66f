"""Opens a data folder for reading, beside a window or trainer that is writing to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from core.forecast.experts import ExpertList
from core.run_data.frames import forecast_frame, score_frame
from core.storage.candles import CandleStore
from core.storage.checksums import SealedTable, whole_rows
from core.storage.database import open_database, select
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_tables import FORECASTS, FURTHER_SCORES, RUN, SCORES, STEPS
from core.storage.rows import CHECKPOINT_COLUMNS
from core.storage.runs import Run, RunStore
from core.storage.score_blocks import BlockReader

if TYPE_CHECKING:
    from sqlite_utils import Database

_CANDLE_COLUMNS = ("open", "high", "low", "close", "volume")
_FIRST_MS = -(2**63)


class RunData:
    """The tables of one run. All methods raise StorageError."""

    def __init__(self, db: Database, run: Run) -> None:
        self._db = db
        self.run = run
        self.damaged_rows = 0
        """Rows that were left out of the tables read so far, as their checksum does not fit."""

    def candles(self) -> pd.DataFrame:
        """The stored candles of the run's market, ascending: open_time_ms, open, high, low, close, volume."""
        stored = CandleStore(self._db).columns_between(self.run.market, _FIRST_MS)
        return pd.DataFrame(
            {"open_time_ms": stored.open_time_ms, **dict(zip(_CANDLE_COLUMNS, stored.values, strict=True))}
        )

    def forecasts(self) -> pd.DataFrame:
        """One row a forecast and horizon, ascending by origin and horizon; quantiles in single precision, as drawn."""
        return forecast_frame(self.run.run_id, self._whole(FORECASTS, self.run.run_id, "origin_open_time_ms"))

    def scores(self) -> pd.DataFrame:
        """All scores, ascending by horizon, target and version: 1, and one more for each later correction of the
        target."""
        reader = BlockReader(self._db, self.run.run_id, self._on_damage)
        blocks = [reader.scores(table, _FIRST_MS, with_losses=True) for table in (SCORES, FURTHER_SCORES)]
        return score_frame(blocks, ExpertList(self.run.challengers))

    def steps(self) -> pd.DataFrame:
        """The training steps of the run's model, ascending by candle and step."""
        frame = pd.DataFrame(
            self._whole(STEPS, self.run.head_id, "candle_open_time_ms, step"), columns=list(STEPS.names)
        )
        frame["clipped"] = frame["clipped"].astype(bool)
        return frame.drop(columns=["id", "run", "checksum"])

    def checkpoints(self) -> pd.DataFrame:
        """The kept checkpoints of the run's model, ascending by their time."""
        sql = (
            f"SELECT {', '.join(CHECKPOINT_COLUMNS)} FROM checkpoints "
            "WHERE run_id = ? AND is_deleted = 0 ORDER BY sequence"
        )
        frame = pd.DataFrame(select(self._db, sql, (self.run.head_id,)), columns=list(CHECKPOINT_COLUMNS))
        frame["is_known_good"] = frame["is_known_good"].astype(bool)
        return frame

    def _whole(self, table: SealedTable, run_id: str, order: str) -> list[tuple[object, ...]]:
        """The undamaged rows of a run."""
        sql = f"SELECT {table.select()} FROM {table.name} WHERE run = {RUN} ORDER BY {order}"
        return whole_rows(table, select(self._db, sql, (run_id,)), self._on_damage)

    def _on_damage(self, _table: SealedTable, _id: int) -> None:
        self.damaged_rows += 1


@contextmanager
def open_run(folder: Path, run_id: str | None = None) -> Iterator[RunData]:
    """A run of this data folder; the newest that has one without its id. Raises StorageError."""
    with closing(open_database(DataFolder(folder).database, readonly=True)) as db:
        store = RunStore(db)
        newest = None if run_id else next(iter(store.list()), None)
        if run_id is None and newest is None:
            raise StorageError(f"There is no run in {folder} yet.")
        yield RunData(db, newest or store.get(run_id or ""))


def runs(folder: Path) -> list[Run]:
    """All runs of this data folder, the newest first. Raises StorageError."""
    with closing(open_database(DataFolder(folder).database, readonly=True)) as db:
        return RunStore(db).list()
