"""Ids of markets in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.candle import SIMULATED_VENUE, Interval, Market
from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database

_LAST_SIMULATED = """
SELECT venue, symbol, interval_ms FROM markets LEFT JOIN runs ON runs.market_id = markets.id AND fence > 0
WHERE venue = ? AND (fence > 0 OR EXISTS (SELECT 1 FROM candles WHERE candles.market_id = markets.id))
ORDER BY max(
    runs.created_at_ms,
    coalesce((SELECT max(created_at_ms) FROM checkpoints WHERE checkpoints.run_id = runs.run_id), 0)
) DESC, runs.sequence DESC, markets.id DESC LIMIT 1
"""
"""Imported runs had no trainer here; markets with candles but without a run come after all runs."""

_WITH_CANDLES = """
SELECT venue, symbol, interval_ms FROM markets
WHERE EXISTS (SELECT 1 FROM candles WHERE candles.market_id = markets.id) ORDER BY id DESC
"""


def find_market(db: Database, market: Market) -> int | None:
    """The market's id, or None if nothing was stored for it."""
    rows = select(db, "SELECT id FROM markets WHERE venue = ? AND symbol = ? AND interval_ms = ?", _key(market))
    return int(rows[0][0]) if rows else None


def add_market(db: Database, market: Market) -> int:
    """The market's id, created if necessary. To be called inside `write`."""
    insert = "INSERT INTO markets (venue, symbol, interval_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    db.conn.execute(insert, _key(market))
    number = find_market(db, market)
    assert number is not None
    return number


def last_simulated(db: Database) -> Market | None:
    """The simulated market trained on last, else one with candles; None if there is none."""
    rows = select(db, _LAST_SIMULATED, (SIMULATED_VENUE,))
    return market_of(*rows[0]) if rows else None


def with_candles(db: Database) -> tuple[Market, ...]:
    """All markets with stored candles, newest first. Raises StorageError."""
    return tuple(market_of(*row) for row in select(db, _WITH_CANDLES, ()))


def market_of(venue: str, symbol: str, interval_ms: int) -> Market:
    return Market(venue, symbol, Interval(interval_ms))


def _key(market: Market) -> tuple[str, str, int]:
    return market.venue, market.symbol, market.interval.duration_ms
