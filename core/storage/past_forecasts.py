"""Past forecasts in blocks, as columns, for hindsight on the chart. Each query uses an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from core.storage.database import select
from core.storage.packed_scores import MODE_OF, flag, unpack_scores
from core.storage.record_tables import RUN, scores_at
from core.storage.records import PastRows
from core.storage.score_blocks import BlockReader

if TYPE_CHECKING:
    from sqlite_utils import Database

_LOOKED_THROUGH = 64
"""Targets at either end of the record, where the first and last few have no scores at long horizons."""

# Every scored target has a score one step ahead.
CORRECTIONS_SQL = """
SELECT c.id, c.open_time_ms FROM runs CROSS JOIN candle_corrections AS c
    ON c.market_id = runs.market_id AND c.id > runs.corrections_taken
WHERE runs.run_id = ? AND EXISTS (
    SELECT 1 FROM scores AS s WHERE s.run = runs.sequence AND s.target_open_time_ms = c.open_time_ms
)
ORDER BY c.id
LIMIT ?
"""
"""Run, most rows."""

NEWEST_CORRECTION_SQL = """
SELECT COALESCE(MAX(c.id), 0) FROM runs JOIN candle_corrections AS c ON c.market_id = runs.market_id
WHERE runs.run_id = ?
"""
"""Run."""


def read_past(reader: BlockReader, horizon: int, first_ms: int, stop_ms: int, most: int) -> PastRows:
    """At most `most` targets that open in first_ms..stop_ms - 1. Raises StorageError."""
    block = reader.scores(scores_at(horizon), first_ms, stop_ms - 1, with_losses=False).at(horizon).newest
    block = block.taken(np.arange(len(block)) < most)
    block, made = reader.with_forecasts(block)
    records = block.records
    return PastRows(
        target_open_time_ms=block.target_open_time_ms,
        origin_open_time_ms=records["origin_open_time_ms"].astype(np.int64),
        made_at_ms=made.integers("made_at_ms"),
        step=made.integers("step"),
        mode=tuple(MODE_OF[number] for number in records["mode"].tolist()),
        checkpoint_id=made.checkpoint_id,
        origin_close=made.origin_close,
        quantiles=made.quantiles,
        before=made.before,
        after_gap=flag(records, "after_gap"),
        inside_50=flag(records, "inside_50"),
        inside_90=flag(records, "inside_90"),
        direction_hit=records["direction_hit"].astype(np.int8),
    )


def read_span(db: Database, run_id: str, horizon: int) -> tuple[int, int] | None:
    """Opening times of the first and the last target scored at this horizon. Raises StorageError."""
    ends = [_end(db, run_id, horizon, order) for order in ("ASC", "DESC")]
    return None if None in ends else cast("tuple[int, int]", tuple(ends))


def _end(db: Database, run_id: str, horizon: int, order: str) -> int | None:
    sql = (
        f"SELECT target_open_time_ms, form, records FROM {scores_at(horizon).name} WHERE run = {RUN} "
        f"ORDER BY target_open_time_ms {order} LIMIT ?"
    )
    for target, form, packed in select(db, sql, (run_id, _LOOKED_THROUGH)):
        if horizon in unpack_scores([(form, packed)])["horizon"]:
            return int(target)
    return None
