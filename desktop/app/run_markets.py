"""What the window knows of each market of the run, kept up to date: first what is stored, then what comes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer

from core.domain.candle import Market
from core.storage.errors import StorageError
from core.storage.runs import Run
from desktop.services.run_controller import RunController
from desktop.state.database import WindowDatabase
from desktop.state.library import Library
from desktop.state.markets import CANDLES_KEPT, MarketsState

_log = logging.getLogger("ghostcandle")


class RunMarkets(QObject):
    """Fills the state of the markets. The trainer's events reach it through `RunState`."""

    def __init__(self, runs: RunController, markets: MarketsState, database: WindowDatabase, library: Library) -> None:
        super().__init__(runs)
        self._runs, self._markets, self._database, self._library = runs, markets, database, library
        runs.universe_changed.connect(self._begin)
        runs.trainer.begins.connect(self._continue_run)
        runs.market_closed.connect(markets.add_closed)
        runs.market_forming.connect(markets.set_forming)
        runs.market_feed_event.connect(markets.take_feed)

    def _begin(self, universe: tuple[Market, ...]) -> None:
        self._markets.set_universe(universe)
        self._markets.set_opened(self._runs.always_learned)
        try:
            for market in universe:
                self._markets.add_closed(market, self._database.candles.newest(market, CANDLES_KEPT))
        except StorageError as error:  # the small charts begin with the next candles
            _log.warning("The newest candles of the run's markets cannot be read: %s", error)

    def _continue_run(self, run: Run | None) -> None:
        if run is not None:
            QTimer.singleShot(0, self, lambda: self._show_stored(run))  # the trainer's process starts meanwhile

    def _show_stored(self, head: Run) -> None:
        try:
            members = self._library.runs.members(head.run_id) if self._library.is_open else ()
            for run in members:
                self._markets.set_run(run.market, run.run_id)
                if run.market in self._markets.universe:
                    self._markets.apply(self._library.newest_forecast(run.run_id, run.market.interval))
        except StorageError as error:  # the ghosts begin with the next candles
            _log.warning("The newest forecasts of the run's markets cannot be read: %s", error)
        else:
            self._show_scores(members)

    def _show_scores(self, members: Sequence[Run]) -> None:
        """One market at a time: all of them would hold up a frame."""
        waiting = [run for run in members if self._waits_for_scores(run)]
        if not waiting or not self._library.is_open:
            return
        first, *others = waiting
        try:
            stored = self._library.stored_market(first, self._runs.settings)
        except StorageError as error:  # the scores come with the trainer's first answer
            _log.warning("The scores of the run's markets cannot be read: %s", error)
            return
        self._markets.set_summary(
            first.market, stored.accuracy, stored.position_ms, is_learned=stored.member.is_learned
        )
        QTimer.singleShot(0, self, partial(self._show_scores, others))

    def _waits_for_scores(self, run: Run) -> bool:
        """Not where the trainer has answered meanwhile, or another run has begun."""
        row = self._markets.row(run.market)
        return row.run_id == run.run_id and row.accuracy is None
