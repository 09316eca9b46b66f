"""What the panels and the chart read from SQLite, on the window's own connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain.candle import Interval
from core.domain.clock import Clock
from core.domain.events import ForecastMade, Incident, MarketStatus, TrainerStatus
from core.settings.tree import Settings
from core.storage.browsing import BrowsedRows
from core.storage.checkpoints import CheckpointRows
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore, set_archived
from core.training.online.issued_forecast import stored_forecast
from desktop.state.database import WindowDatabase


class Library:
    """All methods raise StorageError with a sentence for the user. Before the database is open nothing may be asked."""

    def __init__(self, database: WindowDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @property
    def rows(self) -> CheckpointRows:
        return CheckpointRows(self._database.db)

    @property
    def browsed(self) -> BrowsedRows:
        """The same with their markets, page by page."""
        return BrowsedRows(self._database.db)

    @property
    def runs(self) -> RunStore:
        return self._database.runs

    def record(self, run_id: str) -> RecordReader:
        """Steps, drifts, past forecasts and regimes of one run."""
        return RecordReader(self._database.db, run_id)

    @property
    def is_open(self) -> bool:
        return self._database.is_open

    def request_deletion(self, ids: Sequence[str]) -> None:
        """Ask the trainer to delete these."""
        self.rows.request_deletion(ids, self._clock.now_ms())

    def set_verified(self, checkpoint_id: str, fault: str) -> None:
        """Its file was read now; `fault` says what is wrong with it."""
        self.rows.set_verified(checkpoint_id, self._clock.now_ms(), fault)

    def set_archived(self, run_id: str, is_archived: bool) -> None:
        """Put a run away, or take it out again."""
        set_archived(self._database.db, run_id, is_archived)

    def stored_status(self, run: Run, settings: Settings) -> TrainerStatus:
        """Scores and losses of a run, before its trainer is running."""
        from core.evaluation.summary import stored_status  # noqa: PLC0415 - after the first paint

        return stored_status(self._database.db, run, settings)

    def stored_market(self, run: Run, settings: Settings) -> MarketStatus:
        """Scores of a run alone, before its trainer is running."""
        from core.evaluation.summary import stored_market  # noqa: PLC0415 - after the first paint

        return stored_market(self._database.db, run, settings)

    def incidents(self, run_ids: Iterable[str], newest: int) -> Sequence[Incident]:
        """Of all these runs, ascending by their newest occurrence."""
        found = [incident for run_id in run_ids for incident in self.record(run_id).incidents(newest)]
        return sorted(found, key=lambda incident: incident.newest_at_ms)[-newest:]

    def newest_forecast(self, run_id: str, interval: Interval) -> ForecastMade | None:
        """The forecast that stood when the window was closed."""
        reader = self.record(run_id)
        origin = reader.latest_origin_ms()
        forecast = None if origin is None else stored_forecast(reader, origin, interval)
        return None if forecast is None else forecast.event(run_id)
