"""The step `bounded_record` of `migrations`: converts the record of old versions, one row per horizon, to new tables.

It runs inside their transaction, and reads `forecasts_before`, `scores_before` and `steps_before`. Rows that were
damaged before there were checksums, and make no sense, are left out and counted in the log.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.events import ForecastMode
from core.forecast.experts import Quantiles
from core.storage.checksums import Row, SealedTable
from core.storage.migrations import Progress, run_script
from core.storage.record_tables import DETAILS, FORECASTS, FURTHER_SCORES, SCORES, STEPS
from core.storage.records import StoredForecast, StoredScore
from core.storage.rows import forecast_values, score_values

if TYPE_CHECKING:
    from sqlite_utils import Database

_AT_ONCE = 500
_FORECAST_COLUMNS, _SCORE_COLUMNS, _STEP_COLUMNS = 14, 8, 13
"""The number of columns at this step of the schema, without those added later."""
_FORECASTS = "SELECT * FROM forecasts_before WHERE run_id = ? ORDER BY origin_open_time_ms, horizon"
_SCORES = """
SELECT * FROM scores_before WHERE run_id = ? AND (horizon = 1) = ? ORDER BY target_open_time_ms, version, horizon
"""
_TABLES = ("forecasts", "scores", "steps")
_STEPS = "SELECT * FROM steps_before WHERE run_id = ? ORDER BY candle_open_time_ms, step"
_BY_TARGET = "CREATE INDEX scores_before_by_target ON scores_before (run_id, target_open_time_ms, version, horizon)"
_log = logging.getLogger("ghostcandle")

_TELL_EVERY = 1_000
_Rows = Iterator[sqlite3.Row]
_Converted = tuple[Sequence[object], bytes | None]
"""A row's values, and its detail."""

# Like all SQL of the schema's steps, this is never edited; later steps add to it.
_RENAME_FORMER = """
DROP TRIGGER forecasts_stay;
DROP TRIGGER scores_stay;
DROP INDEX scores_by_target;
ALTER TABLE scores RENAME TO scores_before;
ALTER TABLE forecasts RENAME TO forecasts_before;
ALTER TABLE steps RENAME TO steps_before;
"""

# `checksum`: see `core.storage.checksums`. run: the run's sequence. drawn, records, arrays: `packing`. A detail
# has the id of its row, and is deleted with age (`record_thinning`). The rest is final.
_SCORE_TABLE = """
CREATE TABLE {name} (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    target_open_time_ms INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    mode INTEGER NOT NULL,
    after_gap INTEGER NOT NULL,
    scored_at_ms INTEGER NOT NULL,
    form INTEGER NOT NULL,
    records BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run, target_open_time_ms, version)
) STRICT;
CREATE TABLE {detail} (id INTEGER PRIMARY KEY, losses BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TRIGGER {name}_stay BEFORE UPDATE ON {name}
BEGIN
    SELECT RAISE(ABORT, 'a stored score is never rewritten');
END;
"""
_BOUNDED_RECORD = f"""
CREATE TABLE forecasts (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    origin_open_time_ms INTEGER NOT NULL,
    inputs_until_ms INTEGER NOT NULL,
    made_at_ms INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    checkpoint_id TEXT,
    origin_close REAL NOT NULL,
    scale REAL NOT NULL,
    horizons INTEGER NOT NULL CHECK (horizons >= 1),
    quantities INTEGER NOT NULL,
    levels INTEGER NOT NULL,
    drawn BLOB NOT NULL,
    digest BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run, origin_open_time_ms)
) STRICT;
CREATE TABLE forecast_details (id INTEGER PRIMARY KEY, arrays BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TRIGGER forecasts_stay BEFORE UPDATE ON forecasts
BEGIN
    SELECT RAISE(ABORT, 'a stored forecast is never rewritten');
END;
{_SCORE_TABLE.format(name="scores", detail="score_details")}
{_SCORE_TABLE.format(name="further_scores", detail="further_score_details")}
CREATE INDEX scores_by_mode ON scores (run, version, mode, after_gap, target_open_time_ms);
CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    candle_open_time_ms INTEGER NOT NULL,
    step INTEGER NOT NULL,
    loss REAL,
    prequential_loss REAL,
    gradient_norm REAL,
    clipped INTEGER NOT NULL,
    learning_rate REAL NOT NULL,
    clip_norm REAL NOT NULL,
    samples INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    at_ms INTEGER NOT NULL,
    skipped_because TEXT,
    checksum INTEGER NOT NULL,
    UNIQUE (run, candle_open_time_ms, step)
) STRICT;
CREATE TABLE step_details (id INTEGER PRIMARY KEY, gradients BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
"""


def convert(db: Database, on_progress: Progress) -> None:
    """Make the tables and copy all rows, run by run, by time. on_progress: called with the rows read so far and their
    total."""
    run_script(db, _RENAME_FORMER + _BOUNDED_RECORD)
    db.conn.execute(_BY_TARGET)
    before = _Before(db, on_progress)
    for run, run_id in db.conn.execute("SELECT sequence, run_id FROM runs ORDER BY sequence").fetchall():

        def forecasts(rows: list[sqlite3.Row], run: int = run, run_id: str = run_id) -> _Converted:
            values, exact = forecast_values(run_id, run, _forecast(rows))
            return values[:_FORECAST_COLUMNS], exact

        def scores(rows: list[sqlite3.Row], run: int = run) -> _Converted:
            return score_values(run, [_score(row) for row in rows])

        def steps(rows: list[sqlite3.Row], run: int = run) -> _Converted:
            values = (run, *(rows[0][name] for name, _ in STEPS.columns[1:_STEP_COLUMNS]))
            return values, rows[0]["gradients"]

        by_origin = groupby(before.read(_FORECASTS, run_id), itemgetter("origin_open_time_ms"))
        _copy(db, FORECASTS, _FORECAST_COLUMNS, by_origin, forecasts)
        for table, is_first in ((SCORES, True), (FURTHER_SCORES, False)):
            by_target = groupby(before.read(_SCORES, run_id, is_first), itemgetter("target_open_time_ms", "version"))
            _copy(db, table, _SCORE_COLUMNS, by_target, scores)
        by_step = groupby(before.read(_STEPS, run_id), itemgetter("candle_open_time_ms", "step"))
        _copy(db, STEPS, _STEP_COLUMNS, by_step, steps)
    run_script(db, "DROP TABLE scores_before; DROP TABLE forecasts_before; DROP TABLE steps_before;")


def _copy(
    db: Database,
    table: SealedTable,
    columns: int,
    groups: Iterable[tuple[object, _Rows]],
    to_row: Callable[[list[sqlite3.Row]], _Converted],
) -> None:
    """Convert each group of old rows to one row and its detail."""
    then, detail = SealedTable(table.name, table.columns[:columns]), DETAILS[table]
    number = int(db.conn.execute(f"SELECT COALESCE(MAX(id), 0) FROM {table.name}").fetchone()[0])
    rows: list[Row] = []
    details: list[Row] = []
    left_out = 0
    for _, group in groups:
        try:
            values, data = to_row(list(group))
        except (ValueError, TypeError, OverflowError):
            left_out += 1
            continue
        number += 1
        rows.append(then.seal(number, values))
        if data:
            details.append(detail.seal(number, (data,)))
        if len(rows) >= _AT_ONCE:
            _write(db, ((then, rows), (detail, details)))
    _write(db, ((then, rows), (detail, details)))
    if left_out:
        _log.warning("%d rows of the table %s were damaged, and were left out.", left_out, table.name)


def _write(db: Database, made: Iterable[tuple[SealedTable, list[Row]]]) -> None:
    for table, rows in made:
        db.conn.executemany(table.insert, rows)
        rows.clear()


class _Before:
    """Reads the old tables, and reports progress."""

    def __init__(self, db: Database, on_progress: Progress) -> None:
        self._db, self._on_progress, self._done = db, on_progress, 0
        counts = (db.conn.execute(f"SELECT COUNT(*) FROM {name}_before").fetchone()[0] for name in _TABLES)
        self._total = sum(int(count) for count in counts)

    def read(self, sql: str, *values: object) -> _Rows:
        cursor = self._db.conn.cursor()
        cursor.row_factory = sqlite3.Row
        for row in cursor.execute(sql, values):
            yield row
            self._done += 1
            if self._done % _TELL_EVERY == 0:
                self._on_progress(self._done, self._total)


_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (StoredForecast, StoredScore)}


def _forecast(rows: Sequence[sqlite3.Row]) -> StoredForecast:
    """Of its horizons. Raises ValueError if one is missing or makes no sense."""
    if [row["horizon"] for row in rows] != list(range(1, len(rows) + 1)):
        raise ValueError("a forecast has all its horizons")
    modes = [ForecastMode(row["mode"]) for row in rows]
    shapes = [(row["expert_count"], row["quantity_count"], row["level_count"]) for row in rows]
    pairs = list(zip(rows, shapes, strict=True))
    shown = np.stack([np.frombuffer(row["quantiles"], "<f8").reshape(shape[1:]) for row, shape in pairs])
    experts = np.stack([np.frombuffer(row["experts"], "<f8").reshape(shape) for row, shape in pairs], axis=1)
    return StoredForecast(
        **_fields_of(StoredForecast, rows[0]) | {"mode": modes[0], "quantiles": Quantiles(shown, experts)}
    )


def _score(row: sqlite3.Row) -> StoredScore:
    hit = row["direction_hit"]
    flags = {name: bool(row[name]) for name in ("after_gap", "inside_50", "inside_90")}
    judged = {"mode": ForecastMode(row["mode"]), "direction_hit": None if hit is None else bool(hit)}
    return StoredScore(**_fields_of(StoredScore, row) | flags | judged)


def _fields_of(kind: type[StoredForecast | StoredScore], row: sqlite3.Row) -> dict[str, Any]:
    stored = row.keys()
    return {name: row[name] for name in _NAMES[kind] if name in stored}
