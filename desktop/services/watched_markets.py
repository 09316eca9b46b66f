"""The watched markets, which one model learns: their feeds and the trainer, while they run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.events import TrainerReady
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from core.market.pipeline import FeedReport, PipelineListener
from core.settings.tree import MarketSettings, Settings
from core.storage.folder import DataFolder
from core.training.commands import ForecastWith, RescoreCandle, SetLearned, SetPaused, TrainerCommand
from core.training.online.trainer_spec import SessionSpec
from desktop.services.market_feed import MarketFeeds
from desktop.services.trainer import Trainer
from desktop.services.universe import is_same
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_log = logging.getLogger("ghostcandle")


class WatchedMarkets(QObject):
    """Runs the feeds and the trainer that it is given. What they report goes to `RunState`, which owns it."""

    opening = Signal(object)
    """MarketSettings: looked for from now on; what belonged to the former market has ended."""
    opened = Signal(object)
    """Market: it is on the chart from now on; its candles follow."""
    universe_changed = Signal(object)
    """Tuple of Market: those that one model learns from now on, in their order at a close."""
    pace_changed = Signal(object)
    """ReplayPace of the feed that runs now; None: it has none, or has ended."""

    def __init__(
        self,
        folder: DataFolder,
        database: WindowDatabase,
        state: RunState,
        group: Sequence[MarketSettings],
        *,
        new_run: bool,
        parent: QObject,
    ) -> None:
        """group: markets of the command line, learned together if one of them is opened."""
        super().__init__(parent)
        self._folder = folder
        self._state, self._clock = state, state.clock
        self._group = group
        self._new_run = new_run
        self._feed: MarketFeeds | None = None
        self._task: asyncio.Task[None] | None = None
        self.trainer = Trainer(database, state, self)
        state.ready.connect(self._on_ready)
        self._market: Market | None = None
        self._markets: dict[Market, MarketListener] = {}
        """All of them, in their order at a close."""
        self._learned: dict[Market, bool] = {}
        """Whether the trainer learns from each of its markets, as it was last asked to."""
        self.always_learned: frozenset[Market] = frozenset()
        """Those that were opened, or named on the command line: no switch of the list ends that."""
        self.settings = Settings()
        """Those of the market that is watched."""
        self.is_switching = False
        """Whether `opened` is of a market that the running model has."""

    @property
    def is_watching(self) -> bool:
        """Whether a market was opened that has not ended."""
        return self._market is not None

    @property
    def is_training(self) -> bool:
        return self.trainer.is_running

    @property
    def universe(self) -> tuple[Market, ...]:
        """The watched markets, in their order at a close."""
        return tuple(self._markets)

    def show(self, market: Market) -> bool:
        """Put another of the watched markets on the chart. Neither training nor a feed ends. False where it is not one
        of them, or the only one."""
        watched = self._markets.get(market)
        if watched is None or len(self._markets) == 1:
            return False
        if self.is_shown(market):
            return True
        self._market = market
        self.settings = replace(self.settings, market=watched.asked)
        self.trainer.show(market)
        self.is_switching = True
        try:
            self.opening.emit(self.settings.market)
            self.opened.emit(market)
        finally:
            self.is_switching = False
        return True

    def is_shown(self, market: Market) -> bool:
        """Whether it is the one on the chart."""
        return market == self._market

    def _watched(self, asked: MarketSettings) -> Market | None:
        """Which of several watched markets this is, if it is not on the chart."""
        found = (market for market, known in self._markets.items() if is_same(known.asked, asked))
        return next((market for market in found if not self.is_shown(market)), None)

    def send(self, command: TrainerCommand) -> None:
        """Pass a command to the trainer, where there is one; checkpoints forecast the market on the chart."""
        if isinstance(command, ForecastWith) and self._market is not None:
            command = replace(command, market=self.trainer.place_of(self._market))
        self.trainer.send(command)

    def _run_feed(self, feed: MarketFeeds) -> None:
        self.pace_changed.emit(feed.pace)
        self._task = asyncio.ensure_future(feed.run())
        self._task.add_done_callback(self._on_feed_done)

    def _adopt(self, feed: MarketFeeds) -> None:
        self._feed = feed
        self._markets = {
            market: MarketListener(market, asked, self._state, self.trainer) for market, asked in feed.asked.items()
        }
        feed.listeners = self._markets
        if not self.always_learned:  # else markets have joined, and another one may be on the chart by now
            of_user = (self.settings.market, *self._group)
            self.always_learned = frozenset(market for market, asked in feed.asked.items() if asked in of_user)
        known = self._state.markets
        known.set_universe(self.universe)
        known.set_opened(self.always_learned)
        for market in self._markets:
            known.begin_feed(market)
            self.trainer.feed_begins(market)
        self.universe_changed.emit(self.universe)

    def _start_worker(self, *, is_paused: bool = False) -> None:
        """is_paused: in the place of one that was."""
        assert self._market is not None, "open a market first"
        first, *others = self._markets
        spec = SessionSpec(self._folder.root, first, self.settings, self._new_run, others=tuple(others))
        self._new_run = False
        self._learned = {}
        rows = [self._state.markets.row(market) for market in self._markets]
        caught_up = (row.market for row in rows if row.has_caught_up)
        ended = (market for market, watched in self._markets.items() if watched.has_ended)
        self.trainer.start(spec, self._market, caught_up, ended)
        for row in rows:
            if row.feed is not None:
                self.trainer.feed_changed(row.market, row.feed)
        self._state.is_paused = is_paused
        if is_paused:
            self.send(SetPaused(True))

    async def _close_market(self) -> None:
        await self._close_feed()
        await self.trainer.end()
        self._market, self._markets, self.always_learned = None, {}, frozenset()

    async def _close_feed(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._feed is not None:
            self.pace_changed.emit(None)
        self._feed = None

    def _on_ready(self, ready: TrainerReady) -> None:
        self._learned = {each.member.market: each.member.is_learned for each in ready.markets}
        self._send_learned()

    def _send_learned(self) -> None:
        """Tell the trainer which of its markets were switched on or off."""
        listed = {row.market for row in self.settings.watchlist.markets if row.is_learned}
        for market, was_learned in self._learned.items():
            is_learned = market in listed or market in self.always_learned
            if is_learned is not was_learned:
                self._learned[market] = is_learned
                self.send(SetLearned(is_learned, self.trainer.place_of(market)))

    def _on_feed_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        if task is self._task:
            self.pace_changed.emit(None)
        error = task.exception()
        if error is not None:
            _log.error("The feed ended with an error.", exc_info=error)
            self._report_feed(
                FeedState.FAILED,
                translate("Window", "The feed ended: {0}. Choose the market again to continue.").format(error),
            )

    def _report_feed(self, state: FeedState, sentence: str, *, needs_room: bool = False) -> None:
        status = FeedStatus(state, sentence, self._clock.now_ms(), needs_room=needs_room)
        self._state.markets.on_feed_event(self._market, status)


class MarketListener(PipelineListener):
    """Passes on what the feed of one watched market reports: to the window's state, and to the trainer."""

    def __init__(self, market: Market, asked: MarketSettings, state: RunState, trainer: Trainer) -> None:
        self.market, self.asked = market, asked
        self._markets, self._trainer = state.markets, trainer
        self.has_ended = False
        """No more candles of it come."""

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self._markets.add_closed(self.market, candles)
        self._trainer.candles_stored(self.market, live_open_times_ms)

    def on_forming(self, candle: Candle) -> None:
        self._markets.set_forming(self.market, candle)

    def on_status(self, status: FeedStatus) -> None:
        self._trainer.feed_changed(self.market, status.state)
        self._markets.on_feed_event(self.market, status)

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        self._markets.on_feed_event(self.market, progress)

    def on_report(self, report: FeedReport) -> None:
        self._markets.on_report(self.market, report)

    def on_corrected(self, candle: Candle) -> None:
        self._markets.correct(self.market, candle)
        self._trainer.send(RescoreCandle(candle.open_time_ms, self._trainer.place_of(self.market)))

    def on_ended(self) -> None:
        self.has_ended = True
        self._trainer.feed_ended(self.market)
