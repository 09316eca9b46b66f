"""Closed candles on disk. Who writes them: `core.storage.schema`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import astuple, dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import SIMULATED_VENUE, Candle, Inside, Market
from core.domain.candle_faults import number_faults, problem_of_numbers
from core.storage.database import select, translated, write
from core.storage.markets import add_market, find_market, market_of, raise_history_version

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = "open_time_ms, open, high, low, close, volume"
_UPSERT = f"""
INSERT INTO candles (market_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (market_id, open_time_ms) DO UPDATE
SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close, volume = excluded.volume
WHERE (open, high, low, close, volume)
    IS NOT (excluded.open, excluded.high, excluded.low, excluded.close, excluded.volume)
"""
_INSERT_MISSING = f"""
INSERT INTO candles (market_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (market_id, open_time_ms) DO NOTHING
"""
_INSERT_INSIDE = """
INSERT OR REPLACE INTO insides (market_id, open_time_ms, numbers)
SELECT :market, :time, :numbers
WHERE NOT EXISTS (SELECT 1 FROM candles WHERE market_id = :market AND open_time_ms = :time)
"""
"""To be executed before the candle itself is stored: one that is stored already keeps what it has."""
_ADD_INSIDE = """
INSERT OR IGNORE INTO insides (market_id, open_time_ms, numbers)
SELECT market_id, open_time_ms, ? FROM candles WHERE market_id = ? AND open_time_ms = ?
"""
_WITHOUT_INSIDE = """
SELECT open_time_ms FROM candles LEFT JOIN insides USING (market_id, open_time_ms)
WHERE market_id = ? AND open_time_ms > ? AND numbers IS NULL
ORDER BY open_time_ms
"""
_WITH_INSIDE = f"""
SELECT {_COLUMNS}, numbers FROM candles LEFT JOIN insides USING (market_id, open_time_ms) WHERE market_id = ?
"""

_SET_ASIDE = f"""
INSERT OR REPLACE INTO set_aside_candles (market_id, {_COLUMNS}, reason)
SELECT market_id, {_COLUMNS}, ? FROM candles WHERE market_id = ? AND open_time_ms = ?
"""
_REMOVE = "DELETE FROM candles WHERE market_id = ? AND open_time_ms = ?"
_UNANNOUNCED = "SELECT open_time_ms, reason FROM set_aside_candles WHERE market_id = ? AND NOT is_announced"
_ANNOUNCED = "UPDATE set_aside_candles SET is_announced = 1 WHERE market_id = ?"
_LAST_SIMULATED = """
SELECT venue, symbol, interval_ms FROM markets LEFT JOIN runs ON runs.market_id = markets.id AND fence > 0
WHERE venue = ? AND (fence > 0 OR EXISTS (SELECT 1 FROM candles WHERE candles.market_id = markets.id))
ORDER BY (SELECT id FROM forecasts WHERE run = runs.sequence ORDER BY origin_open_time_ms DESC LIMIT 1) DESC,
runs.sequence DESC, markets.id DESC LIMIT 1
"""
"""By the rows' numbers, as a clock may have been wrong. Imported runs had no trainer here; markets with candles but
without a run come after all runs."""
_WITH_CANDLES = """
SELECT venue, symbol, interval_ms FROM markets
WHERE EXISTS (SELECT 1 FROM candles WHERE candles.market_id = markets.id) ORDER BY id DESC
"""

CHUNK_ROWS = 4_000
"""Read in about 5 ms, the longest time for which the interpreter is blocked."""
_NUMBERS = ("open", "high", "low", "close", "volume")
_ROW = np.dtype([("open_time_ms", np.int64), *((name, np.float64) for name in _NUMBERS)])
_NEWEST_FIRST = f"""
SELECT {_COLUMNS} FROM candles WHERE market_id = ? AND open_time_ms < ? ORDER BY open_time_ms DESC LIMIT ?
"""
_BETWEEN = f"""
SELECT {_COLUMNS} FROM candles WHERE market_id = ? AND open_time_ms >= ? AND open_time_ms < ?
ORDER BY open_time_ms LIMIT ?
"""
_BEFORE_ALL_MS, _AFTER_ALL_MS = -(2**63), 2**63 - 1
_ROWS_AT_ONCE = 50_000
_INSIDE = struct.Struct("<I6f")
"""The fields of `Inside` in their order."""


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """Candles, ascending: opening times, shape (n,); open, high, low, close, volume, shape (5, n)."""

    open_time_ms: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return self.open_time_ms.size


@dataclass(frozen=True, slots=True)
class SetAside:
    """A candle replaced by a hole: its opening time (UTC ms), and the reason in words."""

    open_time_ms: int
    reason: str


def packed_inside(inside: Inside) -> bytes:
    return _INSIDE.pack(*astuple(inside))


def _candle(open_time_ms: int, *rest: Any) -> Candle:
    """A candle of a row of `_WITH_INSIDE`."""
    *numbers, packed = rest
    is_known = packed is not None and len(packed) == _INSIDE.size  # another form is of a damaged file
    return Candle(open_time_ms, *numbers, inside=Inside(*_INSIDE.unpack(packed)) if is_known else None)


class CandleStore:
    """Candles by market, in ascending time. All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def last_simulated(self) -> Market | None:
        """The simulated market trained on last, else one with candles; None if there is none."""
        rows = select(self.db, _LAST_SIMULATED, (SIMULATED_VENUE,))
        return market_of(*rows[0]) if rows else None

    def markets(self) -> tuple[Market, ...]:
        return tuple(market_of(*row) for row in select(self.db, _WITH_CANDLES))

    def save(self, market: Market, candles: Iterable[Candle]) -> int:
        """Store in one transaction; existing candles are replaced if they differ.

        Returns how many rows are new or changed. Raises ValueError for numbers that no market has
        (`core.domain.candle_faults`).
        """
        rows, insides = [], []
        for candle in candles:
            if (problem := problem_of_numbers(candle)) is not None:
                raise ValueError(f"{candle} is invalid: {problem.value}")
            rows.append((candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, candle.volume))
            if candle.inside is not None:
                insides.append((candle.open_time_ms, packed_inside(candle.inside)))
        if not rows:
            return 0
        with write(self.db):
            market_id = add_market(self.db, market)
            known = ({"market": market_id, "time": time_ms, "numbers": numbers} for time_ms, numbers in insides)
            self.db.conn.executemany(_INSERT_INSIDE, known)
            return self.db.conn.executemany(_UPSERT, ((market_id, *row) for row in rows)).rowcount

    def save_columns(
        self,
        market: Market,
        columns: StoredColumns,
        *,
        replaces: bool,
        on_progress: Callable[[int], None] = lambda rows: None,
    ) -> int:
        """Store history in one transaction; existing candles are replaced if they differ, or kept.

        on_progress: called now and then with the rows stored so far. Returns how many rows are new or changed. Raises
        ValueError for numbers that no market has (`core.domain.candle_faults`).
        """
        for reason, is_at_fault in number_faults(columns.values):
            if is_at_fault.any():
                raise ValueError(f"{int(is_at_fault.sum())} of {len(columns)} candles are invalid: {reason.value}")
        changed = 0
        with write(self.db):
            market_id = add_market(self.db, market)
            raise_history_version(self.db, market_id)
            for first in range(0, len(columns), _ROWS_AT_ONCE):
                rows = slice(first, first + _ROWS_AT_ONCE)
                numbers = (column[rows].tolist() for column in (columns.open_time_ms, *columns.values))
                values = zip(repeat(market_id), *numbers, strict=False)
                changed += self.db.conn.executemany(_UPSERT if replaces else _INSERT_MISSING, values).rowcount
                on_progress(min(rows.stop, len(columns)))
        return changed

    def add_insides(self, market: Market, insides: Mapping[int, Inside]) -> int:
        """Store the insides of stored candles, by opening time, in one transaction. Candles that have one keep it.
        Returns how many were stored. To be called only for candles of which no run has read that they have none."""
        market_id = find_market(self.db, market)
        rows = ((packed_inside(inside), market_id, time_ms) for time_ms, inside in insides.items())
        with write(self.db):
            return self.db.conn.executemany(_ADD_INSIDE, rows).rowcount

    def times_without_inside(self, market: Market, after_ms: int | None = None) -> NDArray[np.int64]:
        """The opening times, ascending, of the candles after `after_ms` (of all without it) that have no inside."""
        after = _BEFORE_ALL_MS if after_ms is None else after_ms
        rows = select(self.db, _WITHOUT_INSIDE, (find_market(self.db, market), after))
        return np.array([time_ms for (time_ms,) in rows], dtype=np.int64)

    def has_insides(self, market: Market) -> bool:
        """Whether any of its candles has an inside."""
        found = select(self.db, "SELECT 1 FROM insides WHERE market_id = ? LIMIT 1", (find_market(self.db, market),))
        return bool(found)

    def set_aside(self, market: Market, open_time_ms: int, reason: str) -> None:
        """Replace a stored candle by a hole permanently: the same numbers are not stored again."""
        place = (find_market(self.db, market), open_time_ms)
        with write(self.db):
            self.db.execute(_SET_ASIDE, (reason, *place))
            self.db.execute(_REMOVE, place)

    def pop_unannounced(self, market: Market) -> list[SetAside]:
        """Candles set aside since the last call, ascending."""
        market_id = find_market(self.db, market)
        found = [SetAside(*row) for row in select(self.db, _UNANNOUNCED, (market_id,))]
        if found:
            with write(self.db):
                self.db.execute(_ANNOUNCED, (market_id,))
        return found

    def load(self, market: Market, *, after_ms: int | None = None, limit: int | None = None) -> list[Candle]:
        """Candles that opened after `after_ms` (all without it), ascending; the first `limit` of them."""
        market_id = find_market(self.db, market)
        condition, values = ("", []) if after_ms is None else ("AND open_time_ms > ?", [after_ms])
        sql = f"{_WITH_INSIDE} {condition} ORDER BY open_time_ms LIMIT ?"
        rows = select(self.db, sql, (market_id, *values, -1 if limit is None else limit))
        return [_candle(*row) for row in rows]

    def newest(self, market: Market, count: int) -> list[Candle]:
        market_id = find_market(self.db, market)
        sql = f"{_WITH_INSIDE} ORDER BY open_time_ms DESC LIMIT ?"
        rows = select(self.db, sql, (market_id, max(0, count)))
        return [_candle(*row) for row in reversed(rows)]

    def columns_before(self, market: Market, before_ms: int | None, limit: int) -> StoredColumns:
        """The newest `limit` candles that opened before `before_ms` (of all without it), without an object for each."""
        before = _AFTER_ALL_MS if before_ms is None else before_ms
        return _columns(self._rows(_NEWEST_FIRST, market, before, max(0, limit))[::-1])

    def columns_between(
        self, market: Market, first_ms: int, stop_ms: int = _AFTER_ALL_MS, limit: int = -1
    ) -> StoredColumns:
        """The oldest `limit` candles (all without it) that opened in first_ms..stop_ms - 1."""
        return _columns(self._rows(_BETWEEN, market, first_ms, stop_ms, limit))

    def ascending_chunks(
        self, market: Market, first_ms: int, stop_ms: int = _AFTER_ALL_MS, chunk: int = _ROWS_AT_ONCE
    ) -> Iterator[StoredColumns]:
        """Candles in chunks, the oldest first, each in a separate transaction as in `column_chunks`."""
        while len(columns := self.columns_between(market, first_ms, stop_ms, chunk)):
            yield columns
            first_ms = int(columns.open_time_ms[-1]) + 1

    def column_chunks(self, market: Market, chunk: int = CHUNK_ROWS) -> Iterator[StoredColumns]:
        """All candles in chunks, the newest chunk first; each ascends in itself.

        Each chunk is a separate transaction, so that a slow reader does not block checkpoints of the log: a candle
        that is stored meanwhile is in a later chunk, or in none.
        """
        before_ms = _AFTER_ALL_MS
        while len(columns := self.columns_before(market, before_ms, chunk)):
            yield columns
            before_ms = int(columns.open_time_ms[0])

    def latest_open_time_ms(self, market: Market) -> int | None:
        newest = self.newest(market, 1)
        return newest[0].open_time_ms if newest else None

    def count(self, market: Market, *, after_ms: int | None = None) -> int:
        """The number of stored candles, or of those that opened after `after_ms`."""
        market_id = find_market(self.db, market)
        condition, values = ("", []) if after_ms is None else ("AND open_time_ms > ?", [after_ms])
        sql = f"SELECT COUNT(*) FROM candles WHERE market_id = ? {condition}"
        return int(select(self.db, sql, (market_id, *values))[0][0])

    def _rows(self, sql: str, market: Market, *values: int) -> NDArray[np.void]:
        parameters = (find_market(self.db, market), *values)
        with translated(self.db), closing(self.db.conn.execute(sql, parameters)) as cursor:
            return np.fromiter(cursor, dtype=_ROW)


def _columns(rows: NDArray[np.void]) -> StoredColumns:
    return StoredColumns(rows["open_time_ms"].copy(), np.stack([rows[name] for name in _NUMBERS]))
