"""A run's record as data frames, read while a window or trainer may be writing to it.

Times are UTC milliseconds, returns and ranges natural logarithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.domain.challenger_sources import column_of
from core.domain.checkpoint_info import NAMES_IN_EXPORTS
from core.domain.events import QUANTILE_LEVELS
from core.domain.quantities import QUANTITIES, Quantity
from core.forecast.experts import ExpertList, unpack_losses
from core.storage.candles import CandleStore
from core.storage.checkpoints import CheckpointRows
from core.storage.checksums import Row, SealedTable, intact_rows
from core.storage.database import open_database, select
from core.storage.folder import DataFolder
from core.storage.packing import MODE_OF, flag, unpack_drawn
from core.storage.record_tables import FORECASTS, FURTHER_SCORES, RUN, SCORES, STEPS
from core.storage.rows import CHECKPOINT_COLUMNS, GAIN_COLUMNS, checkpoint_row, gain_row, to_checkpoint_id
from core.storage.runs import Run, RunStore
from core.storage.score_blocks import BlockReader, ScoreBlock

if TYPE_CHECKING:
    from sqlite_utils import Database

CLOSE_QUANTILES = tuple(f"close_q{100 * level:02.0f}" for level in QUANTILE_LEVELS)
"""Columns of the close's quantiles, as log returns since the origin's close."""
MEDIANS = tuple(f"{quantity.name.lower()}_median" for quantity in Quantity if quantity is not Quantity.CLOSE)
_SHOWN = {
    "close_loss": "loss",
    "range_loss": "range_loss",
    "body_loss": "body_loss",
    "upper_wick_loss": "upper_wick_loss",
    "lower_wick_loss": "lower_wick_loss",
    "volume_loss": "volume_loss",
    "close_loss_reference_model": "twin_loss",
    "range_loss_reference_model": "range_twin_loss",
    "overlap": "overlap",
    "reference_overlap": "reference_overlap",
}
"""Columns by the record's names."""
_BY_EXPERT = {"close": Quantity.CLOSE, "range": Quantity.RANGE}
_CANDLE_COLUMNS = ("open", "high", "low", "close", "volume")
_FIRST_MS = -(2**63)
_CHECKPOINT_COLUMNS = [*CHECKPOINT_COLUMNS, *GAIN_COLUMNS]


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
        return _forecast_frame(self.run.run_id, self._undamaged_rows(FORECASTS, self.run.run_id, "origin_open_time_ms"))

    def scores(self) -> pd.DataFrame:
        """All scores, ascending by horizon, target and version: 1, and one more for each later correction of the
        target."""
        reader = BlockReader(self._db, self.run.run_id, self._on_damage)
        blocks = [reader.scores(table, _FIRST_MS, with_losses=True) for table in (SCORES, FURTHER_SCORES)]
        experts = ExpertList(self.run.challengers)
        frame = pd.concat([_of_block(block, experts) for block in blocks], ignore_index=True)
        return frame.sort_values(["horizon", "target_open_time_ms", "version"], ignore_index=True)

    def steps(self) -> pd.DataFrame:
        """The training steps of the run's model, ascending by candle and step."""
        frame = pd.DataFrame(
            self._undamaged_rows(STEPS, self.run.head_id, "candle_open_time_ms, step"), columns=list(STEPS.names)
        )
        frame["clipped"] = frame["clipped"].astype(bool)
        return frame.drop(columns=["id", "run", "checksum"])

    def checkpoints(self) -> pd.DataFrame:
        """The kept checkpoints of the run's model, ascending by their time."""
        infos = CheckpointRows(self._db).list(self.run.head_id)[::-1]
        frame = pd.DataFrame([checkpoint_row(info) + gain_row(info)[1:] for info in infos], columns=_CHECKPOINT_COLUMNS)
        return frame.rename(columns=NAMES_IN_EXPORTS)

    def _undamaged_rows(self, table: SealedTable, run_id: str, order: str) -> list[tuple[object, ...]]:
        sql = f"SELECT {table.select()} FROM {table.name} WHERE run = {RUN} ORDER BY {order}"
        return intact_rows(table, select(self._db, sql, (run_id,)), self._on_damage)

    def _on_damage(self, _table: SealedTable, _id: int) -> None:
        self.damaged_rows += 1


@contextmanager
def open_run(folder: Path, run_id: str | None = None) -> Iterator[RunData]:
    """Open a run of this data folder; the newest that has one without its id. Raises StorageError."""
    with closing(open_database(DataFolder(folder).database, readonly=True)) as db:
        yield RunData(db, RunStore(db).chosen(run_id))


def runs(folder: Path) -> list[Run]:
    """All runs of this data folder, the newest first. Raises StorageError."""
    with closing(open_database(DataFolder(folder).database, readonly=True)) as db:
        return RunStore(db).list()


def _forecast_frame(run_id: str, rows: Sequence[Row]) -> pd.DataFrame:
    """rows: undamaged ones of the table `forecasts`."""
    frame = pd.DataFrame(rows, columns=list(FORECASTS.names))
    horizons = frame.pop("horizons").to_numpy(dtype=np.int64)
    shapes, drawn = frame[["quantities", "levels"]], frame.pop("drawn")
    quantiles = [
        unpack_drawn(each, int(quantities), int(levels))
        for each, (quantities, levels) in zip(drawn, shapes.to_numpy(), strict=True)
    ]
    frame["mode"] = frame["mode"].map(MODE_OF).astype(str)
    stored_ids = (row[FORECASTS.names.index("checkpoint_id")] for row in rows)  # pandas 3 makes NaN of None in texts
    frame["checkpoint_id"] = [to_checkpoint_id(run_id, each) for each in stored_ids]
    frame = frame.drop(columns=["id", "run", "quantities", "levels", "digest", "checksum"])
    frame = frame.loc[frame.index.repeat(horizons)]
    frame.insert(1, "horizon", frame.groupby(level=0).cumcount() + 1)
    frame = frame.reset_index(drop=True)
    found = np.concatenate(quantiles) if quantiles else np.empty((0, QUANTITIES, len(QUANTILE_LEVELS)))
    medians = found[:, 1:, QUANTILE_LEVELS.index(0.5)]
    values = np.hstack([found[:, Quantity.CLOSE], medians])
    return pd.concat([frame, pd.DataFrame(values, columns=[*CLOSE_QUANTILES, *MEDIANS])], axis=1)


def expert_column(quantity: str, row: str) -> str:
    """The column of an expert's loss. quantity: close or range. row: from `ExpertList.loss_rows`."""
    return f"{quantity}_loss_{column_of(row)}"


def _of_block(block: ScoreBlock, experts: ExpertList) -> pd.DataFrame:
    records = block.records
    hits = records["direction_hit"]
    return pd.DataFrame(
        {
            "target_open_time_ms": block.target_open_time_ms,
            "origin_open_time_ms": records["origin_open_time_ms"].astype(np.int64),
            "horizon": records["horizon"].astype(np.int64),
            "version": block.version,
            "mode": [str(MODE_OF[number]) for number in records["mode"].tolist()],
            "after_gap": flag(records, "after_gap"),
            "inside_50": flag(records, "inside_50"),
            "inside_90": flag(records, "inside_90"),
            "direction_hit": pd.Series(hits == 1, dtype="boolean").mask(hits < 0),
            **{column: records[name].astype(np.float64) for column, name in _SHOWN.items()},
            **_expert_losses(block.losses, experts),
            "scored_at_ms": block.scored_at_ms,
        }
    )


def _expert_losses(packed: Sequence[bytes], experts: ExpertList) -> dict[str, NDArray[np.float64]]:
    """Losses of close and range, by column; NaN if the experts' losses are no longer stored."""
    rows = experts.loss_rows
    losses = np.full((len(packed), len(rows), QUANTITIES), np.nan)
    for place, each in enumerate(packed):
        known = unpack_losses(each)
        if known is not None and len(known) == len(rows):
            losses[place] = known
    return {
        expert_column(name, row): losses[:, number, quantity]
        for name, quantity in _BY_EXPERT.items()
        for number, row in enumerate(rows)
    }
