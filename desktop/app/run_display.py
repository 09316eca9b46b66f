"""Shows what the run controller reports: on the chart, in the state of the panels and of the markets, in the banner.
First what is stored, then what comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from core.domain.candle import Market
from core.domain.events import Incident, Severity, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.base import FeedState, FeedStatus
from core.market.shown_names import shown_market
from core.settings.tree import MarketSettings, Settings
from core.storage.errors import StorageError
from core.storage.runs import Run
from core.training.online.trainer_spec import for_markets
from desktop.chart.controllers.composition import ChartEnsemble
from desktop.chart.widget import ChartWidget
from desktop.notifications.alerts_elsewhere import AlertsElsewhere
from desktop.services.run_controller import RunController
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.database import WindowDatabase
from desktop.state.incident_history import INCIDENTS_KEPT
from desktop.state.markets import CANDLES_KEPT
from desktop.state.run_state import DRIFTS_KEPT, RunState
from desktop.state.shell import Shell
from desktop.state.step_history import STEPS_KEPT
from desktop.ui.translation import translate

_FELL_BACK = "feed"
"""The banner's key for the reason why another market is shown than the requested one."""
_OTHER_FEED = "feed of "
"""Followed by a market: key for the reason why a market that is not on the chart has no candles."""
_REFUSED = "refused market"
"""Key for the reason why the market has not changed."""
_log = logging.getLogger("ghostcandle")


class RunDisplay(QObject):
    """Connects the run controller with state, chart and banner. Reads what is stored on the window's thread, but scores
    on another."""

    def __init__(
        self,
        runs: RunController,
        watched: WatchedMarkets,
        state: RunState,
        chart: ChartWidget,
        charting: ChartEnsemble,
        alerts_elsewhere: AlertsElsewhere,
        database: WindowDatabase,
        shell: Shell,
    ) -> None:
        super().__init__(shell.window)
        self._watched, self._state, self._chart, self._charting = watched, state, chart, charting
        self._alerts_elsewhere, self._database, self._shell = alerts_elsewhere, database, shell
        self._reading: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._connect(runs)

    async def close(self) -> None:
        """Read no further market's scores, and wait for those being read."""
        self._is_closed = True
        await asyncio.gather(*self._reading, return_exceptions=True)

    def _connect(self, runs: RunController) -> None:
        watched, state, banner = self._watched, self._state, self._shell.banner
        watched.opened.connect(self.show_market)
        watched.pace_changed.connect(self._charting.travel.set_pace)
        watched.universe_changed.connect(self._on_universe)
        watched.trainer.begins.connect(self._on_training)
        watched.trainer.over.connect(state.trainer_is_over)
        runs.notice.connect(lambda sentence: banner.notify(sentence, Severity.WARNING, key=_FELL_BACK))
        runs.notice.connect(state.feed_record.fell_back)
        watched.opening.connect(self._on_opening)
        runs.asking.connect(lambda sentence: banner.notify(sentence, key=_REFUSED, is_answer=True))
        runs.refused.connect(self._on_refused)
        runs.reading.connect(state.apply)
        self._charting.comparison.wait_for(lambda: runs.is_opening, runs.refused)
        state.feed_changed.connect(self._on_feed)
        state.markets.feed_changed.connect(self._on_feed_event)
        state.incident_happened.connect(self._on_incident)
        state.ready.connect(self._on_ready)

    def _on_universe(self, universe: tuple[Market, ...]) -> None:
        """Another set of markets is watched; the small charts begin with their stored candles."""
        with self._shell.banner.storage_errors_shown():
            for market in universe:
                self._state.markets.add_stored(market, self._database.candles.newest(market, CANDLES_KEPT))

    def _on_incident(self, incident: Incident) -> None:
        """A candle that was set aside is a gap on the chart too."""
        if incident.kind == IncidentKind.CANDLE_SET_ASIDE and self._state.market is not None:
            self._charting.reload(self._state.market)

    def _on_opening(self, asked: MarketSettings) -> None:
        """The notices of the former market no longer hold."""
        self._state.feed_record.begin(asked)
        self._shell.banner.withdraw(_FELL_BACK)
        self._shell.banner.withdraw(_REFUSED)
        self._chart.set_empty_text(translate("Chart", "Waiting for candles…"))

    def _on_refused(self, sentence: str) -> None:
        """The watched market stays, also in the settings."""
        settings = replace(self._shell.settings.current, market=self._watched.settings.market)
        self._shell.settings.change(settings)
        words = translate("Window", "{0} The market is still {1}.")
        text = sentence if self._state.market is None else words.format(sentence, shown_market(self._state.market))
        self._shell.banner.notify(text, Severity.WARNING, key=_REFUSED, is_answer=True)

    def show_market(self, market: Market) -> None:
        """Put this market's stored candles on the chart, in place of the former one's."""
        if self._watched.is_switching:
            self._state.show_market(market, self._watched.settings.market)
            self._shell.settings.change(replace(self._shell.settings.current, market=self._watched.settings.market))
        else:
            self.begin(market)
        self._charting.show_market(market)
        self._alerts_elsewhere.show_market(market)
        self._shell.window.setWindowTitle(translate("Window", "{0} – Ghostcandle").format(shown_market(market)))
        if self._watched.is_switching:
            with self._shell.banner.storage_errors_shown():
                self._show_record()
                if self._state.trainer is None and self._state.head_id is not None:  # the scores are stored ones too
                    members = self._database.runs.members(self._state.head_id)
                    self._read_scores([member for member in members if member.run_id == self._state.run_id])

    def begin(self, market: Market | None = None) -> None:
        """Forget the former run. Until a trainer reports the run that it continues, the checkpoints of this market's
        last run, or of any market's, are listed."""
        last = None
        with self._shell.banner.storage_errors_shown():
            last = self._database.runs.last_trained(market)
        self._state.begin(market, last)

    def _on_feed(self) -> None:
        feed = self._state.feed
        if feed is not None:
            self._chart.set_live(feed.state in (FeedState.LIVE, FeedState.SIMULATED))
            if feed.state is FeedState.FAILED:
                self._chart.set_empty_text(feed.sentence)

    def _on_feed_event(self, market: Market | None, event: object) -> None:
        """A market that is not on the chart has no dock that shows the failure of its feed."""
        key = f"{_OTHER_FEED}{market}"
        if market is None or not isinstance(event, FeedStatus):
            return
        if market != self._state.market and event.state is FeedState.FAILED:
            words = translate("Window", "{0} has no candles. {1}").format(shown_market(market), event.sentence)
            self._shell.banner.notify(words, Severity.WARNING, key=key)
        else:
            self._shell.banner.withdraw(key)

    def _on_training(self, run: Run | None) -> None:
        """The trainer's process starts meanwhile, which takes seconds."""
        self._state.trainer_starts(run is not None)
        if run is not None:
            QTimer.singleShot(0, self, lambda: self._show_stored(run))

    def _show_stored(self, head: Run) -> None:
        if self._database.is_open:
            with self._shell.banner.storage_errors_shown():
                self._show_members(head, self._database.runs.members(head.run_id))

    def _show_members(self, head: Run, members: Sequence[Run]) -> None:
        """The model of these runs, of each market the newest forecast, then the scores, first of the one shown."""
        if self._state.trainer is None and any(member.market == self._state.market for member in members):
            self._state.set_members(head.run_id, {member.run_id: member.market for member in members})
            self._show_model()
            self._show_record()
        markets = self._state.markets
        for run in members:
            markets.set_run(run.market, run.run_id)
            forecast = self._database.newest_forecast(run.run_id, run.market.interval)
            if forecast is not None:
                markets.add_forecast(run.market, forecast)
        self._read_scores(sorted(members, key=lambda run: run.market != self._state.market))

    def _read_scores(self, members: Sequence[Run]) -> None:
        """Read on a thread: the scores of one market would cost the window several frames."""
        if self._is_closed:
            return
        settings = for_markets(self._watched.settings, len(self._watched.asked))
        task = asyncio.ensure_future(self._show_scores(members, settings))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _show_scores(self, members: Sequence[Run], settings: Settings) -> None:
        try:
            for run in members:
                if not self._is_closed:
                    await self._show_scores_of(run, settings)
        except StorageError as error:
            self._shell.banner.notify_storage_error(str(error))
        except Exception as error:  # nobody would see it
            _log.exception("The stored scores could not be read.")
            words = translate("Window", "The stored scores could not be read ({0}: {1}). See the log for details.")
            self._shell.banner.notify(words.format(type(error).__name__, error), Severity.WARNING)

    async def _show_scores_of(self, run: Run, settings: Settings) -> None:
        if self._is_charted_without_trainer(run):
            status = await asyncio.to_thread(self._database.stored_status, run, settings)
            if self._is_charted_without_trainer(run):
                self._state.apply_stored(status)
            elif self._waits_for_scores(run):  # another market is on the chart by now
                self._state.markets.set_status(status.markets[0])
        elif self._waits_for_scores(run):
            stored = await asyncio.to_thread(self._database.stored_market, run, settings)
            if self._waits_for_scores(run):
                self._state.markets.set_status(stored)

    def _is_charted_without_trainer(self, run: Run) -> bool:
        return self._state.trainer is None and run.run_id == self._state.run_id

    def _waits_for_scores(self, run: Run) -> bool:
        """False once the trainer has answered, or another run has begun."""
        row = self._state.markets.row(run.market)
        return row.run_id == run.run_id and row.accuracy is None

    def _on_ready(self, _ready: TrainerReady) -> None:
        """The run is known, also if it was not at the start."""
        self._show_model()
        self._show_record()

    def _show_model(self) -> None:
        """Show the stored steps, incidents and drifts of the model."""
        state, database = self._state, self._database
        if state.head_id is not None and not len(state.steps):
            run_ids = tuple(state.members) or (state.head_id,)
            state.add_steps(database.record(state.head_id).steps(STEPS_KEPT))
            state.add_incidents(database.incidents(run_ids, INCIDENTS_KEPT))
            for run_id in run_ids:
                state.add_drifts(database.record(run_id).drifts(DRIFTS_KEPT))

    def _show_record(self) -> None:
        """Show the newest stored forecast of the market on the chart."""
        run_id, market = self._state.run_id, self._state.market
        if run_id is None or market is None or self._state.forecast is not None:
            return
        forecast = self._database.newest_forecast(run_id, market.interval)
        if forecast is not None:
            self._state.apply(forecast)
