"""Past forecasts in blocks, as columns: what hindsight on the chart reads. Each query follows an index, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.events import QUANTILE_LEVELS, ForecastMode
from core.storage.records import PastRows
from core.storage.rows import FLOAT, Row

NEWEST_VERSION = """NOT EXISTS (
    SELECT 1 FROM scores AS later
    WHERE later.run_id = s.run_id AND later.horizon = s.horizon
    AND later.origin_open_time_ms = s.origin_open_time_ms AND later.version > s.version
)"""
"""Of the scores `s`, those that no correction has followed."""

PAST_SQL = f"""
SELECT s.target_open_time_ms, s.origin_open_time_ms, f.made_at_ms, f.step, s.mode, f.checkpoint_id, f.origin_close,
    f.quantiles, p.quantiles, s.after_gap, s.inside_50, s.inside_90, s.direction_hit, f.level_count
FROM scores AS s
CROSS JOIN forecasts AS f
    ON f.run_id = s.run_id AND f.origin_open_time_ms = s.origin_open_time_ms AND f.horizon = s.horizon
LEFT JOIN forecasts AS p
    ON p.run_id = s.run_id AND p.origin_open_time_ms = s.origin_open_time_ms AND p.horizon = s.horizon - 1
WHERE s.run_id = ? AND s.horizon = ? AND s.target_open_time_ms >= ? AND s.target_open_time_ms < ?
AND {NEWEST_VERSION}
ORDER BY s.target_open_time_ms
LIMIT ?
"""
"""Run, horizon, first and stop of the targets, most rows. CROSS JOIN: the scores are the outer loop."""

_SPAN = "SELECT {}(target_open_time_ms) FROM scores WHERE run_id = ?1 AND horizon = ?2"
SPAN_SQL = f"SELECT ({_SPAN.format('MIN')}), ({_SPAN.format('MAX')})"
"""Run, horizon. Two subqueries, because SQLite takes one end of an index at a time."""

# A target that was scored at all was scored one step ahead.
CORRECTIONS_SQL = """
SELECT c.id, c.open_time_ms FROM runs CROSS JOIN candle_corrections AS c
    ON c.market_id = runs.market_id AND c.id > runs.corrections_taken
WHERE runs.run_id = ?1 AND EXISTS (
    SELECT 1 FROM scores AS s WHERE s.run_id = ?1 AND s.horizon = 1 AND s.target_open_time_ms = c.open_time_ms
)
ORDER BY c.id
LIMIT ?2
"""
"""Run, most rows."""

NEWEST_CORRECTION_SQL = """
SELECT COALESCE(MAX(c.id), 0) FROM runs JOIN candle_corrections AS c ON c.market_id = runs.market_id
WHERE runs.run_id = ?
"""
"""Run."""

_MEDIAN = QUANTILE_LEVELS.index(0.5)


def to_past_rows(rows: Sequence[Row]) -> PastRows:
    """The rows of `PAST_SQL`, as columns."""
    if not rows:
        return _past_rows([()] * 13, np.empty((0, 1, len(QUANTILE_LEVELS))), np.empty(0))
    *columns, levels = zip(*rows, strict=True)
    count, width = len(rows), levels[0]
    quantiles = np.frombuffer(b"".join(columns[7]), FLOAT).reshape(count, -1, width)
    return _past_rows(columns, quantiles, _medians_before(columns[8]))


def _medians_before(blobs: Sequence[bytes | None]) -> NDArray[np.float64]:
    """The close is the first quantity, so its median stands near the start of each array; horizon 1 has none before."""
    nothing = np.full(_MEDIAN + 1, np.nan, dtype=FLOAT).tobytes()
    size = len(nothing)
    heads = b"".join(nothing if blob is None else blob[:size] for blob in blobs)
    return np.frombuffer(heads, FLOAT).reshape(-1, _MEDIAN + 1)[:, _MEDIAN]


def _past_rows(
    columns: Sequence[Sequence[Any]], quantiles: NDArray[np.float64], before: NDArray[np.float64]
) -> PastRows:
    target, origin, made_at, step, mode, checkpoint_id, origin_close, _, _, after_gap, in_50, in_90, hit = columns
    return PastRows(
        target_open_time_ms=np.array(target, dtype=np.int64),
        origin_open_time_ms=np.array(origin, dtype=np.int64),
        made_at_ms=np.array(made_at, dtype=np.int64),
        step=np.array(step, dtype=np.int64),
        mode=tuple(ForecastMode(name) for name in mode),
        checkpoint_id=tuple(checkpoint_id),
        origin_close=np.array(origin_close, dtype=np.float64),
        quantiles=quantiles,
        before=before,
        after_gap=np.array(after_gap, dtype=np.bool_),
        inside_50=np.array(in_50, dtype=np.bool_),
        inside_90=np.array(in_90, dtype=np.bool_),
        direction_hit=np.array([-1 if each is None else each for each in hit], dtype=np.int8),
    )
