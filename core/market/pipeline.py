"""Passes candles from a feed to the candle table: validated, stored, and only then passed to the listener."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from core.domain.candle import DAY_MS, Candle
from core.domain.candle_faults import Rejection, RejectionReason, Validator
from core.domain.clock import Clock
from core.domain.passing_faults import PassingFault
from core.domain.plain_text import plain
from core.domain.spans import TimeSpan
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    CorrectedCandle,
    Feed,
    FeedError,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    FeedVitals,
    FormingCandle,
    MissingCandles,
    RejectedMessage,
    StoredCandles,
)
from core.market.feeds.closed_candles import REMEMBERED
from core.market.shown_names import shown_market
from core.storage.candles import CandleStore
from core.storage.database import look_whether_writable, without_waiting
from core.storage.errors import PassingError, StorageError
from core.storage.holes import HoleStore

_BATCH_CANDLES = 256
_BATCH_S = 0.05
_RETRY_S = 5.0
_LOOKS, _LOOK_S = 500, 0.02
"""A lock that lasts ten seconds is no transaction of the trainer's, and is reported."""
_Result = TypeVar("_Result")
_log = logging.getLogger("ghostcandle.feed")

FeedReport = MissingCandles | RejectedMessage | FeedVitals
"""A feed's reports about itself. Only holes are stored."""


class PipelineListener:
    """Callbacks on the pipeline's event loop; the defaults do nothing."""

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        """Called with stored candles; those with `live_open_times_ms` came live."""

    def on_forming(self, candle: Candle) -> None:
        """The open candle is this one now."""

    def on_status(self, status: FeedStatus) -> None:
        """The feed has a new state, or new details of the present one."""

    def on_catch_up(self, progress: CatchUpProgress) -> None:
        """So many of the past candles have come."""

    def on_corrected(self, candle: Candle) -> None:
        """A stored candle was replaced by this one."""

    def on_report(self, report: FeedReport) -> None:
        """Called with the feed's reports, including rejected candles, which the pipeline logs."""

    def on_ended(self) -> None:
        """No more candles will come. Not called if the pipeline is cancelled."""


class MarketPipeline:
    """Consumes one feed. History is stored in batches, a live candle at once. While a fault that passes keeps candles
    from being stored, nothing more is read from the feed."""

    def __init__(
        self, feed: Feed, store: CandleStore, holes: HoleStore, clock: Clock, listener: PipelineListener
    ) -> None:
        self._feed = feed
        self._store = store
        self._holes = holes
        self._clock = clock
        self.listener = listener
        """The listener, replaceable while the pipeline runs."""
        self._validator: Validator | None = None
        self._latest_ms: int | None = None
        self._batch: list[ClosedCandle] = []
        self._timer: asyncio.TimerHandle | None = None
        self._storage_error: StorageError | None = None
        self._is_waiting = False
        """Whether it has reported that candles wait."""
        self._status: FeedStatus | None = None
        """The feed's newest one."""
        self._late_flush: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run until the feed ends, fails or this is cancelled. Errors become a FAILED status and are not raised."""
        try:
            await self._consume()
        except StorageError as error:
            _log.warning("the candles of %s cannot be stored: %s", shown_market(self._feed.market), error)
            self._fail(f"Candles cannot be stored, so the feed was stopped. {error}")
        finally:
            if self._timer is not None:
                self._timer.cancel()
            await self._close()
            if self._late_flush is not None:
                self._late_flush.cancel()
                await asyncio.gather(self._late_flush, return_exceptions=True)
        self.listener.on_ended()

    async def _consume(self) -> None:
        """Raises StorageError only."""
        try:
            known = await self._done(self._stored_candles)
            self._latest_ms = known.candles[-1].open_time_ms if known.candles else None
            async for event in self._feed.events(self._latest_ms, known):
                if isinstance(event, FormingCandle | FeedStatus | CorrectedCandle):
                    await self._done(self._flush)
                await self._done(partial(self._handle, event))
                if self._batch and (self._batch[-1].is_live or len(self._batch) >= _BATCH_CANDLES):
                    await self._done(self._flush)
            await self._done(self._flush)
        except StorageError:
            raise
        except Exception as error:  # a feed is third-party code: none of its faults may end the window's loop
            await self._done(self._flush)
            if isinstance(error, FeedError):
                _log.warning("%s", error)
                _log.debug("traceback", exc_info=error)
                self._fail(str(error), error.next_venue)
            else:
                _log.exception("the feed of %s failed", self._feed.market)
                reason = f"{type(error).__name__}: {plain(str(error))}"
                self._fail(
                    f"The feed of {shown_market(self._feed.market)} stopped unexpectedly ({reason}). Stored "
                    "candles are kept; choose the market again to continue. The log has the details."
                )

    async def _done(self, work: Callable[[], _Result]) -> _Result:
        """The result of work with the database, tried again until no passing fault stops it. The loop, which is the
        window's, waits for no lock and for no disk. Raises StorageError."""
        looks = 0
        while True:
            try:
                result = work()
            except PassingError as error:
                looks += 1
                if error.fault is PassingFault.HELD and looks < _LOOKS:
                    await asyncio.sleep(_LOOK_S)
                else:
                    self._report_waiting(error)
                    await _passed(error)
            else:
                self._report_done()
                return result

    def _report_waiting(self, error: PassingError) -> None:
        if self._is_waiting:
            return
        self._is_waiting = True
        _log.warning("the candles of %s wait to be stored: %s", shown_market(self._feed.market), error)
        text, now_ms = f"Candles wait to be stored. {error}", self._clock.now_ms()
        self.listener.on_status(FeedStatus(FeedState.RECONNECTING, text, now_ms, passing=error.fault))

    def _report_done(self) -> None:
        if self._is_waiting and not self._batch:
            self._is_waiting = False
            if self._status is not None:
                self.listener.on_status(replace(self._status, at_ms=self._clock.now_ms()))

    def _stored_candles(self) -> StoredCandles:
        """The newest stored candles and holes, which the source may have corrected by now."""
        market, step_ms = self._feed.market, self._feed.market.interval.duration_ms
        candles = self._store.newest(market, REMEMBERED)
        if not candles:
            return StoredCandles()
        within = TimeSpan(candles[0].open_time_ms, candles[-1].open_time_ms)
        missing: set[int] = set()
        for hole in self._holes.of_exchange(market, within):
            stop_ms = min(hole.stop_ms, within.stop_ms)
            missing.update(range(max(hole.first_ms, stop_ms - REMEMBERED * step_ms), stop_ms, step_ms))
        return StoredCandles(candles, sorted(missing - {candle.open_time_ms for candle in candles}))

    async def _close(self) -> None:
        try:
            await self._feed.aclose()
        except Exception:  # a socket that does not close cleanly loses no data
            _log.exception("the feed of %s did not close", self._feed.market)

    def _handle(self, event: FeedEvent) -> None:
        match event:
            case ClosedCandle():
                self._handle_closed(event)
            case FormingCandle(candle=candle):
                self._handle_forming(candle)
            case FeedStatus():
                self._status = event
                _log.info("%s: %s", event.state.value, event.sentence)
                self.listener.on_status(event)
            case CatchUpProgress():
                self.listener.on_catch_up(event)
            case CorrectedCandle(candle=candle):
                self._handle_correction(candle)
            case MissingCandles():
                stop_ms = event.first_ms + event.count * self._feed.market.interval.duration_ms
                span = TimeSpan(event.first_ms, stop_ms)
                with without_waiting(self._store.db):
                    self._holes.add_of_exchange(self._feed.market, [span], self._clock.now_ms())
                self.listener.on_report(event)
            case RejectedMessage() | FeedVitals():
                self.listener.on_report(event)

    def _handle_closed(self, closed: ClosedCandle) -> None:
        rejection = self._check(closed.candle)
        if rejection is not None:
            self._reject(closed.candle, rejection)
            return
        self._batch.append(closed)
        if self._timer is None and not closed.is_live:  # the feed may be silent from here on
            self._timer = asyncio.get_running_loop().call_later(_BATCH_S, self._flush_in_time)

    def _handle_forming(self, candle: Candle) -> None:
        rejection = None if self._validator is None else self._validator.check_forming(candle)
        if rejection is None:
            self.listener.on_forming(candle)
        else:
            self._report_rejected(candle, rejection)

    def _handle_correction(self, candle: Candle) -> None:
        """Replace the stored candle. It is no reference for later ones: the validator goes by order of arrival."""
        validator = self._validator or self._new_validator(candle)
        rejection = validator.check_correction(candle)
        if rejection is not None:
            self._reject(candle, rejection)
        elif self._save([candle]):
            self.listener.on_corrected(candle)

    def _check(self, candle: Candle) -> Rejection | None:
        if self._validator is None:
            self._validator = self._new_validator(candle)
        rejection = self._validator.check(candle)
        if rejection is not None and rejection.reason is RejectionReason.TIME_UNIT and not self._knows_phase:
            self._validator = None  # that time does not determine the grid
        return rejection

    def _new_validator(self, candle: Candle) -> Validator:
        """Candles of files may follow a clock with summer time; their reader has seen the whole file."""
        is_file = self._feed.kind is FeedKind.REPLAY
        # Below a day exchanges count from the epoch; days, weeks and files have a grid given by their data, and a feed
        # has refused what is off it.
        interval, known_ms = self._feed.market.interval, 0 if self._knows_phase else candle.open_time_ms
        phase_ms = (known_ms if self._latest_ms is None else self._latest_ms) % interval.duration_ms
        return Validator(interval, phase_ms, has_summer_time=is_file)

    @property
    def _knows_phase(self) -> bool:
        """Whether the grid is known without the first candle."""
        step_ms = self._feed.market.interval.duration_ms
        has_epoch_grid = self._feed.kind is not FeedKind.REPLAY and step_ms < DAY_MS and DAY_MS % step_ms == 0
        return has_epoch_grid or self._latest_ms is not None

    def _reject(self, candle: Candle, rejection: Rejection) -> None:
        _log.warning("%s", rejection.sentence)
        self._report_rejected(candle, rejection)

    def _report_rejected(self, candle: Candle, rejection: Rejection) -> None:
        """Report it like the messages that the feed itself has rejected."""
        self.listener.on_report(RejectedMessage(self._clock.now_ms(), rejection.reason.value, str(candle)))

    def _flush_in_time(self) -> None:
        self._late_flush = asyncio.ensure_future(self._flush_late())

    async def _flush_late(self) -> None:
        """Nobody would see an error: it ends the feed instead, and `run` reports it."""
        try:
            await self._done(self._flush)
        except StorageError as error:
            self._storage_error = error
            await self._close()

    def _flush(self) -> None:
        if self._storage_error is not None:
            raise self._storage_error
        if not self._batch:
            return
        candles = [closed.candle for closed in self._batch]
        self._save(candles)
        live = tuple(closed.candle.open_time_ms for closed in self._batch if closed.is_live)
        self._batch = []
        if self._timer is not None:  # only now: a second one would store the same
            self._timer.cancel()
            self._timer = None
        self.listener.on_closed(candles, live)

    def _save(self, candles: Sequence[Candle]) -> int:
        with without_waiting(self._store.db):
            return self._store.save(self._feed.market, candles)

    def _fail(self, sentence: str, next_venue: str | None = None) -> None:
        self.listener.on_status(FeedStatus(FeedState.FAILED, sentence, self._clock.now_ms(), next_venue))


async def _passed(error: PassingError) -> None:
    """Return once the fault may have passed."""
    loop, answers = asyncio.get_running_loop(), asyncio.Queue[bool]()

    def put(is_writable: bool) -> None:
        loop.call_soon_threadsafe(answers.put_nowait, is_writable)

    await asyncio.sleep(_RETRY_S)
    while error.fault is not PassingFault.HELD:  # the next try looks whether that one has passed
        look_whether_writable(error.path, needs_room=error.fault is PassingFault.FULL_DISK, answer=put)
        if await answers.get():
            return
        await asyncio.sleep(_RETRY_S)
