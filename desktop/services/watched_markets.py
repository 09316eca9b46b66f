"""The watched markets, which one model learns: their feeds and the trainer, while they run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import EventBatch, TrainerReady, TrainerState, TrainerStatus
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus, FeedVitals
from core.market.pipeline import FeedReport, PipelineListener
from core.settings.tree import MarketSettings, Settings
from core.storage.folder import DataFolder
from core.training.commands import ForecastWith, RescoreCandle, SetLearned, SetPaused, TrainerCommand
from core.training.online.trainer_spec import SessionSpec
from desktop.services.market_feed import MarketFeeds
from desktop.services.trainer import Trainer
from desktop.services.universe import is_same
from desktop.state.database import WindowDatabase
from desktop.ui.translation import translate

_log = logging.getLogger("ghostcandle")
_ANSWERING = (TrainerState.CATCHING_UP, TrainerState.TRAINING, TrainerState.PAUSED)


class WatchedMarkets(QObject):
    """Runs the feeds and the trainer that it is given, and passes on what comes. One of the markets is on the chart;
    signals without a market are of that one."""

    opening = Signal(object)
    """MarketSettings: looked for from now on; what belonged to the former market has ended."""
    opened = Signal(object)
    """Market: it is watched from now on; its candles follow in `closed`."""
    universe_changed = Signal(object)
    """Tuple of Market: those that one model learns from now on, in their order at a close."""
    market_closed = Signal(object, object)
    """Market, and a sequence of its candles, stored; also a corrected one."""
    market_forming = Signal(object, object)
    """Market, Candle"""
    market_feed_event = Signal(object, object)
    """Market, FeedStatus or CatchUpProgress"""
    closed = Signal(object)
    """Sequence of Candle, stored."""
    corrected = Signal(object)
    """Candle: stored in place of a closed one, because the feed tells it differently now."""
    feed_reported = Signal(object)
    """FeedReport: what the feed says about itself."""
    forming = Signal(object)
    """Candle"""
    pace_changed = Signal(object)
    """ReplayPace of the feed that runs now; None: it has none, or has ended."""
    feed_event = Signal(object)
    """FeedStatus or CatchUpProgress"""
    batch = Signal(object)
    """EventBatch"""

    def __init__(
        self,
        folder: DataFolder,
        database: WindowDatabase,
        clock: Clock,
        group: Sequence[MarketSettings],
        *,
        new_run: bool,
        parent: QObject,
    ) -> None:
        """group: markets of the command line, learned together if one of them is opened."""
        super().__init__(parent)
        self._folder = folder
        self._clock = clock
        self._group = group
        self._new_run = new_run
        self._feed: MarketFeeds | None = None
        self._task: asyncio.Task[None] | None = None
        self.trainer = Trainer(database, clock, self)
        self.trainer.batch.connect(self._on_batch)
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
        self.is_paused = False
        """Whether the trainer has paused, or was asked to."""

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
        for event in watched.feed_events:
            self.feed_event.emit(event)
        if watched.vitals is not None:
            self.feed_reported.emit(watched.vitals)
        if watched.newest_forming is not None:
            self.forming.emit(watched.newest_forming)
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
        if isinstance(command, SetPaused):
            self.is_paused = command.paused
        self.trainer.send(command)

    def _run_feed(self, feed: MarketFeeds) -> None:
        self.pace_changed.emit(feed.pace)
        self._task = asyncio.ensure_future(feed.run())
        self._task.add_done_callback(self._on_feed_done)

    def _adopt(self, feed: MarketFeeds) -> None:
        self._feed = feed
        self._markets = {market: MarketListener(self, market, asked) for market, asked in feed.asked.items()}
        feed.listeners = self._markets
        if not self.always_learned:  # else markets have joined, and another one may be on the chart by now
            of_user = (self.settings.market, *self._group)
            self.always_learned = frozenset(market for market, asked in feed.asked.items() if asked in of_user)
        for market in self._markets:
            self.trainer.feed_begins(market)
        self.universe_changed.emit(self.universe)

    def _start_worker(self, *, is_paused: bool = False) -> None:
        """is_paused: in the place of one that was."""
        assert self._market is not None, "open a market first"
        first, *others = self._markets
        spec = SessionSpec(self._folder.root, first, self.settings, self._new_run, others=tuple(others))
        self._new_run = self.is_paused = False
        self._learned = {}
        caught_up = (market for market, watched in self._markets.items() if watched.has_caught_up)
        ended = (market for market, watched in self._markets.items() if watched.has_ended)
        self.trainer.start(spec, self._market, caught_up, ended)
        for market, watched in self._markets.items():
            if watched.status is not None:
                self.trainer.feed_changed(market, watched.status.state)
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

    def _on_batch(self, batch: EventBatch) -> None:
        self.batch.emit(batch)
        for event in batch.events:
            if isinstance(event, TrainerReady):
                self._learned = {each.market: each.is_learned for each in event.members}
                self._send_learned()
            elif isinstance(event, TrainerStatus) and event.state in _ANSWERING:
                self.is_paused = event.state is TrainerState.PAUSED

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
        self.feed_event.emit(status)
        if self._market is not None:
            self.market_feed_event.emit(self._market, status)


class MarketListener(PipelineListener):
    """One of the watched markets: passes on what its feed reports, and keeps the newest of it."""

    def __init__(self, markets: WatchedMarkets, market: Market, asked: MarketSettings) -> None:
        self._markets, self.market, self.asked = markets, market, asked
        self.status: FeedStatus | None = None
        self.catch_up: CatchUpProgress | None = None
        """While it is under way."""
        self.vitals: FeedVitals | None = None
        self.newest_forming: Candle | None = None
        self.has_caught_up = False
        """Its past candles are stored, or cannot be had for now."""
        self.has_ended = False
        """No more candles of it come."""

    @property
    def feed_events(self) -> tuple[FeedStatus | CatchUpProgress, ...]:
        return tuple(event for event in (self.status, self.catch_up) if event is not None)

    @property
    def _is_shown(self) -> bool:
        return self._markets.is_shown(self.market)

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        forming = self.newest_forming
        if forming is not None and candles and forming.open_time_ms <= candles[-1].open_time_ms:
            self.newest_forming = None
        if self._is_shown:
            self._markets.closed.emit(candles)
        self._markets.market_closed.emit(self.market, candles)
        self._markets.trainer.candles_stored(self.market, live_open_times_ms)

    def on_forming(self, candle: Candle) -> None:
        self.newest_forming = candle
        if self._is_shown:
            self._markets.forming.emit(candle)
        self._markets.market_forming.emit(self.market, candle)

    def on_status(self, status: FeedStatus) -> None:
        self.status = status
        if status.state.is_over:
            self.catch_up = None
        if not status.state.is_before_the_present:
            self.has_caught_up = True
        self._markets.trainer.feed_changed(self.market, status.state)
        self._emit_feed_event(status)

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        self.catch_up = progress if progress.done < progress.total else None
        self._emit_feed_event(progress)

    def on_report(self, report: FeedReport) -> None:
        if isinstance(report, FeedVitals):
            self.vitals = report
        if self._is_shown:
            self._markets.feed_reported.emit(report)

    def on_corrected(self, candle: Candle) -> None:
        if self._is_shown:
            self._markets.corrected.emit(candle)
        self._markets.market_closed.emit(self.market, (candle,))
        trainer = self._markets.trainer
        trainer.send(RescoreCandle(candle.open_time_ms, trainer.place_of(self.market)))

    def on_ended(self) -> None:
        self.has_ended = True
        self._markets.trainer.feed_ended(self.market)

    def _emit_feed_event(self, event: FeedStatus | CatchUpProgress) -> None:
        if self._is_shown:
            self._markets.feed_event.emit(event)
        self._markets.market_feed_event.emit(self.market, event)
