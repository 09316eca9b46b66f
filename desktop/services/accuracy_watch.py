"""Evaluates a run's scores while the Accuracy dock shows them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from core.evaluation.findings import Request, RunAccuracy
from core.evaluation.running import RunningAccuracy
from desktop.services.record_watch import RecordThread, RecordWatch
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore

if TYPE_CHECKING:
    from sqlite_utils import Database


class _Scores:
    """Of one run, all horizons. A request is what is shown, and what a trade costs."""

    def __init__(self, db: Database, subject: tuple[str, int]) -> None:
        """subject: run id and horizons."""
        self._accuracy = RunningAccuracy(db, *subject)

    def answer(self, request: tuple[Request, float]) -> Iterator[RunAccuracy | None]:
        """The result may come several times: early of the horizon that was asked for, then of all, and again with the
        chances of prices."""
        accuracy, (shown, trade_cost) = self._accuracy, request
        is_first = not accuracy.has_read_all
        for horizon in sorted(accuracy.horizons, key=lambda each: each != shown.horizon):
            for _ in accuracy.read_more(horizon):
                yield None
            if is_first and horizon == shown.horizon:
                yield accuracy.find(shown, trade_cost)
        found = accuracy.find(shown, trade_cost)
        if not shown.wants_touches:
            yield found
            return
        yield replace(found, touched=accuracy.touches.find(shown.horizon))
        for _ in accuracy.touches.read_more():
            yield None
        yield replace(found, touched=accuracy.touches.find(shown.horizon))


class AccuracyWatch(RecordWatch):
    """What is wanted is a `Request`."""

    def __init__(self, state: RunState, database: Path, settings: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(state, RecordThread("AccuracyReader", database, _Scores), parent)
        self._settings = settings
        self._reader.found.connect(state.take_accuracy)
        self._reader.failed.connect(state.accuracy_unknown)
        settings.changed.connect(self._ask)  # a trade may cost something else now

    @property
    def venue(self) -> str:
        """Of the market on the chart, or of the one to be opened."""
        shown = self._state.market
        return self._settings.current.market.venue if shown is None else shown.venue

    def subject(self) -> Hashable | None:
        run_id = self._state.run_id
        return None if run_id is None else (run_id, self._settings.current.model.horizons)

    def request(self, wanted: Hashable) -> Hashable:
        return wanted, self._settings.current.paper.of(self.venue).of_a_trade
