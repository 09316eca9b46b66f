"""The user's drawings, by market; all intervals of a symbol share them. Written by the window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.domain.drawings import MOST_DRAWINGS, Anchor, Drawing, DrawingKind, text_of
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.rows import Row

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = "id, kind, start_ms, start_price, end_ms, end_price, text, colour, width_px, created_at_ms"
_PUT = f"""
INSERT INTO drawings (venue, symbol, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET start_ms = excluded.start_ms, start_price = excluded.start_price, end_ms = excluded.end_ms,
    end_price = excluded.end_price, text = excluded.text, colour = excluded.colour, width_px = excluded.width_px
"""


class DrawingStore:
    """All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, venue: str, symbol: str) -> list[Drawing]:
        """A market's drawings, in the order of creation."""
        sql = f"SELECT {_COLUMNS} FROM drawings WHERE venue = ? AND symbol = ? ORDER BY created_at_ms, id LIMIT ?"
        rows = select(self._db, sql, (venue, symbol, MOST_DRAWINGS))
        try:
            return [_to_drawing(row) for row in rows]
        except ValueError as error:  # another program wrote it
            raise StorageError(f"The drawings on {symbol} cannot be read: {error}.") from error

    def put(self, venue: str, symbol: str, drawing: Drawing) -> Drawing:
        """Store a new drawing, or replace the one with the same number; a removed one is restored under its number.

        Returns it with its number.
        """
        with write(self._db):
            cursor = self._db.conn.execute(_PUT, (venue, symbol, *_row(drawing)))
        number = cursor.lastrowid if drawing.number is None else drawing.number
        return replace(drawing, number=number)

    def remove(self, number: int) -> None:
        """Remove a drawing. A missing one is not an error."""
        with write(self._db):
            self._db.conn.execute("DELETE FROM drawings WHERE id = ?", (number,))


def _row(drawing: Drawing) -> Row:
    start, *more = drawing.anchors
    end = (more[0].time_ms, more[0].price) if more else (None, None)
    return (
        drawing.number,
        drawing.kind.value,
        start.time_ms,
        start.price,
        *end,
        drawing.text,
        drawing.colour,
        drawing.width_px,
        drawing.created_at_ms,
    )


def _to_drawing(row: Row) -> Drawing:
    number, kind, start_ms, start_price, end_ms, end_price, text, colour, width_px, created_at_ms = row
    anchors = [Anchor(int(start_ms), float(start_price))]
    if end_ms is not None and end_price is not None:
        anchors.append(Anchor(int(end_ms), float(end_price)))
    return Drawing(
        kind=DrawingKind(kind),
        anchors=tuple(anchors),
        text=text_of(str(text)),
        colour=str(colour),
        width_px=int(width_px),
        created_at_ms=int(created_at_ms),
        number=int(number),
    )
