"""Reads what a run's challengers cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database


def challenger_costs(db: Database, head_id: str) -> dict[str, float | None]:
    """Milliseconds a candle of each, for its forecasts and its steps; None before the first. Raises StorageError."""
    sql = (
        "SELECT name, cost_ms / NULLIF(candles, 0) FROM challengers "
        "WHERE run = (SELECT sequence FROM runs WHERE run_id = ?) ORDER BY place"
    )
    return {str(name): cost for name, cost in select(db, sql, (head_id,))}
