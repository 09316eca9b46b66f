"""The user's price lines, by market; all intervals of a symbol share them. Written by the window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.domain.price_lines import Direction, KnownCandle, LineKind, PriceLine
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.rows import Row

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = """
id, kind, price, text, direction, created_at_ms, watched_from_ms, crossed_at_ms, crossed_within_ms,
is_armed, known_open_time_ms, known_low, known_high"""
_PUT = f"""
INSERT INTO chart_lines (venue, symbol, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET price = excluded.price, text = excluded.text, direction = excluded.direction,
    watched_from_ms = excluded.watched_from_ms, crossed_at_ms = excluded.crossed_at_ms,
    crossed_within_ms = excluded.crossed_within_ms, is_armed = excluded.is_armed,
    known_open_time_ms = excluded.known_open_time_ms, known_low = excluded.known_low, known_high = excluded.known_high
"""


class ChartLineStore:
    """All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, venue: str, symbol: str) -> list[PriceLine]:
        """A market's lines, in the order of creation."""
        sql = f"SELECT {_COLUMNS} FROM chart_lines WHERE venue = ? AND symbol = ? ORDER BY created_at_ms, id"
        return [_to_line(row, symbol) for row in select(self._db, sql, (venue, symbol))]

    def armed(self) -> dict[tuple[str, str], tuple[PriceLine, ...]]:
        """The armed alerts, by venue and symbol."""
        sql = f"SELECT venue, symbol, {_COLUMNS} FROM chart_lines WHERE kind = 'alert' AND is_armed ORDER BY id"
        found: dict[tuple[str, str], tuple[PriceLine, ...]] = {}
        for venue, symbol, *row in select(self._db, sql):
            key = (str(venue), str(symbol))
            found[key] = (*found.get(key, ()), _to_line(tuple(row), key[1]))
        return found

    def put(self, venue: str, symbol: str, line: PriceLine) -> PriceLine:
        """Store a new line, or replace the one with the same number; a removed one is restored under its number.

        Returns it with its number.
        """
        with write(self._db):
            cursor = self._db.conn.execute(_PUT, (venue, symbol, *_row(line)))
        number = cursor.lastrowid if line.number is None else line.number
        return replace(line, number=number)

    def remove(self, number: int) -> None:
        """Remove a line. A missing one is not an error."""
        with write(self._db):
            self._db.conn.execute("DELETE FROM chart_lines WHERE id = ?", (number,))


def _row(line: PriceLine) -> Row:
    return (
        line.number,
        line.kind.value,
        line.price,
        line.text,
        line.direction.value,
        line.created_at_ms,
        line.watched_from_ms,
        line.crossed_at_ms,
        line.crossed_within_ms,
        int(line.is_armed),
        *((None, None, None) if line.known is None else (line.known.open_time_ms, line.known.low, line.known.high)),
    )


def _to_line(row: Row, symbol: str) -> PriceLine:
    try:
        return _line(row)
    except ValueError as error:  # another program wrote it
        raise StorageError(f"The lines of {symbol} cannot be read: {error}.") from error


def _line(row: Row) -> PriceLine:
    number, kind, price, text, direction, created, watched_from, crossed, within, is_armed, *known = row
    return PriceLine(
        price=float(price),
        kind=LineKind(kind),
        text=str(text),
        direction=Direction(direction),
        created_at_ms=int(created),
        watched_from_ms=int(watched_from),
        crossed_at_ms=None if crossed is None else int(crossed),
        crossed_within_ms=None if within is None else int(within),
        is_armed=bool(is_armed),
        number=int(number),
        known=None if None in known else KnownCandle(int(known[0]), float(known[1]), float(known[2])),
    )
