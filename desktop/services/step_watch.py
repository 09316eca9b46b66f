"""Reads the steps of whole runs for the curves, on a separate thread."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from core.domain.events import ForecastScored
from core.storage.database import select
from core.storage.runs import RunStore
from core.storage.step_columns import StepColumnReader
from desktop.services.record_watch import RecordThread, RecordWatch
from desktop.state.run_curves import CurvesRequest, FoundCurves, RunCurves
from desktop.state.run_state import RunState

if TYPE_CHECKING:
    from sqlite_utils import Database

_WITH_STEPS = "SELECT run_id FROM runs WHERE EXISTS (SELECT 1 FROM steps WHERE run = runs.sequence)"


class _Steps:
    """Keeps the steps of the requested runs, and reads on where it stopped."""

    def __init__(self, db: Database, _subject: str) -> None:
        self._db = db
        self._readers: dict[str, StepColumnReader] = {}

    def answer(self, request: CurvesRequest) -> Iterator[FoundCurves | None]:
        with_steps = {row[0] for row in select(self._db, _WITH_STEPS, ())}
        runs = [run for run in RunStore(self._db).list() if run.run_id in with_steps]
        wanted = [run_id for run_id in (request.own, request.other) if run_id is not None]
        self._readers = {each: self._readers.get(each) or StepColumnReader(self._db, each) for each in wanted}
        for reader in self._readers.values():
            while reader.read_more():
                yield None
        yield FoundCurves(runs, {run_id: reader.columns() for run_id, reader in self._readers.items()})


class StepWatch(RecordWatch):
    """Answers a `CurvesRequest`."""

    def __init__(self, state: RunState, curves: RunCurves, database: Path, parent: QObject | None = None) -> None:
        super().__init__(state, RecordThread("StepReader", database, _Steps), parent)
        self._reader.found.connect(curves.set_found)
        self._reader.failed.connect(curves.set_trouble)

    def subject(self) -> Hashable | None:
        return None if self._state.head_id is None else "steps"

    @Slot(object)
    def _on_scored(self, scored: ForecastScored) -> None:
        """A step follows each scored candle. Steps have no versions, so nothing is read again."""
        self._asked = None
