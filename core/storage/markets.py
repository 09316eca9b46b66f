"""Ids of markets in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.candle import Interval, Market
from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database


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


def raise_history_version(db: Database, market_id: int) -> None:
    """Let a window know that history of this market was stored. To be called inside `write`."""
    db.conn.execute("UPDATE markets SET history_version = history_version + 1 WHERE id = ?", (market_id,))


def history_versions(db: Database) -> dict[Market, int]:
    """How often history of each market was stored. Raises StorageError."""
    rows = select(db, "SELECT venue, symbol, interval_ms, history_version FROM markets")
    return {market_of(*named): int(version) for *named, version in rows}


def market_of(venue: str, symbol: str, interval_ms: int) -> Market:
    return Market(venue, symbol, Interval(interval_ms))


def _key(market: Market) -> tuple[str, str, int]:
    return market.venue, market.symbol, market.interval.duration_ms
