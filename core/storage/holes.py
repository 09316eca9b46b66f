"""Missing candles of a market, and those that its exchange is known not to have."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Market
from core.domain.spans import TimeSpan
from core.storage.database import select, translated, write
from core.storage.markets import add_market, find_market, raise_history_version

if TYPE_CHECKING:
    from sqlite_utils import Database

_ENDS = "SELECT MIN(open_time_ms), MAX(open_time_ms) FROM candles WHERE market_id = ? AND open_time_ms BETWEEN ? AND ?"
_GAPS = """
SELECT open_time_ms, next_ms FROM (
    SELECT open_time_ms, LEAD(open_time_ms) OVER (ORDER BY open_time_ms) AS next_ms
    FROM candles WHERE market_id = ? AND open_time_ms BETWEEN ? AND ?
) WHERE next_ms - open_time_ms > ?
"""
_ADD = """
INSERT INTO exchange_holes (market_id, first_ms, stop_ms, asked_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (market_id, first_ms) DO UPDATE
SET stop_ms = MAX(stop_ms, excluded.stop_ms), asked_at_ms = excluded.asked_at_ms
"""
_KNOWN = "SELECT first_ms, stop_ms FROM exchange_holes WHERE market_id = ? AND stop_ms > ? AND first_ms < ?"
_SPAN = np.dtype([("first_ms", np.int64), ("stop_ms", np.int64)])
_AFTER_ALL_MS = 2**63 - 1


class HoleStore:
    """All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def missing(self, market: Market, span: TimeSpan) -> list[TimeSpan]:
        """The gaps in the stored candles, ascending. The span begins and ends on the market's grid."""
        market_id = find_market(self._db, market)
        within = (market_id, span.first_ms, span.stop_ms - 1)
        first_ms, last_ms = select(self._db, _ENDS, within)[0]
        if first_ms is None:
            return [span]
        step_ms = market.interval.duration_ms
        gaps = select(self._db, _GAPS, (*within, step_ms))
        found = [TimeSpan(before_ms + step_ms, after_ms) for before_ms, after_ms in gaps]
        ends = (TimeSpan(span.first_ms, first_ms), TimeSpan(last_ms + step_ms, span.stop_ms))
        return sorted(part for part in (*found, *ends) if part.stop_ms > part.first_ms)

    def add_of_exchange(
        self, market: Market, holes: Sequence[TimeSpan], asked_at_ms: int, *, is_history: bool = False
    ) -> None:
        """Record, in one transaction, that the exchange does not have these candles.

        is_history: requested by a command, not by the feed, which notifies the window itself."""
        if not holes:
            return
        with write(self._db):
            market_id = add_market(self._db, market)
            if is_history:
                raise_history_version(self._db, market_id)
            rows = ((market_id, hole.first_ms, hole.stop_ms, asked_at_ms) for hole in holes)
            self._db.conn.executemany(_ADD, rows)

    def of_exchange(self, market: Market, span: TimeSpan) -> list[TimeSpan]:
        """The known holes of the exchange that touch the span, ascending; they may overlap."""
        rows = select(self._db, _KNOWN, (find_market(self._db, market), span.first_ms, span.stop_ms))
        return sorted(TimeSpan(*row) for row in rows)

    def of_exchange_from(self, market: Market, first_ms: int) -> NDArray[np.int64]:
        """The known holes that end after a time, as an array of first and stop, shape (n, 2)."""
        values = (find_market(self._db, market), first_ms, _AFTER_ALL_MS)
        with translated(self._db), closing(self._db.conn.execute(_KNOWN, values)) as cursor:
            rows = np.fromiter(cursor, dtype=_SPAN)
        return np.stack([rows["first_ms"], rows["stop_ms"]], axis=1)
