"""The watched markets of one model: their feeds and the trainer, while they run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.events import TrainerReady
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from core.market.pipeline import FeedReport, PipelineListener
from core.settings.tree import MarketSettings, Settings
from core.storage.folder import DataFolder
from core.training.commands import RescoreCandle, SetLearned, SetPaused, ShowMarket
from core.training.online.trainer_spec import SessionSpec
from desktop.services.market_feed import MarketFeeds
from desktop.services.trainer import Trainer
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_log = logging.getLogger("ghostcandle")


class WatchedMarkets(QObject):
    """Runs feeds and trainer. Their reports go to `RunState`, which owns them."""

    opening = Signal(object)
    """MarketSettings: being opened now; everything of the former market has ended."""
    opened = Signal(object)
    """Market: it is on the chart from now on; its candles follow."""
    universe_changed = Signal(object)
    """Tuple of Market: the model's markets from now on, in their order at a close."""
    pace_changed = Signal(object)
    """ReplayPace of the running feed; None without one."""

    def __init__(
        self,
        folder: DataFolder,
        state: RunState,
        trainer: Trainer,
        group: Sequence[MarketSettings],
        *,
        new_run: bool,
        parent: QObject,
    ) -> None:
        """group: as in `wanted_markets`."""
        super().__init__(parent)
        self._folder = folder
        self._state, self.trainer = state, trainer
        self._group = group
        self._new_run = new_run
        self.feed: MarketFeeds | None = None
        self._task: asyncio.Task[None] | None = None
        state.ready.connect(self._on_ready)
        self._markets: dict[Market, MarketListener] = {}
        """The watched markets, in their order at a close."""
        self._reads_inside = False
        self._learned: dict[Market, bool] = {}
        """Whether the trainer learns from each of its markets, by the last command."""
        self.always_learned: frozenset[Market] = frozenset()
        """Markets that were opened, or named on the command line: no switch of the list stops learning from them."""
        self.settings = Settings()
        """Settings of the watched market."""
        self.is_switching = False
        """Whether `opened` is of a market that the running model has."""

    @property
    def market(self) -> Market | None:
        """The market on the chart; None while it has no open feed."""
        return self._state.market if self._markets else None

    @property
    def asked(self) -> dict[Market, MarketSettings]:
        """The settings that each watched market was requested with, in their order at a close."""
        return {market: watched.asked for market, watched in self._markets.items()}

    def show(self, market: Market) -> bool:
        """Show another watched market on the chart. Neither training nor a feed ends. False if it is not watched, or
        the only one."""
        watched = self._markets.get(market)
        if watched is None or len(self._markets) == 1:
            return False
        if market == self.market:
            return True
        self.settings = replace(self.settings, market=watched.asked)
        self.trainer.send(ShowMarket(market))
        self.is_switching = True
        try:
            self.opening.emit(self.settings.market)
            self.opened.emit(market)
        finally:
            self.is_switching = False
        return True

    def run_feed(self, feed: MarketFeeds) -> None:
        self.pace_changed.emit(feed.pace)
        self._task = asyncio.ensure_future(feed.run())
        self._task.add_done_callback(self._on_feed_done)

    def adopt(self, feed: MarketFeeds) -> None:
        """Watch the markets of this feed; `run_feed` then starts it."""
        self.feed = feed
        self._markets = {
            market: MarketListener(market, asked, self._state, self.trainer) for market, asked in feed.asked.items()
        }
        feed.listeners = self._markets
        self._reads_inside = feed.has_insides
        if not self.always_learned:  # else markets have joined, and another one may be on the chart by now
            of_user = (self.settings.market, *self._group)
            self.always_learned = frozenset(market for market, asked in feed.asked.items() if asked in of_user)
        known = self._state.markets
        known.set_universe(self._markets)
        known.set_opened(self.always_learned)
        for market in self._markets:
            known.begin_feed(market)
            self.trainer.inbox.feed_begins(market)
        self.universe_changed.emit(known.universe)

    def start_trainer(self, *, is_paused: bool) -> None:
        """is_paused: it starts paused, like the one that it replaces."""
        market = self.market
        assert market is not None, "open a market first"
        first, *others = self._markets
        spec = SessionSpec(
            *(self._folder.root, first, self.settings, self._new_run),
            others=tuple(others),
            reads_inside=self._reads_inside,
        )
        self._new_run = False
        self._learned = {}
        rows = [self._state.markets.row(market) for market in self._markets]
        caught_up = (row.market for row in rows if row.has_caught_up)
        ended = (market for market, watched in self._markets.items() if watched.has_ended)
        self.trainer.start(spec, market, caught_up, ended)
        for row in rows:
            if row.feed is not None:
                self.trainer.inbox.feed_changed(row.market, row.feed)
        self._state.is_paused = is_paused
        if is_paused:
            self.trainer.send(SetPaused(True))

    async def close(self) -> None:
        """End the feed and the training, and wait for both."""
        await self.close_feed()
        await self.trainer.end()
        self._markets, self.always_learned = {}, frozenset()

    async def close_feed(self) -> None:
        """Close the feeds; training continues."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self.feed is not None:
            self.pace_changed.emit(None)
        self.feed = None

    def _on_ready(self, ready: TrainerReady) -> None:
        self._learned = {each.member.market: each.member.is_learned for each in ready.markets}
        self.send_learned()

    def send_learned(self) -> None:
        """Notify the trainer of markets switched on or off."""
        listed = {row.market for row in self.settings.watchlist.markets if row.is_learned}
        for market, was_learned in self._learned.items():
            is_learned = market in listed or market in self.always_learned
            if is_learned is not was_learned:
                self._learned[market] = is_learned
                self.trainer.send(SetLearned(is_learned, market))

    def _on_feed_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        if task is self._task:
            self.pace_changed.emit(None)
        error = task.exception()
        if error is not None:
            _log.error("The feed ended with an error.", exc_info=error)
            self.report_feed(
                FeedState.FAILED,
                translate("Window", "The feed ended: {0}. Choose the market again to continue.").format(error),
            )

    def report_feed(self, state: FeedState, sentence: str, passing: PassingFault | None = None) -> None:
        """Report a status that the feed does not report itself."""
        status = FeedStatus(state, sentence, self._state.clock.now_ms(), passing=passing)
        self._state.markets.on_feed_event(self.market, status)


class MarketListener(PipelineListener):
    """Passes the reports of one watched market's feed to the window's state and to the trainer."""

    def __init__(self, market: Market, asked: MarketSettings, state: RunState, trainer: Trainer) -> None:
        self.market, self.asked = market, asked
        self._markets, self._trainer = state.markets, trainer
        self.has_ended = False
        """Whether its feed has sent its last candle."""

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self._markets.add_closed(self.market, candles)
        self._trainer.inbox.candles_stored(self.market, live_open_times_ms)

    def on_forming(self, candle: Candle) -> None:
        self._markets.set_forming(self.market, candle)

    def on_status(self, status: FeedStatus) -> None:
        self._trainer.inbox.feed_changed(self.market, status.state)
        self._markets.on_feed_event(self.market, status)

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        self._markets.on_feed_event(self.market, progress)

    def on_report(self, report: FeedReport) -> None:
        self._markets.on_report(self.market, report)

    def on_corrected(self, candle: Candle) -> None:
        self._markets.correct(self.market, candle)
        self._trainer.send(RescoreCandle(candle.open_time_ms, self.market))

    def on_ended(self) -> None:
        self.has_ended = True
        self._trainer.inbox.feed_ended(self.market)
