"""The user's price lines and drawings on a market's chart, and the fired alerts on ghosts. Written by the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from core.domain.drawings import MOST_DRAWINGS, Anchor, Drawing, DrawingKind, text_of
from core.domain.price_lines import Direction, KnownCandle, LineKind, PriceLine
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.rows import Row

if TYPE_CHECKING:
    from sqlite_utils import Database

Placed = TypeVar("Placed", PriceLine, Drawing)
_FINAL = ("id", "kind", "created_at_ms")
"""Columns that no later `put` changes."""
_LINE_FIELDS = (
    *("kind", "price", "text", "direction", "created_at_ms", "watched_from_ms", "crossed_at_ms"),
    *("crossed_within_ms", "is_armed"),
)
"""Columns with the names of fields of `PriceLine`."""
_PUT_ALERT = """
INSERT INTO ghost_alerts (name, state, changed_at_ms) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET state = excluded.state, changed_at_ms = excluded.changed_at_ms
"""


class _PlacedStore(Generic[Placed]):
    """A table of them, by market; all intervals of a symbol share them. All methods raise StorageError."""

    table: str
    columns: tuple[str, ...]
    words: str
    """Their name in a sentence, before the symbol."""
    most = -1
    """Read of a market; -1: all."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, venue: str, symbol: str, placed: Placed) -> Placed:
        """Store a new one, or replace the one with the same number; a removed one is restored under its number.
        Returns it with its number.
        """
        values = (venue, symbol, *self._row(placed))
        changed = ", ".join(f"{column} = excluded.{column}" for column in self.columns if column not in _FINAL)
        sql = f"INSERT INTO {self.table} (venue, symbol, {self._names}) VALUES ({', '.join('?' * len(values))})"
        with write(self._db):
            cursor = self._db.conn.execute(f"{sql} ON CONFLICT (id) DO UPDATE SET {changed}", values)
        number = cursor.lastrowid if placed.number is None else placed.number
        return replace(placed, number=number)

    def remove(self, number: int) -> None:
        with write(self._db):
            self._db.conn.execute(f"DELETE FROM {self.table} WHERE id = ?", (number,))

    def list(self, venue: str, symbol: str) -> list[Placed]:
        sql = f"SELECT {self._names} FROM {self.table} WHERE venue = ? AND symbol = ? ORDER BY id"
        return [self._read(row, symbol) for row in select(self._db, f"{sql} LIMIT ?", (venue, symbol, self.most))]

    def _read(self, row: Row, symbol: str) -> Placed:
        try:
            return self._placed(row)
        except ValueError as error:  # another program wrote it
            raise StorageError(f"The {self.words} {symbol} cannot be read: {error}.") from error

    def _row(self, placed: Placed) -> Row:
        """Its values, in the order of the columns."""
        raise NotImplementedError

    def _placed(self, row: Row) -> Placed:
        """The inverse. Raises ValueError."""
        raise NotImplementedError

    @property
    def _names(self) -> str:
        return ", ".join(self.columns)


class ChartLineStore(_PlacedStore[PriceLine]):
    """Alerts and notes at prices."""

    table, words = "chart_lines", "lines of"
    columns = ("id", *_LINE_FIELDS, "known_open_time_ms", "known_low", "known_high")

    def armed(self) -> dict[tuple[str, str], tuple[PriceLine, ...]]:
        sql = f"SELECT venue, symbol, {self._names} FROM chart_lines WHERE kind = 'alert' AND is_armed ORDER BY id"
        found: dict[tuple[str, str], tuple[PriceLine, ...]] = {}
        for venue, symbol, *row in select(self._db, sql):
            key = (str(venue), str(symbol))
            found[key] = (*found.get(key, ()), self._read(tuple(row), key[1]))
        return found

    def _row(self, placed: PriceLine) -> Row:
        seen = placed.known
        known = (None, None, None) if seen is None else (seen.open_time_ms, seen.low, seen.high)
        return (placed.number, *attrgetter(*_LINE_FIELDS)(placed), *known)

    def _placed(self, row: Row) -> PriceLine:
        number, *own = row[:-3]
        values = dict(zip(_LINE_FIELDS, own, strict=True))
        values |= {"kind": LineKind(values["kind"]), "direction": Direction(values["direction"])}
        values["is_armed"] = bool(values["is_armed"])
        known = None if None in row[-3:] else KnownCandle(*row[-3:])
        return PriceLine(**values, number=number, known=known)


class DrawingStore(_PlacedStore[Drawing]):
    """Trend lines, rectangles, texts and the like."""

    table, words, most = "drawings", "drawings on", MOST_DRAWINGS
    columns = (
        *("id", "kind", "start_ms", "start_price", "end_ms", "end_price", "text", "colour", "width_px"),
        "created_at_ms",
    )

    def _row(self, placed: Drawing) -> Row:
        start, *more = placed.anchors
        end = (more[0].time_ms, more[0].price) if more else (None, None)
        style = placed.text or _third_as_text(more[1:]), placed.colour, placed.width_px
        return (placed.number, placed.kind, start.time_ms, start.price, *end, *style, placed.created_at_ms)

    def _placed(self, row: Row) -> Drawing:
        number, kind, start_ms, start_price, end_ms, end_price, text, colour, width_px, created_at_ms = row
        anchors = [Anchor(start_ms, start_price)]
        if end_ms is not None and end_price is not None:
            anchors.append(Anchor(end_ms, end_price))
        if DrawingKind(kind).anchors == 3:
            anchors, text = [*anchors, _third_of(text)], ""
        return Drawing(DrawingKind(kind), tuple(anchors), text_of(text), colour, width_px, created_at_ms, number)


def _third_as_text(anchors: Sequence[Anchor]) -> str:
    """A third anchor, for the column of texts: the table has columns for two, and such drawings have no text."""
    return "".join(f"{anchor.time_ms} {anchor.price!r}" for anchor in anchors)


def _third_of(text: str) -> Anchor:
    """The inverse. Raises ValueError."""
    time_ms, price = text.split()
    return Anchor(int(time_ms), float(price))


class GhostAlertStore:
    """States of alerts on ghosts, so that each fires once, also across restarts. All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def states(self) -> dict[str, str]:
        """States of alerts by their names."""
        return {str(name): str(state) for name, state in select(self._db, "SELECT name, state FROM ghost_alerts")}

    def put(self, name: str, state: str, at_ms: int) -> None:
        with write(self._db):
            self._db.conn.execute(_PUT_ALERT, (name, state, at_ms))

    def remove(self, names: Iterable[str]) -> None:
        with write(self._db):
            self._db.conn.executemany("DELETE FROM ghost_alerts WHERE name = ?", [(name,) for name in names])
