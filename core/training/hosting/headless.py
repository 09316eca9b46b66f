"""A run without a window: the feeds on an asyncio loop, the driver on a thread. No Qt."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import EventBatch, Incident, TrainerFailed, TrainerReady
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import Feed, FeedState, FeedStatus
from core.market.pipeline import MarketPipeline, PipelineListener
from core.storage.backups import BackupCancelled, is_due, make_backup
from core.storage.candles import CandleStore
from core.storage.database import is_writable_now, open_database
from core.storage.errors import PassingError, StorageError
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore
from core.training.commands import RecordIncident, RescoreCandle, SetLearned
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.inbox import Inbox
from core.training.hosting.process_host import host_maker
from core.training.online.trainer_spec import SessionSpec

if TYPE_CHECKING:
    from sqlite_utils import Database

_RETRY_S, _LONGEST_RETRY_S = 5.0, 300.0
_FIRST_BACKUP_S, _LOOK_FOR_BACKUP_S, _AFTER_A_FAILURE_S = 120.0, 60.0, 3600.0
_log = logging.getLogger("ghostcandle")


class HeadlessRun:
    """Drives one run to its feeds' end. `on_batch` is called on the driver's thread, `on_feed` on the loop's."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        spec: SessionSpec,
        clock: Clock,
        on_batch: Callable[[EventBatch], None],
        on_feed: Callable[[FeedStatus], None],
    ) -> None:
        """feeds: one for each market of the spec, in order."""
        self._feeds = feeds
        self._spec = spec
        self._database = DataFolder(spec.root).database
        self._clock = clock
        self._on_batch = on_batch
        self._on_feed = on_feed
        self._inbox = Inbox()
        self._ending = threading.Event()
        self.feed_failures: dict[Market, str] = {}
        self._failure: str | None = None
        self._trainer_failure: str | None = None
        """Of the newest driver: another follows a fault that passes."""
        self._waits_for: PassingFault | None = None
        self.is_stopped = False
        """Whether `stop` was called."""

    @property
    def failure(self) -> str | None:
        """Why training stopped, or why the feeds did, if no feed has ended well; None without a failure."""
        have_all_failed = len(self.feed_failures) == len(self._feeds)
        of_feeds = self.feed_failures[self._spec.market] if have_all_failed else None
        return self._failure or self._trainer_failure or of_feeds

    async def run(self) -> None:
        """Run until every feed has ended and every candle is taken, or `stop`. `failure` then has the error, if any."""
        for market in self._spec.markets:  # also one that was switched off in the window
            self._inbox.send(SetLearned(is_learned=True, market=market))
        driver = asyncio.create_task(asyncio.to_thread(self._drive))
        pipeline = asyncio.create_task(self._feed_candles())
        backups = asyncio.create_task(self._back_up())
        try:
            await asyncio.shield(driver)
        finally:
            self._ending.set()
            self._inbox.stop()
            backups.cancel()
            pipeline.cancel()
            for task in (pipeline, backups):
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            await driver

    def record(self, incidents: Sequence[Incident]) -> None:
        """Store incidents from before the run with it."""
        for incident in incidents:
            self._inbox.send(RecordIncident(incident))

    def stop(self) -> None:
        """End soon, with a last checkpoint. May be called from a signal handler of the loop."""
        self.is_stopped = True
        self._ending.set()
        self._inbox.stop()

    async def _feed_candles(self) -> None:
        try:
            db = open_database(self._database, creates=False)
            try:
                feeds = zip(self._spec.markets, self._feeds, strict=True)
                await asyncio.gather(*(self._feed_market(db, market, feed) for market, feed in feeds))
            finally:
                db.close()
        except StorageError as error:
            self._failure = str(error)
            self._ending.set()
            self._inbox.stop()
        finally:
            for market in self._spec.markets:
                self._inbox.feed_ended(market)

    async def _feed_market(self, db: Database, market: Market, feed: Feed) -> None:
        listener = _Listener(market, self._inbox, self._on_status)
        await MarketPipeline(feed, CandleStore(db), HoleStore(db), self._clock, listener).run()
        self._inbox.feed_ended(market)

    def _on_status(self, market: Market, status: FeedStatus) -> None:
        if status.state is FeedState.FAILED:
            self.feed_failures[market] = status.sentence
        if status.passing is PassingFault.FULL_DISK:  # only the user can make room
            self._failure = status.sentence
            self._inbox.stop()
        self._on_feed(status)

    async def _back_up(self) -> None:
        """Make a backup when due. Failures are logged and tried again in an hour; the run continues."""
        folder, settings = DataFolder(self._spec.root), self._spec.settings.backups
        await asyncio.sleep(_FIRST_BACKUP_S)
        while True:
            wait_s = _LOOK_FOR_BACKUP_S
            try:
                if is_due(folder, settings.every_hours, self._clock.now_ms()):
                    stop = self._ending.is_set
                    await asyncio.to_thread(make_backup, folder, self._clock, settings.keep, is_cancelled=stop)
            except BackupCancelled:
                return
            except StorageError as error:
                _log.warning("%s", error)
                wait_s = _AFTER_A_FAILURE_S
            except Exception:
                _log.exception("the database could not be backed up")
                wait_s = _AFTER_A_FAILURE_S
            await asyncio.sleep(wait_s)

    def _drive(self) -> None:
        """Train to the end; a fault that passes without the user is waited for."""
        pause_s = _RETRY_S
        while True:
            self._waits_for = None
            try:
                with closing(open_database(self._database, creates=False)) as db:
                    make_host, store = host_maker(self._spec, self._clock), CandleStore(db)
                    TrainingDriver(self._spec, make_host, store, self._inbox, self._on_events, self._clock).run()
            except Exception as error:
                passing = error.fault if isinstance(error, PassingError) else None
                failed = TrainerFailed(f"Training stopped: {error}", traceback.format_exc(), passing=passing)
                self._on_events(EventBatch((failed,)))
            if self._waits_for in (None, PassingFault.FULL_DISK):
                return
            while not (self._ending.wait(pause_s) or is_writable_now(self._database, needs_room=False)):
                pass
            pause_s = min(2.0 * pause_s, _LONGEST_RETRY_S)
            self._inbox.is_stopped = False  # the driver has stopped itself
            if self._ending.is_set():
                return
            self._trainer_failure = None

    def _on_events(self, batch: EventBatch) -> None:
        for event in batch.events:
            if isinstance(event, TrainerFailed):
                self._trainer_failure, self._waits_for = event.sentence, event.passing
            elif isinstance(event, TrainerReady):
                self._spec = replace(self._spec, new_run=False)  # the next driver continues this run
        self._on_batch(batch)


class _Listener(PipelineListener):
    """Passes on the stored candles of one market's pipeline; the driver's own progress covers catching up."""

    def __init__(self, market: Market, inbox: Inbox, on_status: Callable[[Market, FeedStatus], None]) -> None:
        self._market = market
        self._inbox = inbox
        self._on_status = on_status

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        self._inbox.candles_stored(self._market, live_open_times_ms)

    def on_status(self, status: FeedStatus) -> None:
        self._inbox.feed_changed(self._market, status.state)
        self._on_status(self._market, status)

    def on_corrected(self, candle: Candle) -> None:
        """The candle is stored; training on it is not undone, and its forecasts are scored again."""
        self._inbox.send(RescoreCandle(candle.open_time_ms, self._market))
