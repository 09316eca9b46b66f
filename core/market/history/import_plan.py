"""Importing one file: its candles, those already stored, and those to store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Market
from core.domain.spans import TimeSpan, candles_in, holes_between
from core.market.history.candle_csv import COLUMNS
from core.market.history.candle_table import CandleTable
from core.market.history.column_checks import selected
from core.market.history.errors import HistoryError
from core.storage.candles import CandleStore, StoredColumns
from core.storage.holes import HoleStore

if TYPE_CHECKING:
    from sqlite_utils import Database


NOT_OVER = "not over yet"
OnRows = Callable[[int], None]
"""Called now and then with the rows stored so far."""
AroundPart = Callable[[], AbstractContextManager[object]]
"""Entered before each transaction, and left after it; entering may raise StorageError."""
ROWS_PER_PART = 1_000
"""Rows stored in a few milliseconds, the longest wait for the other program."""


@dataclass(frozen=True, slots=True, eq=False)
class ImportPlan:
    """The changes that a file would make.

    candles: all that are valid and closed. new: those not stored yet; different: those stored with other numbers;
    same: the rest. replaces: whether different ones replace the stored ones.
    """

    table: CandleTable
    market: Market
    candles: StoredColumns
    is_new: NDArray[np.bool_]
    is_different: NDArray[np.bool_]
    replaces: bool

    @property
    def new(self) -> int:
        return int(self.is_new.sum())

    @property
    def different(self) -> int:
        return int(self.is_different.sum())

    @property
    def same(self) -> int:
        return len(self.candles) - self.new - self.different

    @property
    def to_store(self) -> StoredColumns:
        """The changes alone: importing a file again writes nothing."""
        return selected(self.candles, self.is_new | (self.is_different & self.replaces))

    def describe(self) -> dict[str, object]:
        """A summary for display and JSON; times are UTC milliseconds."""
        times = self.candles.open_time_ms
        holes = holes_between(times, self.market.interval)
        first, last = self._candle(0), self._candle(-1)
        return {
            "file": self.table.path.name,
            "venue": self.market.venue,
            "symbol": self.market.symbol,
            "interval": str(self.market.interval),
            "kind": "trades" if self.table.are_trades else "candles",
            "rows": self.table.rows,
            "candles": len(times),
            "first_ms": first["open_time_ms"],
            "last_ms": last["open_time_ms"],
            "first": first,
            "last": last,
            **self.table.how.describe(has_volume=bool(self.candles.values[4].any())),
            "holes": len(holes),
            "missing": candles_in(holes, self.market.interval),
            "rejected": dict(self.table.rejected),
            "left_out": [
                {"reason": reason, "count": count, "example": self.table.examples.get(reason, "")}
                for reason, count in self.table.rejected.items()
            ],
            "repeated": self.table.repeated,
            "contradicting": self.table.contradicting,
            "new": self.new,
            "same": self.same,
            "different": self.different,
        }

    def _candle(self, row: int) -> dict[str, float]:
        candle = (int(self.candles.open_time_ms[row]), *self.candles.values[:, row].tolist())
        return dict(zip(COLUMNS, candle, strict=True))


def plan_import(
    table: CandleTable, market: Market, store: CandleStore | None, now_ms: int, *, replaces: bool
) -> ImportPlan:
    """Compare a file with the stored candles. store: None if there is no database yet. Stores nothing.

    Raises HistoryError if the file and the stored candles lie on different grids, and StorageError.
    """
    is_over = table.columns.open_time_ms + market.interval.duration_ms <= now_ms
    if not is_over.all():
        table.rejected[NOT_OVER] += int((~is_over).sum())
    candles = selected(table.columns, is_over)
    if not len(candles):
        raise HistoryError(f"No candle of {table.path.name} has closed yet; check this computer's clock.")
    if store is None:
        none = np.zeros(len(candles), np.bool_)
        return ImportPlan(table, market, candles, ~none, none, replaces)
    _require_one_grid(table, market, store)
    is_known, is_same = _compared(candles, market, store)
    return ImportPlan(table, market, candles, ~is_known, is_known & ~is_same, replaces)


def _require_one_grid(table: CandleTable, market: Market, store: CandleStore) -> None:
    newest_ms = store.latest_open_time_ms(market)
    if newest_ms is None:
        return
    off_ms = (int(table.columns.open_time_ms[0]) - newest_ms) % market.interval.duration_ms
    if off_ms:
        raise HistoryError(
            f"The candles of {table.path.name} open {off_ms / 1000:g} s off those stored for {market}: another time "
            "zone, or another source. Nothing was imported; try --time-zone, or another --symbol to keep them apart."
        )


def _compared(
    candles: StoredColumns, market: Market, store: CandleStore
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which candles are stored, and which of those with equal numbers."""
    times = candles.open_time_ms
    is_known, is_same = np.zeros(times.size, np.bool_), np.zeros(times.size, np.bool_)
    for stored in store.ascending_chunks(market, int(times[0]), int(times[-1]) + 1):
        places = np.searchsorted(times, stored.open_time_ms)
        found = times[np.minimum(places, times.size - 1)] == stored.open_time_ms
        places = places[found]
        is_known[places] = True
        is_same[places] = (candles.values[:, places] == stored.values[:, found]).all(axis=0)
    return is_known, is_same


class HistoryWriter:
    """Stores history. All methods raise StorageError."""

    def __init__(self, db: Database, around_part: AroundPart | None = None) -> None:
        """around_part: set if another program writes as well."""
        self._candles, self._holes = CandleStore(db), HoleStore(db)
        self._has_parts, self._around_part = around_part is not None, around_part or nullcontext

    def put(
        self, market: Market, columns: StoredColumns, *, replaces: bool, on_progress: OnRows = lambda rows: None
    ) -> int:
        """Store candles durably, in one transaction; if another program writes too, in one for each `ROWS_PER_PART`
        rows. Returns the number of new or changed rows."""
        if not self._has_parts:
            return self._candles.save_columns(market, columns, replaces=replaces, on_progress=on_progress)
        changed = 0
        for first in range(0, len(columns), ROWS_PER_PART):
            place = slice(first, first + ROWS_PER_PART)
            rows = StoredColumns(columns.open_time_ms[place], columns.values[:, place])
            with self._around_part():
                changed += self._candles.save_columns(market, rows, replaces=replaces)
            on_progress(first + len(rows))
        return changed

    def put_holes(self, market: Market, holes: list[TimeSpan], asked_at_ms: int) -> None:
        """Record candles that the exchange does not have."""
        with self._around_part():
            self._holes.add_of_exchange(market, holes, asked_at_ms, is_history=True)
