"""Past forecasts as columns equal what is stored row by row, and are found by an index."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlite_utils import Database

from core.storage.packing import pack_drawn, unpack_drawn
from core.storage.record_reader import RecordReader
from tests.core.storage.samples import HORIZONS, MINUTE_MS, create_run, forecast, open_record, score

ORIGINS = (3, 4, 5, 9, 10, 11, 12, 40)


def drawn(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """What lasts of them."""
    return unpack_drawn(pack_drawn(quantiles), *quantiles.shape[1:])


@pytest.fixture
def reader(db: Database) -> RecordReader:
    """Two runs over the same candles; the second's is read."""
    for seed in (1, 2):
        record = open_record(db, create_run(db))
        with record.write():
            for origin in ORIGINS:
                record.add_forecast(forecast(origin, seed=seed))
            record.add_scores(score(origin, horizon) for origin in ORIGINS for horizon in range(1, HORIZONS + 1))
    return record.reader


@pytest.mark.parametrize("horizon", [1, 2, HORIZONS])
def test_the_columns_equal_the_stored_rows(reader: RecordReader, horizon: int) -> None:
    first, stop = 6 * MINUTE_MS, 18 * MINUTE_MS
    rows = reader.past_forecasts(horizon, first, stop, 100)
    expected = [origin for origin in ORIGINS if first <= (origin + horizon) * MINUTE_MS < stop]
    assert len(rows) == len(expected) > 2
    for index, origin in enumerate(expected):
        ours = reader.forecast_of(origin * MINUTE_MS)
        (came,) = reader.score_versions((origin + horizon) * MINUTE_MS, horizon=horizon)
        assert ours is not None
        assert rows.target_open_time_ms[index] == came.target_open_time_ms
        assert rows.origin_open_time_ms[index] == ours.origin_open_time_ms
        assert (rows.made_at_ms[index], rows.step[index]) == (ours.made_at_ms, ours.step)
        assert rows.checkpoint_id[index] == ours.checkpoint_id
        assert rows.mode[index] is came.mode
        assert rows.origin_close[index] == ours.origin_close
        np.testing.assert_array_equal(rows.quantiles[index], drawn(ours.quantiles.shown)[horizon - 1])
        assert rows.before[index] == (0.0 if horizon == 1 else drawn(ours.quantiles.shown)[horizon - 2, 0, 3])
        flags = (rows.after_gap[index], rows.inside_50[index], rows.inside_90[index])
        assert flags == (came.after_gap, came.inside_50, came.inside_90)
        assert rows.direction_hit[index] == {None: -1, False: 0, True: 1}[came.direction_hit]


def test_the_row_limit_is_respected(reader: RecordReader) -> None:
    assert len(reader.past_forecasts(1, 0, 10**15, 3)) == 3
    assert len(reader.past_forecasts(1, 0, 10**15, 100)) == len(ORIGINS)


def test_without_scores_there_are_no_rows(reader: RecordReader) -> None:
    assert len(reader.past_forecasts(2, 20 * MINUTE_MS, 30 * MINUTE_MS, 100)) == 0
    assert len(reader.past_forecasts(1, 20 * MINUTE_MS, 30 * MINUTE_MS, 100)) == 0


def test_the_span_runs_from_the_first_to_the_last_target(reader: RecordReader, db: Database) -> None:
    assert reader.scored_span(2) == ((ORIGINS[0] + 2) * MINUTE_MS, (ORIGINS[-1] + 2) * MINUTE_MS)
    assert reader.scored_span(HORIZONS + 1) is None
    assert RecordReader(db, "no such run").scored_span(1) is None


@pytest.mark.parametrize("horizon", [1, 2])
def test_the_queries_use_an_index(reader: RecordReader, db: Database, horizon: int) -> None:
    asked: list[str] = []
    db.conn.set_trace_callback(asked.append)
    reader.past_forecasts(horizon, 0, 10**15, 50)
    reader.scored_span(horizon)
    reader.counts()
    reader.newest_scores(10**15, 3)
    db.conn.set_trace_callback(None)
    assert len(asked) > 8
    for sql in asked:
        plan = [str(row[3]) for row in db.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        scans = [step for step in plan if step.startswith("SCAN") and "CONSTANT" not in step and "subquery" not in step]
        assert not scans and not [step for step in plan if "TEMP B-TREE" in step], (sql, plan)
