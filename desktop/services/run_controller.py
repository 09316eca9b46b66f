"""What the user asks of the watched markets: to open others, to continue, to learn from more of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.domain.candle import FILE_VENUE, Market
from core.domain.events import JobProgress
from core.domain.venue_names import venue_name
from core.market.feeds.auto import BuiltFeed
from core.market.feeds.base import FeedError, FeedState
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.urls import ExchangeUrls
from core.market.history.errors import ReadingCancelledError
from core.market.history.files import CandleFileError
from core.market.history.reading import Watch
from core.settings.tree import MarketSettings, Settings
from core.storage.errors import FullDiskError, StorageError
from core.storage.folder import DataFolder
from desktop.services.market_check import EXCHANGE_FEEDS, MarketCheck, MarketQuestion
from desktop.services.market_feed import MarketFeeds
from desktop.services.universe import is_same, wanted_markets
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_BUILT_FIRST = ("replay", "stored")
"""Feeds that are built before the market that is watched ends: building them asks nobody."""
READING_JOB = "reading a file"
_PERCENT = 100
_log = logging.getLogger("ghostcandle")


class RunController(WatchedMarkets):
    """Opens markets, one at a time and those that its model learns with it. Lives in the window's thread; its
    coroutines run on the window's loop."""

    notice = Signal(str)
    """A sentence for the banner: which market is shown, and why not the one asked for."""
    failed = Signal(str)
    """A sentence: the market cannot be watched."""
    refused = Signal(str)
    """A sentence: the requested market cannot be opened; the current one stays."""
    asking = Signal(str)
    """A sentence: an exchange is being asked for a market; the one that is watched stays meanwhile."""
    reading = Signal(object)
    """JobProgress of the file of a replay."""

    def __init__(
        self,
        folder: DataFolder,
        database: WindowDatabase,
        state: RunState,
        urls: ExchangeUrls | None,
        *,
        limit: int | None,
        new_run: bool,
        group: Sequence[MarketSettings],
        holds: RateLimitHolds,
        check: MarketCheck,
        parent: QObject,
    ) -> None:
        """group: as in `WatchedMarkets`. holds: shared with all others who ask exchanges. check: whether an exchange
        has a market, before the one that is watched ends."""
        super().__init__(folder, database, state, group, new_run=new_run, parent=parent)
        self._holds = holds
        self._check = check
        self._database = database
        self._urls = urls
        self._limit = limit
        self._pending: Settings | None = None
        self._unlearned: Settings | None = None
        """The newest that `learn` was given while a market was being opened."""
        self._is_reopening = False
        """Whether the market that is watched is being opened once more."""
        self._file: FileReading | None = None
        self._question: MarketQuestion | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    @property
    def is_opening(self) -> bool:
        """Whether a market was asked for that is not there yet."""
        return self._pending is not None

    def open(self, settings: Settings) -> None:
        """Watch the market that the settings name, instead of the one that is watched now.

        Of several that are asked for while one is still being opened, the last is opened; asking twice is asking once.
        A file is read first and an exchange asked for the market, so that what is refused ends nothing.
        """
        if self._pending is not None and self._pending.market == settings.market:
            return
        if self._pending is None and (watched := self._watched(settings.market)) is not None:
            self.show(watched)
            return
        self._pending = settings
        self.cancel_reading()
        is_asked_for = self._market is not None and settings.market.feed in EXCHANGE_FEEDS
        if not is_asked_for and (settings.market.feed not in _BUILT_FIRST or self._market is None):
            self._leave_for(settings.market)
        self._spawn(self._open(settings, is_asked_for=is_asked_for))

    def learn(self, settings: Settings) -> None:
        """Let markets of the list join the model, or be learned from no longer, as they are switched there."""
        if self._pending is not None or self._is_reopening:
            self._unlearned = settings
            return
        if self._market is None:
            return
        self.settings = _with_changes(self.settings, settings)
        if self._is_complete():
            self._send_learned()
        else:
            self._spawn(self._join())

    def show(self, market: Market) -> bool:
        """As in `WatchedMarkets`. Asked for once more, the one on the chart stays: nothing else is opened then."""
        has_not_ended = self._file is not None or self._question is not None  # for the one that is being opened
        if self.is_shown(market) and (self._pending is None or has_not_ended):
            if self._pending is not None:  # else what is read joins the model
                self.cancel_reading()
            return True
        return self._pending is None and super().show(market)

    def _is_complete(self) -> bool:
        """Whether all markets are watched that the model is to learn; the sample is learned alone."""
        is_sample = self._market is not None and self._market.venue == FILE_VENUE
        if is_sample and self.settings.market.feed in EXCHANGE_FEEDS:
            return True
        known = self._markets.values()
        return all(any(is_same(market.asked, each) for market in known) for each in self._wanted())

    def _wanted(self) -> Sequence[MarketSettings]:
        """The market on the chart, then the others that are watched or are to be."""
        wanted = [_without_sample(each) for each in wanted_markets(self.settings, self._group)]
        return tuple(dict.fromkeys((*wanted, *self._asked_again())))

    def _asked_again(self) -> Sequence[MarketSettings]:
        """Those that are watched, the one on the chart first."""
        watched = sorted(self._markets.values(), key=lambda each: each.market != self._market)
        return [_without_sample(each.asked) for each in watched]

    def cancel_reading(self) -> None:
        """Read the file of a replay no further, wait for no exchange's word: the market that is watched stays."""
        if self._file is not None:
            self._file.cancel()
        if self._question is not None:
            self._question.cancel()

    def try_again(self) -> None:
        """Reconnect at once, whatever wait the exchange has asked for: it may ask again. Training continues meanwhile
        where the market is the one that was asked for."""
        self._holds.of(self.settings.market.venue).drop()
        self._spawn(self._try_again())

    def go_on(self, settings: Settings, *, feed: bool, training: bool) -> None:
        """Continue what had stopped, from the stored candles; a wait that an exchange asked for is kept."""
        if training:
            self.settings = replace(settings, market=self.settings.market)
        self._spawn(self._go_on(feed=feed, training=training))

    def start_training(self, settings: Settings) -> None:
        """Train on the watched market, unless it is training already. A trainer that is ending is awaited."""
        self.settings = replace(settings, market=self.settings.market)
        self._spawn(self._start_again())

    async def close(self) -> None:
        """End the feed and the training, and wait for both."""
        self.cancel_reading()
        async with self._turn:
            await self._close_market()

    def _leave_for(self, market: MarketSettings) -> None:
        """Nothing more of the market that was watched is shown."""
        if self._feed is not None:
            self._feed.silence()
        self._announce(market)

    def _announce(self, market: MarketSettings) -> None:
        self.opening.emit(market)
        self._report_feed(FeedState.CONNECTING, translate("Window", "Looking for candles…"))

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
        """Take the switches that were moved while the market was being opened."""
        newest, self._unlearned = self._unlearned, None
        if newest is not None:
            self.learn(newest)

    async def _may_open(self, settings: Settings) -> bool:
        """Whether the exchange has the market. Where it has not, that has been said, unless another was chosen."""
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
            if self._market is not None:
                self._leave_for(settings.market)
        is_paused = keeps_pause and self._state.is_paused
        await self._close_market()
        if self._is_left(settings):
            return
        self.settings = settings
        built = built or await self._build(feed, wanted, settings)
        if built is None:
            return
        if self._is_left(settings):
            await feed.aclose()
            return
        self._market = built.feed.market
        self.settings = replace(settings, market=feed.asked[self._market])
        if self._unlearned is not None:
            self.settings = _with_changes(self.settings, self._unlearned)
        self._adopt(feed)
        self.opened.emit(self._market)
        if built.notice is not None:
            self.notice.emit(built.notice)
        if trains:
            self._start_worker(is_paused=is_paused)
        self._run_feed(feed)

    async def _join(self) -> None:
        """Let the markets that are learned now join the running model: its trainer starts again, with a checkpoint
        before it. The chart stays."""
        async with self._turn:
            if self._market is None or self._pending is not None or self._is_complete():
                return
            feeds = self._make_feeds()
            if await self._build(feeds, self._wanted(), self.settings) is None:
                return
            was_training, was_paused = self.is_training, self._state.is_paused
            await self._close_feed()
            await self.trainer.end()
            self._adopt(feeds)
            if was_training:
                self._start_worker(is_paused=was_paused)
            self._run_feed(feeds)

    def _make_feeds(self) -> MarketFeeds:
        return MarketFeeds(self._database.candles, self._database.holes, self._clock, self._urls, self._holds)

    async def _build(self, feed: MarketFeeds, wanted: Sequence[MarketSettings], settings: Settings) -> BuiltFeed | None:
        """None where there is no feed to be had; that has been said then."""
        try:
            with self._reading(wanted[0]) as watch:
                return await feed.build(wanted, settings.training.seed, self._limit, watch)
        except (FeedError, CandleFileError, StorageError) as error:
            self._give_up(settings, str(error), needs_room=isinstance(error, FullDiskError))
        except Exception as error:  # third-party code: the window must not wait for candles for ever
            _log.exception("the market could not be opened")
            words = translate("Window", "The market could not be opened ({0}: {1}). See the log for details.")
            self._give_up(settings, words.format(type(error).__name__, error))
        return None

    @contextmanager
    def _reading(self, market: MarketSettings) -> Iterator[Watch]:
        """The file of a replay is read meanwhile, on another thread."""
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

    async def _go_on(self, *, feed: bool, training: bool) -> None:
        trains = training or self.is_training  # one that the user has stopped stays stopped, as does a pause
        if feed:
            await self._try_again(trains=trains, keeps_pause=trains)
        if trains:
            await self._start_again(keeps_pause=True)

    async def _try_again(self, *, trains: bool = True, keeps_pause: bool = False) -> None:
        async with self._turn:
            asked = self.settings.market
            if self._market is None or self._market.venue != asked.venue or asked.feed not in ("auto", "live"):
                if asked.feed not in _BUILT_FIRST or self._market is None:
                    self._announce(asked)
                await self._reopen_market(trains=trains, keeps_pause=keeps_pause or self.is_training)
                return
            await self._close_feed()
            self._report_feed(
                FeedState.CONNECTING, translate("Window", "Trying {0} again…").format(venue_name(asked.venue))
            )
            feed = self._make_feeds()
            # Only those of the trainer: others that are switched on meanwhile join afterwards.
            if await self._build(feed, self._asked_again(), self.settings) is not None:
                self._adopt(feed)
                self._run_feed(feed)

    async def _reopen_market(self, *, trains: bool, keeps_pause: bool) -> None:
        self._is_reopening = True
        try:
            await self._open_market(self.settings, trains=trains, keeps_pause=keeps_pause)
        finally:
            self._is_reopening = False
            if self._pending is None:
                self._learn_later()

    def _give_up(self, settings: Settings, sentence: str, *, needs_room: bool = False) -> None:
        if self._is_left(settings):
            return
        if self._market is not None:
            self.refused.emit(sentence)
            return
        self._report_feed(FeedState.FAILED, sentence, needs_room=needs_room)
        self.failed.emit(sentence)

    async def _start_again(self, *, keeps_pause: bool = False) -> None:
        async with self._turn:
            if self.trainer.is_stopping:
                await self.trainer.end()
            if self._market is not None and not self.is_training:
                self._start_worker(is_paused=keeps_pause and self._state.is_paused)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Keep a reference: asyncio itself holds tasks weakly."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _without_sample(asked: MarketSettings) -> MarketSettings:
    """An exchange that does not answer is asked again, and not replaced by the sample."""
    return replace(asked, feed="live") if asked.feed == "auto" else asked


def _with_changes(used: Settings, changed: Settings) -> Settings:
    """The settings in use, with what has changed while the trainer runs and takes effect at once. All else waits for
    the next start of training: another model would be another run."""
    rate, duty = changed.training.learning_rate, changed.training.duty_percent
    return replace(
        used,
        watchlist=changed.watchlist,
        checkpoints=changed.checkpoints,
        training=replace(used.training, learning_rate=rate, duty_percent=duty),
        gradients=replace(used.gradients, clip_norm=changed.gradients.clip_norm),
    )


class FileReading(QObject):
    """Of one file. Lives in the window's thread; `watch` is called on the thread that reads."""

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
        """As `read_candle_table` wants it, in bytes. Raises ReadingCancelledError."""
        if self._is_cancelled.is_set():
            raise ReadingCancelledError(translate("Window", "Reading {0} was cancelled.").format(self._name))
        percent = min(_PERCENT - 1, _PERCENT * done // max(total, 1))
        self.progressed.emit(replace(self._progress, done=percent))

    def end(self) -> None:
        """Whatever came of it. In the window's thread."""
        self.progressed.emit(replace(self._progress, done=_PERCENT, is_over=True))
        self.deleteLater()
