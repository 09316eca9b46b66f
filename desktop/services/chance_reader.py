"""Computes the chances of prices from committed forecasts: for alerts on any market of the run, and the chart's learned
ones from the record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal, Slot

from core.domain.candle import Market
from core.domain.events import ForecastMade
from core.forecast.chance import Chances, LearnedChances
from core.forecast.paths import NEEDED_CANDLES
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.runs import RunStore
from core.training.online.forecast_events import paths_of
from core.training.online.learned_chances import LearnedChancesReader
from desktop.services.record_watch import Question, RecordThread

if TYPE_CHECKING:
    from sqlite_utils import Database

_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True, eq=False)
class FoundChances:
    """The chances of the prices of one market, by one forecast."""

    market: Market
    forecast: ForecastMade
    chances: Chances


def learned_chances(database: Path) -> Callable[[ForecastMade], LearnedChances | None]:
    """A reader of the learned chances for a forecast, on a separate connection; it returns None, and writes to the log,
    if they cannot be read."""
    reader = LearnedChancesReader()

    def read(made: ForecastMade) -> LearnedChances | None:
        try:
            with closing(open_database(database, readonly=True)) as db:
                return _learned(made, RunStore(db).get(made.run_id).market, db, reader)
        except StorageError as error:
            _log.warning("The chances on the chart are those of the sample paths alone: %s", error)
            return None

    return read


def _learned(made: ForecastMade, market: Market, db: Database, reader: LearnedChancesReader) -> LearnedChances:
    return reader.read(db, made.run_id, market, len(made.ghosts), made.origin_open_time_ms)


class _Candles:
    """Answers from the stored candles."""

    def __init__(self, db: Database, _subject: None) -> None:
        self._db, self._candles, self._reader = db, CandleStore(db), LearnedChancesReader()

    def answer(self, request: tuple[Market, ForecastMade]) -> Iterator[FoundChances]:
        market, made = request
        known = self._candles.columns_before(market, made.origin_open_time_ms + 1, NEEDED_CANDLES)
        paths = paths_of(made, known.open_time_ms, known.values[:4], market.interval)
        if paths is not None:
            yield FoundChances(market, made, Chances(paths, _learned(made, market, self._db, self._reader)))


class ChanceReader(QObject):
    """Computes chances for markets off the chart too. The thread starts with the first forecast; only each market's
    newest forecast waits. Lives in the window's thread.

    Signals: found: FoundChances; none for a forecast without sample paths. failed: a sentence.
    """

    found = Signal(object)
    failed = Signal(str)

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = RecordThread("ChanceReader", database, _Candles, self)
        self._thread.found.connect(self.found)
        self._thread.failed.connect(self.failed)
        self._thread.answered.connect(self._on_answered)
        self._waiting: dict[Market, ForecastMade] = {}
        self._is_under_way = self._is_closed = False

    def find(self, market: Market, forecast: ForecastMade) -> None:
        """Returns at once."""
        self._waiting[market] = forecast
        self._ask()

    def close(self) -> None:
        """End the thread and wait."""
        self._is_closed = True
        if self._thread.isRunning() and not self._thread.end():
            _log.error("The thread that finds chances for alerts did not end in time.")

    @Slot()
    def _on_answered(self) -> None:
        self._is_under_way = False
        self._ask()

    def _ask(self) -> None:
        if self._is_under_way or self._is_closed or not self._waiting:
            return
        market = next(iter(self._waiting))
        self._is_under_way = True
        if not self._thread.isRunning():
            self._thread.start(QThread.Priority.LowPriority)
        self._thread.ask(Question(None, (market, self._waiting.pop(market)), is_reset=False))
