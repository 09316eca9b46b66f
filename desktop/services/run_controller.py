"""One watched market at a time: its feed, its worker, and what the user asks of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import EventBatch, TrainerFailed
from core.domain.venue_names import venue_name
from core.market.feeds.auto import BuiltFeed
from core.market.feeds.base import FeedError, FeedState, FeedStatus
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.urls import ExchangeUrls
from core.market.history.files import CandleFileError
from core.market.history.reading import Watch
from core.settings.tree import MarketSettings, Settings
from core.storage.errors import FullDiskError, StorageError
from core.storage.folder import DataFolder
from core.storage.runs import Run
from core.training.commands import RescoreCandle, TrainerCommand
from core.training.online.trainer_spec import SessionSpec
from desktop.services.file_reading import FileReading
from desktop.services.market_check import EXCHANGE_FEEDS, MarketCheck, MarketQuestion
from desktop.services.market_feed import MarketFeed
from desktop.services.worker import TrainingWorker
from desktop.state.database import WindowDatabase
from desktop.ui.translation import translate

_BUILT_FIRST = ("replay", "stored")
"""Feeds that are built before the market that is watched ends: building them asks nobody."""
_log = logging.getLogger("ghostcandle")


class RunController(QObject):
    """Owns the feed's task and the worker. Lives in the window's thread; its coroutines run on the window's loop."""

    opening = Signal(object)
    """MarketSettings: looked for from now on; what belonged to the former market has ended."""
    opened = Signal(object)
    """Market: it is watched from now on; its candles follow in `closed`."""
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
    training_begins = Signal(object)
    """A trainer is started. Run: the one in the database that it continues; None: there is none."""
    training_over = Signal()
    """The trainer's thread has ended, in whatever way."""

    def __init__(
        self,
        folder: DataFolder,
        database: WindowDatabase,
        clock: Clock,
        urls: ExchangeUrls | None,
        *,
        limit: int | None = None,
        new_run: bool = False,
        holds: RateLimitHolds | None = None,
        check: MarketCheck | None = None,
        parent: QObject | None = None,
    ) -> None:
        """holds: shared with all others who ask exchanges. check: whether an exchange has a market; None: no check
        before the one that is watched ends."""
        super().__init__(parent)
        self._holds = holds or RateLimitHolds(clock)
        self._check = check
        self._folder = folder
        self._database = database
        self._clock = clock
        self._urls = urls
        self._limit = limit
        self._new_run = new_run
        self._feed: MarketFeed | None = None
        self._task: asyncio.Task[None] | None = None
        self._worker: TrainingWorker | None = None
        self._market: Market | None = None
        self._settings = Settings()
        self._pending: Settings | None = None
        self._file: FileReading | None = None
        self._question: MarketQuestion | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    @property
    def settings(self) -> Settings:
        """Those of the market that is watched."""
        return self._settings

    @property
    def is_watching(self) -> bool:
        """Whether a market was opened that has not ended."""
        return self._market is not None

    @property
    def is_training(self) -> bool:
        return self._worker is not None and self._worker.isRunning()

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
        self._pending = settings
        self.cancel_reading()
        is_asked_for = self._market is not None and self._check is not None and settings.market.feed in EXCHANGE_FEEDS
        if not is_asked_for and (settings.market.feed not in _BUILT_FIRST or self._market is None):
            self._leave_for(settings.market)
        self._spawn(self._open(settings, is_asked_for=is_asked_for))

    def cancel_reading(self) -> None:
        """Read the file of a replay no further, wait for no exchange's word: the market that is watched stays."""
        if self._file is not None:
            self._file.cancel()
        if self._question is not None:
            self._question.cancel()

    def try_again(self) -> None:
        """Reconnect at once, whatever wait the exchange has asked for: it may ask again. Training continues meanwhile
        where the market is the one that was asked for."""
        self._holds.of(self._settings.market.venue).drop()
        self._spawn(self._try_again())

    def go_on(self, settings: Settings, *, feed: bool, training: bool) -> None:
        """Continue what had stopped, from the stored candles; a wait that an exchange asked for is kept."""
        if training:
            self._settings = settings
        self._spawn(self._go_on(feed=feed, training=training))

    def start_training(self, settings: Settings) -> None:
        """Train on the watched market, unless it is training already. A trainer that is ending is awaited."""
        self._settings = settings
        self._spawn(self._start_again())

    def stop_training(self) -> None:
        """End training with a last checkpoint. The chart keeps running."""
        if self._worker is not None:
            self._worker.inbox.stop()

    def send(self, command: TrainerCommand) -> None:
        """Pass a command to the trainer, where there is one."""
        if self._worker is not None:
            self._worker.send(command)

    async def close(self) -> None:
        """End the feed and the training, and wait for both."""
        self.cancel_reading()
        async with self._turn:
            await self._close_market()

    def _leave_for(self, market: MarketSettings) -> None:
        """Nothing more of the market that was watched is shown."""
        if self._feed is not None:
            self._feed.blockSignals(True)
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

    async def _may_open(self, settings: Settings) -> bool:
        """Whether the exchange has the market. Where it has not, that has been said, unless another was chosen."""
        assert self._check is not None
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

    async def _open_market(self, settings: Settings, *, trains: bool = True) -> None:
        feed, built = self._make_feed(), None
        if settings.market.feed in _BUILT_FIRST:
            built = await self._build(feed, settings)
            if built is None or self._is_left(settings):
                return
            if self._market is not None:
                self._leave_for(settings.market)
        await self._close_market()
        if self._is_left(settings):
            return
        self._settings = settings
        built = built or await self._build(feed, settings)
        if built is None:
            return
        if self._is_left(settings):
            await feed.aclose()
            return
        self._adopt(feed)
        self._market = built.feed.market
        self.opened.emit(self._market)
        if built.notice is not None:
            self.notice.emit(built.notice)
        if trains:
            self._start_worker(self._market)
        self._run_feed(feed)

    def _make_feed(self) -> MarketFeed:
        return MarketFeed(self._database.candles, self._database.holes, self._clock, self._urls, self._holds, self)

    async def _build(self, feed: MarketFeed, settings: Settings) -> BuiltFeed | None:
        """None where there is no feed to be had; that has been said then."""
        try:
            with self._reading(settings.market) as watch:
                return await feed.build(settings.market, settings.training.seed, self._limit, watch)
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

    def _run_feed(self, feed: MarketFeed) -> None:
        self.pace_changed.emit(feed.pace)
        self._task = asyncio.ensure_future(feed.run())
        self._task.add_done_callback(self._on_feed_done)

    async def _go_on(self, *, feed: bool, training: bool) -> None:
        trains = training or self.is_training  # one that the user has stopped stays stopped
        if feed:
            await self._try_again(trains=trains)
        if trains:
            await self._start_again()

    async def _try_again(self, *, trains: bool = True) -> None:
        async with self._turn:
            asked = self._settings.market
            if self._market is None or self._market.venue != asked.venue or asked.feed not in ("auto", "live"):
                if asked.feed not in _BUILT_FIRST or self._market is None:
                    self._announce(asked)
                await self._open_market(self._settings, trains=trains)
                return
            await self._close_feed()
            self._report_feed(
                FeedState.CONNECTING, translate("Window", "Trying {0} again…").format(venue_name(asked.venue))
            )
            feed = self._make_feed()
            if await self._build(feed, replace(self._settings, market=replace(asked, feed="live"))) is not None:
                self._adopt(feed)
                self._run_feed(feed)

    def _give_up(self, settings: Settings, sentence: str, *, needs_room: bool = False) -> None:
        if self._is_left(settings):
            return
        if self._market is not None:
            self.refused.emit(sentence)
            return
        self._report_feed(FeedState.FAILED, sentence, needs_room=needs_room)
        self.failed.emit(sentence)

    async def _start_again(self) -> None:
        async with self._turn:
            if self._worker is not None and self._worker.inbox.is_stopped:
                await self._end_worker()
            if self._market is not None and not self.is_training:
                self._start_worker(self._market)

    def _adopt(self, feed: MarketFeed) -> None:
        self._feed = feed
        feed.closed.connect(self._on_closed)
        feed.forming.connect(self.forming)
        feed.feed_event.connect(self.feed_event)
        feed.corrected.connect(self._on_corrected)
        feed.feed_reported.connect(self.feed_reported)

    def _start_worker(self, market: Market) -> None:
        spec = SessionSpec(self._folder.root, market, self._settings, self._new_run)
        self._new_run = False
        worker = TrainingWorker(spec, self._clock, self)
        worker.batch.connect(self.batch)
        worker.failed.connect(self._on_worker_failed)
        worker.finished.connect(lambda: self._on_worker_finished(worker))
        self._worker = worker
        self.training_begins.emit(self._stored_run(spec))
        worker.start()

    async def _close_market(self) -> None:
        await self._end_feed()
        await self._end_worker()
        self._forget_feed()
        self._market = None

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

    async def _end_worker(self) -> None:
        """Ask it to stop and wait, on a separate thread: the window keeps painting."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if not await asyncio.to_thread(worker.stop):
            _log.error("The training thread did not end in time.")
            return
        worker.deleteLater()

    def _on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self.closed.emit(candles)
        if self._worker is not None:
            self._worker.inbox.candles_stored(live_open_times_ms)

    def _on_corrected(self, candle: Candle) -> None:
        self.corrected.emit(candle)
        self.send(RescoreCandle(candle.open_time_ms))

    def _on_worker_failed(self, failure: TrainerFailed) -> None:
        _log.error("%s\n%s", failure.sentence, failure.details)
        self.batch.emit(EventBatch((failure,)))

    def _on_worker_finished(self, worker: TrainingWorker) -> None:
        if self._worker in (worker, None):  # else the next one was started meanwhile
            self.training_over.emit()

    def _stored_run(self, spec: SessionSpec) -> Run | None:
        try:
            return None if spec.new_run else self._database.runs.find(spec.market, spec.fingerprint)
        except StorageError:
            return None  # the trainer will meet it too, and say so

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
        self.feed_event.emit(FeedStatus(state, sentence, self._clock.now_ms(), needs_room=needs_room))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Keep a reference: asyncio itself holds tasks weakly."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
