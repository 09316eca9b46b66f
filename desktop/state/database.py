"""The window's own connection to SQLite, opened after the first paint: sqlite-utils brings pandas along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.candle import Market
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ghost_alerts import GhostAlertStore
from core.storage.holes import HoleStore
from core.storage.placed import ChartLineStore, DrawingStore
from core.storage.runs import RunStore

if TYPE_CHECKING:
    from sqlite_utils import Database


class WindowDatabase:
    """Belongs to the window's thread. `open` comes first; what uses it before that is a mistake in the code."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._db: Database | None = None

    def open(self) -> str | None:
        """Open it, or its newest verified backup in place of a damaged one: then the sentence for the user.

        Raises StorageError.
        """
        from core.storage.recovering import open_or_recover  # noqa: PLC0415 - after the first paint

        opened = open_or_recover(self._folder)
        self._db = opened.db
        return opened.notice

    def connect(self) -> None:
        """Open one that was looked at and brought up to date already (`DatabaseOpener`). Raises StorageError."""
        self._db = open_database(self._folder.database)

    @property
    def is_open(self) -> bool:
        return self._db is not None

    @property
    def db(self) -> Database:
        assert self._db is not None, "the window's database is used before it was opened"
        return self._db

    @property
    def candles(self) -> CandleStore:
        return CandleStore(self.db)

    def stored_markets(self) -> tuple[Market, ...]:
        """Of which candles are stored; none before it was opened. Raises StorageError."""
        return self.candles.markets() if self.is_open else ()

    def has_candles(self, market: Market) -> bool:
        """Whether candles of this market are stored, as far as that can be read."""
        try:
            return self.is_open and self.candles.latest_open_time_ms(market) is not None
        except StorageError:
            return False  # opening it meets the error again, and reports it

    @property
    def holes(self) -> HoleStore:
        return HoleStore(self.db)

    @property
    def lines(self) -> ChartLineStore:
        return ChartLineStore(self.db)

    @property
    def drawings(self) -> DrawingStore:
        return DrawingStore(self.db)

    @property
    def ghost_alerts(self) -> GhostAlertStore:
        return GhostAlertStore(self.db)

    @property
    def runs(self) -> RunStore:
        return RunStore(self.db)

    def close(self) -> None:
        """Nothing may read or write after it. Safe to call twice."""
        if self._db is not None:
            self._db.close()
            self._db = None
