"""Storing history in the database of a data folder that this process owns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.candle import Market
from core.domain.spans import TimeSpan
from core.market.history.importing import OnRows
from core.storage.candles import CandleStore, StoredColumns
from core.storage.holes import HoleStore

if TYPE_CHECKING:
    from sqlite_utils import Database


class DatabaseWriter:
    """A `core.market.history.importing.HistoryWriter`: each `put` is one transaction, stored as a whole or not at
    all."""

    def __init__(self, db: Database) -> None:
        self._candles, self._holes = CandleStore(db), HoleStore(db)

    def put(
        self, market: Market, columns: StoredColumns, *, replaces: bool, on_progress: OnRows = lambda rows: None
    ) -> int:
        return self._candles.save_columns(market, columns, replaces=replaces, on_progress=on_progress)

    def put_holes(self, market: Market, holes: list[TimeSpan], asked_at_ms: int) -> None:
        self._holes.add_of_exchange(market, holes, asked_at_ms)
