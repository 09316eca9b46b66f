"""The window's own connection to SQLite, for panels and chart; opened after the first paint, as sqlite-utils imports
pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from core.domain.candle import Interval, Market
from core.domain.events import ForecastMade, Incident, MarketStatus, TrainerStatus
from core.settings.tree import Settings
from core.storage.browsing import BrowsedRows
from core.storage.candles import CandleStore
from core.storage.chart_stores import ChartLineStore, DrawingStore, GhostAlertStore
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore, set_archived
from core.training.online.issued_forecast import stored_forecast

if TYPE_CHECKING:
    from sqlite_utils import Database

_BUSY_TIMEOUT_MS = 1_000
"""The window does not answer meanwhile."""


class WindowDatabase:
    """Belongs to the window's thread. Call `open` first; use before that is a mistake in the code. Reading and writing
    raise StorageError with a sentence for the user."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._db: Database | None = None

    def open(self) -> None:
        """Open the database, which in the program `DatabaseOpener` has checked. Raises StorageError."""
        self._db = open_database(self._folder.database, busy_timeout_ms=_BUSY_TIMEOUT_MS)

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
        """The markets with stored candles; none before the database is open. Raises StorageError."""
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

    @property
    def checkpoints(self) -> CheckpointRows:
        return CheckpointRows(self.db)

    @property
    def browsed(self) -> BrowsedRows:
        """Checkpoints with their markets, page by page."""
        return BrowsedRows(self.db)

    def record(self, run_id: str) -> RecordReader:
        """Steps, drifts, past forecasts and regimes of one run."""
        return RecordReader(self.db, run_id)

    def set_archived(self, run_id: str, is_archived: bool) -> None:
        """Archive a run, or restore it from the archive."""
        set_archived(self.db, run_id, is_archived)

    def stored_status(self, run: Run, settings: Settings) -> TrainerStatus:
        """Scores and losses of a run, before its trainer is running. Callable from any thread."""
        from core.evaluation.summary import stored_status  # noqa: PLC0415 - after the first paint

        with closing(open_database(self._folder.database, readonly=True)) as db:
            return stored_status(db, run, settings)

    def stored_market(self, run: Run, settings: Settings) -> MarketStatus:
        """Scores of a run alone, before its trainer is running. Callable from any thread."""
        from core.evaluation.summary import stored_market  # noqa: PLC0415 - after the first paint

        with closing(open_database(self._folder.database, readonly=True)) as db:
            return stored_market(db, run, settings)

    def incidents(self, run_ids: Iterable[str], newest: int) -> Sequence[Incident]:
        """The newest incidents of all these runs, in the order of their newest occurrences."""
        first, *others = run_ids
        return self.record(first).incidents(newest, others)

    def newest_forecast(self, run_id: str, interval: Interval) -> ForecastMade | None:
        """The newest forecast stored before the window was closed."""
        reader = self.record(run_id)
        origin = reader.latest_origin_ms()
        forecast = None if origin is None else stored_forecast(reader, origin, interval)
        return None if forecast is None else forecast.event(run_id)

    def close(self) -> None:
        """Nothing may read or write after it. Safe to call twice."""
        if self._db is not None:
            self._db.close()
            self._db = None
