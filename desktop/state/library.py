"""What the panels and the chart read from SQLite, on the window's own connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.checkpoints.catalog import CheckpointRow
from core.domain.candle import Interval, Market
from core.domain.clock import Clock
from core.domain.events import DriftFound, ForecastMade, Incident, MarketStatus, StepDone, TrainerStatus
from core.settings.tree import Settings
from core.storage.browsing import BrowsedRows
from core.storage.checkpoints import CheckpointRows
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore, set_archived
from core.training.online.issued_forecast import from_rows
from desktop.state.database import WindowDatabase


class Library:
    """Implements the panels' `CheckpointLibrary`, and primes the state at the start of a run."""

    def __init__(self, database: WindowDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @property
    def _rows(self) -> CheckpointRows:
        return CheckpointRows(self._database.db)

    def _reader(self, run_id: str) -> RecordReader:
        return RecordReader(self._database.db, run_id)

    @property
    def is_open(self) -> bool:
        return self._database.is_open

    def page(self, before: int | None, limit: int) -> Sequence[CheckpointRow]:
        return BrowsedRows(self._database.db).page(before, limit)

    def newer(self, after: int) -> Sequence[CheckpointRow]:
        return BrowsedRows(self._database.db).newer(after)

    def of(self, ids: Sequence[str]) -> Sequence[CheckpointRow]:
        return BrowsedRows(self._database.db).of(ids)

    def set_pinned(self, checkpoint_id: str, is_pinned: bool) -> None:
        self._rows.set_pinned(checkpoint_id, is_pinned)

    def set_note(self, checkpoint_id: str, note: str) -> None:
        self._rows.set_note(checkpoint_id, note)

    def request_deletion(self, ids: Sequence[str]) -> None:
        self._rows.request_deletion(ids, self._clock.now_ms())

    def set_name(self, checkpoint_id: str, name: str) -> None:
        self._rows.set_name(checkpoint_id, name)

    def set_tags(self, checkpoint_id: str, tags: Sequence[str]) -> None:
        self._rows.set_tags(checkpoint_id, tags)

    def set_verified(self, checkpoint_id: str, fault: str) -> None:
        self._rows.set_verified(checkpoint_id, self._clock.now_ms(), fault)

    def set_archived(self, run_id: str, is_archived: bool) -> None:
        set_archived(self._database.db, run_id, is_archived)

    def take_back_deletion(self, ids: Sequence[str]) -> Sequence[str]:
        return self._rows.take_back_deletion(ids)

    def last_run(self, market: Market | None = None) -> Run | None:
        """The run that was trained last, on a market or on any."""
        return RunStore(self._database.db).last_trained(market)

    def members(self, head_id: str) -> Sequence[Run]:
        """The runs of one model, of each market."""
        return RunStore(self._database.db).members(head_id)

    def stored_status(self, run: Run, settings: Settings) -> TrainerStatus:
        """Scores and losses of a run, before its trainer is running."""
        from core.evaluation.summary import stored_status  # noqa: PLC0415 - after the first paint

        return stored_status(self._database.db, run, settings)

    def stored_market(self, run: Run, settings: Settings) -> MarketStatus:
        """Scores of a run alone, before its trainer is running."""
        from core.evaluation.summary import stored_market  # noqa: PLC0415 - after the first paint

        return stored_market(self._database.db, run, settings)

    def steps(self, run_id: str, newest: int) -> Sequence[StepDone]:
        """For the curves, before the first event comes."""
        return self._reader(run_id).steps(newest)

    def incidents(self, run_ids: Iterable[str], newest: int) -> Sequence[Incident]:
        """Of all these runs, ascending by their newest occurrence."""
        found = [incident for run_id in run_ids for incident in self._reader(run_id).incidents(newest)]
        return sorted(found, key=lambda incident: incident.newest_at_ms)[-newest:]

    def drifts(self, run_id: str, newest: int) -> Sequence[DriftFound]:
        """Where the loss rose for good."""
        return self._reader(run_id).drifts(newest)

    def newest_forecast(self, run_id: str, interval: Interval) -> ForecastMade | None:
        """The forecast that stood when the window was closed."""
        reader = self._reader(run_id)
        origin = reader.latest_origin_ms()
        rows = [] if origin is None else reader.forecasts_of(origin)
        if origin is None or not rows:
            return None
        return from_rows(rows, interval, reader.conditions_of(origin)).event(run_id)

    def past(self, run_id: str) -> RecordReader:
        """Past forecasts and regimes of one run, for the chart."""
        return self._reader(run_id)
