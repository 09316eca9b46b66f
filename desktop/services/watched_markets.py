"""The watched markets, which one model learns: their feeds and the trainer, while they run."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import EventBatch, TrainerReady, TrainerState, TrainerStatus
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus, FeedVitals
from core.market.pipeline import FeedReport
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
        parent: QObject | None = None,
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
        self._asked: dict[Market, MarketSettings] = {}
        """All watched markets, in their order, with what they were asked for."""
        self.always_learned: frozenset[Market] = frozenset()
        """Those that were opened, or named on the command line: no switch of the list ends that."""
        self._reports = MarketReports()
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
        return tuple(self._asked)

    def show(self, market: Market) -> bool:
        """Put another of the watched markets on the chart. Neither training nor a feed ends. False where it is not one
        of them, or the only one."""
        if market not in self._asked or len(self._asked) == 1:
            return False
        if market == self._market:
            return True
        self._market = market
        self.settings = replace(self.settings, market=self._asked[market])
        self.trainer.show(market)
        self.is_switching = True
        try:
            self.opening.emit(self.settings.market)
            self.opened.emit(market)
        finally:
            self.is_switching = False
        newest = self._reports.of(market)
        for event in newest.feed_events:
            self.feed_event.emit(event)
        if newest.vitals is not None:
            self.feed_reported.emit(newest.vitals)
        if newest.forming is not None:
            self.forming.emit(newest.forming)
        return True

    def _watched(self, asked: MarketSettings) -> Market | None:
        """Which of several watched markets this is, if it is not on the chart."""
        found = (market for market, known in self._asked.items() if is_same(known, asked))
        return next((market for market in found if market != self._market), None)

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
        self._feed, self._asked = feed, dict(feed.asked)
        self._reports.begin()
        if not self.always_learned:  # else markets have joined, and another one may be on the chart by now
            of_user = (self.settings.market, *self._group)
            self.always_learned = frozenset(market for market, asked in self._asked.items() if asked in of_user)
        for market in self._asked:
            self.trainer.feed_begins(market)
        feed.closed.connect(self._on_closed)
        feed.forming.connect(self._on_forming)
        feed.feed_event.connect(self._on_feed_event)
        feed.corrected.connect(self._on_corrected)
        feed.feed_reported.connect(self._on_reported)
        feed.ended.connect(self._on_ended)
        self.universe_changed.emit(self.universe)

    def _start_worker(self, *, is_paused: bool = False) -> None:
        """is_paused: in the place of one that was."""
        assert self._market is not None, "open a market first"
        first, *others = self._asked
        spec = SessionSpec(self._folder.root, first, self.settings, self._new_run, others=tuple(others))
        self._new_run = self.is_paused = False
        self._reports.learned = {}
        self.trainer.start(spec, self._market, self._reports.caught_up, self._reports.ended)
        for market in self._asked:
            if (status := self._reports.of(market).status) is not None:
                self.trainer.feed_changed(market, status.state)
        if is_paused:
            self.send(SetPaused(True))

    async def _close_market(self) -> None:
        await self._end_feed()
        await self.trainer.end()
        self._forget_feed()
        self._market, self._asked, self.always_learned = None, {}, frozenset()

    async def _close_feed(self) -> None:
        await self._end_feed()
        self._forget_feed()

    async def _end_feed(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _forget_feed(self) -> None:
        if self._feed is not None:
            self._feed.deleteLater()
            self.pace_changed.emit(None)
        self._feed = None

    def _on_closed(self, market: Market, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self._reports.take_closed(market, candles)
        if market == self._market:
            self.closed.emit(candles)
        self.market_closed.emit(market, candles)
        self.trainer.candles_stored(market, live_open_times_ms)

    def _on_forming(self, market: Market, candle: Candle) -> None:
        self._reports.take_forming(market, candle)
        if market == self._market:
            self.forming.emit(candle)
        self.market_forming.emit(market, candle)

    def _on_feed_event(self, market: Market, event: FeedStatus | CatchUpProgress) -> None:
        self._reports.take_event(market, event)
        if isinstance(event, FeedStatus):
            self.trainer.feed_changed(market, event.state)
        if market == self._market:
            self.feed_event.emit(event)
        self.market_feed_event.emit(market, event)

    def _on_reported(self, market: Market, report: FeedReport) -> None:
        self._reports.take_report(market, report)
        if market == self._market:
            self.feed_reported.emit(report)

    def _on_ended(self, market: Market) -> None:
        self._reports.ended.add(market)
        self.trainer.feed_ended(market)

    def _on_corrected(self, market: Market, candle: Candle) -> None:
        if market == self._market:
            self.corrected.emit(candle)
        self.market_closed.emit(market, (candle,))
        self.send(RescoreCandle(candle.open_time_ms, self.trainer.place_of(market)))

    def _on_batch(self, batch: EventBatch) -> None:
        self.batch.emit(batch)
        for event in batch.events:
            if isinstance(event, TrainerReady):
                self._reports.learned = {each.market: each.is_learned for each in event.members}
                self._send_learned()
            elif isinstance(event, TrainerStatus) and event.state in _ANSWERING:
                self.is_paused = event.state is TrainerState.PAUSED

    def _send_learned(self) -> None:
        """Tell the trainer which of its markets were switched on or off."""
        listed = {row.market for row in self.settings.watchlist.markets if row.is_learned}
        for market, was_learned in self._reports.learned.items():
            is_learned = market in listed or market in self.always_learned
            if is_learned is not was_learned:
                self._reports.learned[market] = is_learned
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


@dataclass(slots=True)
class MarketReport:
    """Of one market; None where there was none yet."""

    status: FeedStatus | None = None
    catch_up: CatchUpProgress | None = None
    vitals: FeedVitals | None = None
    forming: Candle | None = None

    @property
    def feed_events(self) -> tuple[FeedStatus | CatchUpProgress, ...]:
        return tuple(event for event in (self.status, self.catch_up) if event is not None)


class MarketReports:
    """Takes what the feeds report, until they begin again."""

    def __init__(self) -> None:
        self.learned: dict[Market, bool] = {}
        """Whether the trainer learns from each of its markets, as it was last asked to."""
        self.begin()

    def begin(self) -> None:
        self._reports: defaultdict[Market, MarketReport] = defaultdict(MarketReport)
        self.caught_up: set[Market] = set()
        """Markets whose past candles are stored, or cannot be had for now."""
        self.ended: set[Market] = set()
        """Markets of which no more candles come."""

    def of(self, market: Market) -> MarketReport:
        return self._reports[market]

    def take_event(self, market: Market, event: FeedStatus | CatchUpProgress) -> None:
        if isinstance(event, CatchUpProgress):
            self._reports[market].catch_up = event if event.done < event.total else None
            return
        self._reports[market].status = event
        if event.state.is_over:
            self._reports[market].catch_up = None
        if not event.state.is_before_the_present:
            self.caught_up.add(market)

    def take_report(self, market: Market, report: FeedReport) -> None:
        if isinstance(report, FeedVitals):
            self._reports[market].vitals = report

    def take_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        """The forming candle is over with these."""
        forming = self._reports[market].forming
        if forming is not None and candles and forming.open_time_ms <= candles[-1].open_time_ms:
            self._reports[market].forming = None

    def take_forming(self, market: Market, candle: Candle) -> None:
        self._reports[market].forming = candle
