"""The user's requests on watched markets: to open others, to continue, to learn from more of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from core.domain.candle import FILE_VENUE, Market
from core.domain.events import JobProgress
from core.domain.passing_faults import PassingFault
from core.domain.venue_names import venue_name
from core.market.feeds.base import FeedError, FeedState
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.venue import ExchangeUrls
from core.market.history.errors import CandleFileError, ReadingCancelledError
from core.settings.tree import MarketSettings, Settings
from core.settings.when_applied import with_changes_at_once
from core.storage.errors import PassingError, StorageError
from desktop.services.learned_markets import is_same, wanted_markets
from desktop.services.market_check import EXCHANGE_FEEDS, MarketCheck, MarketQuestion
from desktop.services.market_feed import MarketFeeds
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from core.market.feeds.auto import BuiltFeed
    from core.market.history.candle_table import Watch

_BUILT_FIRST = ("replay", "sample", "stored")
"""Feeds that are built before the watched market ends: building them sends no request."""
READING_JOB = "reading a file"
_PERCENT = 100
_log = logging.getLogger("ghostcandle")


class RunController(QObject):
    """Opens markets, one at a time, with the others that its model learns. Lives in the window's thread; its coroutines
    run on the window's loop."""

    notice = Signal(str)
    """A sentence for the banner: the shown market, and why it is not the requested one."""
    failed = Signal(str)
    """A sentence: the market cannot be watched."""
    refused = Signal(str)
    """A sentence: the requested market cannot be opened; the current one stays."""
    asking = Signal(str)
    """A sentence: an exchange is being asked for a market; the watched one stays meanwhile."""
    reading = Signal(object)
    """JobProgress of the file of a replay."""

    def __init__(
        self,
        watched: WatchedMarkets,
        database: WindowDatabase,
        state: RunState,
        urls: ExchangeUrls | None,
        *,
        limit: int | None,
        group: Sequence[MarketSettings],
        holds: RateLimitHolds,
        check: MarketCheck,
        parent: QObject,
    ) -> None:
        """group: as in `wanted_markets`. holds: shared with all others who ask exchanges. check: whether an exchange
        has a market, before the watched one ends."""
        super().__init__(parent)
        self._watched, self._state, self._group = watched, state, group
        self._database, self._urls, self._limit = database, urls, limit
        self._holds, self._check = holds, check
        self._pending: Settings | None = None
        self._unlearned: Settings | None = None
        """The newest argument of `learn` while a market was being opened."""
        self._is_reopening = False
        """Whether the watched market is being opened again."""
        self._file: FileReading | None = None
        self._question: MarketQuestion | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    @property
    def is_opening(self) -> bool:
        """Whether a requested market is still being opened."""
        return self._pending is not None

    def open(self, settings: Settings) -> None:
        """Watch the settings' market instead of the current one.

        If several are requested while one is being opened, the last is opened. A repeated request changes nothing. A
        file is read first and an exchange asked for the market, so that a refusal ends nothing.
        """
        if self._pending is not None and self._pending.market == settings.market:
            return
        if self._pending is None and (other := self._watched_beside(settings.market)) is not None:
            self.show(other)
            return
        self._pending = settings
        self.cancel_reading()
        is_asked_for = self._watched.market is not None and settings.market.feed in EXCHANGE_FEEDS
        if not is_asked_for and (settings.market.feed not in _BUILT_FIRST or self._watched.market is None):
            self._leave_for(settings.market)
        self._spawn(self._open(settings, is_asked_for=is_asked_for))

    def learn(self, settings: Settings) -> None:
        """Add markets of the list to the model, or stop learning from them, as switched there."""
        if self._pending is not None or self._is_reopening:
            self._unlearned = settings
            return
        if self._watched.market is None:
            return
        self._watched.settings = with_changes_at_once(self._watched.settings, settings)
        if self._is_complete():
            self._watched.send_learned()
        else:
            self._spawn(self._join())

    def show(self, market: Market) -> bool:
        """Show a watched market. If it is already shown, cancel a pending open."""
        has_not_ended = self._file is not None or self._question is not None  # for the one that is being opened
        if market == self._watched.market and (self._pending is None or has_not_ended):
            if self._pending is not None:  # else the file being read joins the model
                self.cancel_reading()
            return True
        return self._pending is None and self._watched.show(market)

    def _is_complete(self) -> bool:
        """Whether all markets that the model is to learn are watched; the sample is learned alone."""
        shown = self._watched.market
        is_sample = shown is not None and shown.venue == FILE_VENUE
        if is_sample and self._watched.settings.market.feed in EXCHANGE_FEEDS:
            return True
        known = self._watched.asked.values()
        return all(any(is_same(asked, each) for asked in known) for each in self._wanted())

    def _wanted(self) -> Sequence[MarketSettings]:
        """The market on the chart, then the others that are or will be watched."""
        wanted = [_without_sample(each) for each in wanted_markets(self._watched.settings, self._group)]
        return tuple(dict.fromkeys((*wanted, *self._asked_again())))

    def _asked_again(self) -> Sequence[MarketSettings]:
        """Settings of the watched markets, the one on the chart first."""
        asked, shown = self._watched.asked, self._watched.market
        return [_without_sample(asked[market]) for market in sorted(asked, key=lambda each: each != shown)]

    def _watched_beside(self, wanted: MarketSettings) -> Market | None:
        """The watched market off the chart that these settings name."""
        known = self._watched.asked.items()
        found = (market for market, asked in known if market != self._watched.market and is_same(asked, wanted))
        return next(found, None)

    def cancel_reading(self) -> None:
        """Stop reading a replay's file or waiting for an exchange: the watched market stays."""
        if self._file is not None:
            self._file.cancel()
        if self._question is not None:
            self._question.cancel()

    def try_again(self) -> None:
        """Reconnect at once, whatever wait the exchange has asked for: it may ask again. Training continues meanwhile
        if the market is the requested one."""
        self._holds.of(self._watched.settings.market.venue).drop()
        self._spawn(self._try_again())

    def restart_stopped(self, settings: Settings, *, feed: bool, training: bool) -> None:
        """Restart the stopped feed or training from the stored candles; a wait that an exchange demanded still
        holds."""
        if training:
            self._watched.settings = replace(settings, market=self._watched.settings.market)
        self._spawn(self._restart_stopped(feed=feed, training=training))

    def start_training(self, settings: Settings) -> None:
        """Train on the watched market, unless it is training already. A trainer that is ending is awaited."""
        self._watched.settings = replace(settings, market=self._watched.settings.market)
        self._spawn(self._start_again())

    async def close(self) -> None:
        """End the feed and the training, and wait for both."""
        self.cancel_reading()
        async with self._turn:
            await self._watched.close()

    def _leave_for(self, market: MarketSettings) -> None:
        """Show nothing more of the former market."""
        if self._watched.feed is not None:
            self._watched.feed.silence()
        self._announce(market)

    def _announce(self, market: MarketSettings) -> None:
        self._watched.opening.emit(market)
        self._watched.report_feed(FeedState.CONNECTING, translate("Window", "Looking for candles…"))

    async def _open(self, settings: Settings, *, is_asked_for: bool) -> None:
        async with self._turn:
            if self._pending is not settings:
                return  # another was chosen meanwhile
            try:
                if is_asked_for:
                    if not await self._may_open(settings):
                        return
                    self._leave_for(settings.market)
                await self._open_market(settings)
            finally:
                if self._pending is settings:
                    self._pending = None
                    self._learn_later()

    def _learn_later(self) -> None:
        """Apply the switches that were changed while the market was being opened."""
        newest, self._unlearned = self._unlearned, None
        if newest is not None:
            self.learn(newest)

    async def _may_open(self, settings: Settings) -> bool:
        """Whether the exchange has the market. If not, the user has been notified, unless another was chosen."""
        self._question = question = self._check.ask(settings.market)
        question.asking.connect(self.asking)
        try:
            objection = await question.answer()
        finally:
            self._question = None
        if objection is not None:
            self._give_up(settings, objection.sentence)
        return objection is None and not self._is_left(settings)

    def _is_left(self, settings: Settings) -> bool:
        """Whether another market was chosen meanwhile."""
        return self._pending is not None and self._pending is not settings

    async def _open_market(self, settings: Settings, *, trains: bool = True, keeps_pause: bool = False) -> None:
        feed, built = self._make_feeds(), None
        wanted = wanted_markets(settings, self._group)
        if settings.market.feed in _BUILT_FIRST:
            built = await self._build(feed, wanted, settings)
            if built is None or self._is_left(settings):
                return
            if self._watched.market is not None:
                self._leave_for(settings.market)
        is_paused = keeps_pause and self._state.is_paused
        await self._watched.close()
        if self._is_left(settings):
            return
        self._watched.settings = settings
        built = built or await self._build(feed, wanted, settings)
        if built is None:
            return
        await feed.find_insides()
        if self._is_left(settings):
            await feed.aclose()
            return
        market = built.feed.market
        self._watched.settings = replace(settings, market=feed.asked[market])
        if self._unlearned is not None:
            self._watched.settings = with_changes_at_once(self._watched.settings, self._unlearned)
        self._watched.adopt(feed)
        self._watched.opened.emit(market)
        if built.notice is not None:
            self.notice.emit(built.notice)
        if trains:
            self._watched.start_trainer(is_paused=is_paused)
        self._watched.run_feed(feed)

    async def _join(self) -> None:
        """Add newly learned markets to the running model: its trainer saves a checkpoint and restarts. The chart
        stays."""
        async with self._turn:
            if self._watched.market is None or self._pending is not None or self._is_complete():
                return
            feeds = self._make_feeds()
            if await self._build(feeds, self._wanted(), self._watched.settings) is None:
                return
            was_training, was_paused = self._watched.trainer.is_running, self._state.is_paused
            await self._watched.close_feed()
            await self._watched.trainer.end()
            await feeds.find_insides()
            self._watched.adopt(feeds)
            if was_training:
                self._watched.start_trainer(is_paused=was_paused)
            self._watched.run_feed(feeds)

    def _make_feeds(self) -> MarketFeeds:
        return MarketFeeds(self._database.candles, self._database.holes, self._state.clock, self._urls, self._holds)

    async def _build(self, feed: MarketFeeds, wanted: Sequence[MarketSettings], settings: Settings) -> BuiltFeed | None:
        """None if there is no feed; the user has been notified then."""
        try:
            with self._reading(wanted[0]) as watch:
                return await feed.build(wanted, settings.training.seed, self._limit, watch)
        except (FeedError, CandleFileError, StorageError) as error:
            self._give_up(settings, str(error), error.fault if isinstance(error, PassingError) else None)
        except Exception as error:  # third-party code: the window must not wait for candles for ever
            _log.exception("the market could not be opened")
            words = translate("Window", "The market could not be opened ({0}: {1}). See the log for details.")
            self._give_up(settings, words.format(type(error).__name__, error))
        return None

    @contextmanager
    def _reading(self, market: MarketSettings) -> Iterator[Watch]:
        """A context in which a replay's file is read on another thread."""
        if market.feed != "replay":
            yield lambda done, total: None
            return
        self._file = file = FileReading(Path(market.file or "").name, self)
        file.progressed.connect(self.reading)
        try:
            yield file.watch
        finally:
            self._file = None
            file.end()

    async def _restart_stopped(self, *, feed: bool, training: bool) -> None:
        # One that the user has stopped stays stopped, and a paused one paused.
        trains = training or self._watched.trainer.is_running
        if feed:
            await self._try_again(trains=trains, keeps_pause=trains)
        if trains:
            await self._start_again(keeps_pause=True)

    async def _try_again(self, *, trains: bool = True, keeps_pause: bool = False) -> None:
        async with self._turn:
            asked, shown = self._watched.settings.market, self._watched.market
            if shown is None or shown.venue != asked.venue or asked.feed not in ("auto", "live"):
                if asked.feed not in _BUILT_FIRST or shown is None:
                    self._announce(asked)
                await self._reopen_market(trains=trains, keeps_pause=keeps_pause or self._watched.trainer.is_running)
                return
            await self._watched.close_feed()
            self._watched.report_feed(
                FeedState.CONNECTING, translate("Window", "Trying {0} again…").format(venue_name(asked.venue))
            )
            feed = self._make_feeds()
            # Only those of the trainer: others that are switched on meanwhile join afterwards.
            if await self._build(feed, self._asked_again(), self._watched.settings) is not None:
                self._watched.adopt(feed)
                self._watched.run_feed(feed)

    async def _reopen_market(self, *, trains: bool, keeps_pause: bool) -> None:
        self._is_reopening = True
        try:
            await self._open_market(self._watched.settings, trains=trains, keeps_pause=keeps_pause)
        finally:
            self._is_reopening = False
            if self._pending is None:
                self._learn_later()

    def _give_up(self, settings: Settings, sentence: str, passing: PassingFault | None = None) -> None:
        if self._is_left(settings):
            return
        if self._watched.market is not None:
            self.refused.emit(sentence)
            return
        self._watched.report_feed(FeedState.FAILED, sentence, passing)
        self.failed.emit(sentence)

    async def _start_again(self, *, keeps_pause: bool = False) -> None:
        async with self._turn:
            if self._watched.trainer.is_stopping:
                await self._watched.trainer.end()
            if self._watched.market is not None and not self._watched.trainer.is_running:
                self._watched.start_trainer(is_paused=keeps_pause and self._state.is_paused)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Keep a reference: asyncio itself holds tasks weakly."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _without_sample(asked: MarketSettings) -> MarketSettings:
    """Settings with which an unresponsive exchange is asked again, and not replaced by the sample."""
    return replace(asked, feed="live") if asked.feed == "auto" else asked


class FileReading(QObject):
    """The progress of reading one file. Lives in the window's thread; `watch` is called on the thread that reads."""

    progressed = Signal(object)
    """JobProgress, in percent of the file; the last one is over."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._is_cancelled = threading.Event()
        self._progress = JobProgress(READING_JOB, translate("Window", "Reading {0}").format(name), 0, _PERCENT)

    def cancel(self) -> None:
        """End it at the next part of the file. Callable from any thread."""
        self._is_cancelled.set()

    def watch(self, done: int, total: int) -> None:
        """Progress of `read_candle_table`, in bytes. Raises ReadingCancelledError."""
        if self._is_cancelled.is_set():
            raise ReadingCancelledError(translate("Window", "Reading {0} was cancelled.").format(self._name))
        percent = min(_PERCENT - 1, _PERCENT * done // max(total, 1))
        self.progressed.emit(replace(self._progress, done=percent))

    def end(self) -> None:
        """End, with or without success. Called in the window's thread."""
        self.progressed.emit(replace(self._progress, done=_PERCENT, is_over=True))
        self.deleteLater()
