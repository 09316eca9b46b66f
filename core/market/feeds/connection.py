"""One connection to an exchange, from opening to its first error: back-fill, then live.

The exchange itself confirms every candle passed on as closed: with its stream's closing message, or in a response. All
candles between it and the last one passed on are fetched first, so an interruption leaves no hole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.domain.candle import Candle
from core.domain.clock import SleepWatch
from core.domain.counts import in_words
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    FeedState,
    FormingCandle,
    RejectedMessage,
)
from core.market.feeds.closed_candles import CandleLedger, FeedCounters
from core.market.feeds.forming import FormingCandles
from core.market.feeds.live_status import LiveStatus, StallWatch
from core.market.feeds.rate_limits import RateLimitedError, RequestGate
from core.market.feeds.reach import (
    cut_list_sentence,
    fetched_rows,
    fetching_sentence,
    late_list_sentence,
    reachable_rows,
)
from core.market.feeds.requests import Checks, Page, Requests
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.stream_watch import StreamWatch
from core.market.feeds.streamed_candles import StreamedCandles
from core.market.feeds.task_feed import TaskFeed
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import Refused, Venue

_DIAL_LOOK_S = 0.25
"""Time between two checks that the stream is connected, as a quiet market sends nothing."""
_EARLY_MS = 2_000
"""A closing message may come this early, by the local copy of the exchange's clock."""
_LATE_S = 30.0
"""Waking up this late means that the computer slept, on systems whose monotonic clock continues meanwhile."""
_RAW_CHARACTERS = 2_000
_BAD_PAGE_TRIES = 3


class Connection:
    """`open` opens the venue and `close` releases it. Its events are emitted by the feed. All methods but `close`
    raise VenueError."""

    def __init__(
        self,
        feed: TaskFeed,
        venue: Venue,
        gate: RequestGate,
        times: ExchangeTimes,
        ledger: CandleLedger,
        counters: FeedCounters,
        stall: StallWatch,
        life_s: float,
    ) -> None:
        """life_s: the connection is renewed after this time."""
        self.venue = venue
        self.is_live = False
        """Whether the stream is connected, and was reported to be."""
        self.has_streamed = False
        """Whether the stream was waited for without an error."""
        self._feed = feed
        self._step_ms = feed.market.interval.duration_ms
        self._clock = clock = feed.clock
        self._times = times
        self._ledger = ledger
        self._counters = counters
        self._stall = stall
        self._life_s = life_s
        self._opened_s: float | None = None
        self._skipped = 0
        self._oldest_ms = 0
        self._is_list_reached = False
        self._server = ServerClock(clock, feed.market.interval)
        if ledger.is_known:
            self._server.grid.place(ledger.position_ms)
        self._requests = Requests(venue, gate, clock, self._server, times, counters)
        self._checks = Checks(self._requests, clock, times, ledger)
        self._sleep = SleepWatch(clock)
        self._forming: FormingCandles | None = None
        self._due_ms = 0
        self._vitals_due_s = clock.monotonic_s()
        self._shown: Candle | None = None
        self._is_waiting = False

    @property
    def age_s(self) -> float:
        """Seconds since it was opened; 0 before, as its requests may wait long behind other markets'."""
        return 0.0 if self._opened_s is None else self._clock.monotonic_s() - self._opened_s

    async def open(self, older: Venue | None) -> None:
        await self._requests.open(older)
        await self._requests.sync()
        self._opened_s = self._clock.monotonic_s()

    async def close(self) -> None:
        self._checks.cancel()
        if self._forming is not None:
            self._counters.end(self._forming)
            self._forming = None
        await self.venue.close()

    def place(self, catch_up: int) -> None:
        """Set the ledger's start if nothing was passed on yet: `catch_up` candles ago, within the limit."""
        forming_ms = self._server.forming_ms()
        self._ledger.undo_future_position(forming_ms)
        if not self._ledger.is_placed:
            self._ledger.place(forming_ms - (catch_up + 1) * self._step_ms, is_known=False)
        if self.venue.listed_rows is None:  # else its list shows where it begins
            self._skip_farthest(forming_ms)

    def _skip_farthest(self, forming_ms: int) -> None:
        """Skip candles farther back than the exchange answers, or than the limit."""
        self._oldest_ms = forming_ms - fetched_rows(self.venue) * self._step_ms
        self._skipped = max(0, (self._oldest_ms - self._ledger.position_ms) // self._step_ms - 1)
        self._ledger.skip_to(self._oldest_ms - self._step_ms)

    async def back_fill(self, *, is_first: bool) -> None:
        """Fetch every closed candle after the position, page by page, and the last few before it again."""
        ledger, server = self._ledger, self._server
        started_ms = ledger.position_ms + self._step_ms
        cursor_ms = max(self._oldest_ms, ledger.look_back_ms())
        total = max(0, (server.forming_ms() - started_ms) // self._step_ms)
        self._announce(total, is_first)
        self._is_list_reached = False
        while cursor_ms < server.forming_ms() and not ledger.is_full:
            try:
                page = await self._sound_page(cursor_ms)
            except VenueError as trouble:
                if not trouble.is_too_old or reachable_rows(self.venue) is None:
                    raise
                self._skip_farthest(server.forming_ms())
                cursor_ms = max(cursor_ms + self._step_ms, self._oldest_ms)
                self._announce((server.forming_ms() - cursor_ms) // self._step_ms, is_first)
                continue
            self._apply_page(page, cursor_ms, is_first)
            after_ms = cursor_ms + (0 if page.closed else self.venue.page_rows * self._step_ms)
            cursor_ms = max(ledger.position_ms + self._step_ms, after_ms)
            if is_first and total:
                done = min(total, (cursor_ms - started_ms) // self._step_ms)
                self._feed.emit(CatchUpProgress(done, total))
            await self._feed.delivered()

    def _announce(self, total: int, is_first: bool) -> None:
        """Report how many candles are fetched, and how many are skipped."""
        if total > 0 and (is_first or self._skipped):
            self._feed.emit_status(FeedState.CATCHING_UP, fetching_sentence(self.venue, total, self._skipped))
        self._skipped = 0

    async def _sound_page(self, since_ms: int) -> Page:
        """Fetch a page; repeat the request a few times while it has invalid rows."""
        for _ in range(_BAD_PAGE_TRIES):
            page = await self._requests.page(since_ms, is_urgent=False)
            if not page.refused and page.unfit is None:
                break
            await asyncio.sleep(self._times.retry_s)
        if page.unfit is not None:
            self._reject(page.refused)
            raise VenueError(page.unfit, is_final=True)
        return page

    def _apply_page(self, page: Page, since_ms: int, is_first: bool) -> None:
        self._reject(page.refused)
        if page.first_ms is not None and not self._is_list_reached:
            self._skip_unlisted(page.first_ms)
            self._is_list_reached = True
        self._compare(page, since_ms)
        for candle in page.closed:
            for event in self._ledger.pass_on(candle, is_live=False):
                self._counters.back_filled += not is_first and isinstance(event, ClosedCandle)
                self._feed.emit(event)

    def _compare(self, page: Page, since_ms: int) -> None:
        now_ms, is_complete = self._server.now_ms(), not page.refused
        for correction in self._ledger.compare(page.closed, now_ms, since_ms, is_complete=is_complete):
            self._feed.emit(correction)

    def _skip_unlisted(self, first_ms: int) -> None:
        """Skip to the start of a list without the candle at the position or one before it. Others before its start may
        exist, so they are not reported as missing."""
        ledger = self._ledger
        count = (first_ms - ledger.position_ms) // self._step_ms - 1
        if count <= 0:
            return
        if ledger.is_known:
            listed = (self._server.forming_ms() - first_ms) // self._step_ms + 1
            sentence = cut_list_sentence(self.venue, listed, count)
        else:
            sentence = late_list_sentence(self.venue, first_ms, count)
        self._feed.emit_status(FeedState.CATCHING_UP, sentence)
        ledger.skip_to(first_ms - self._step_ms)

    async def live(self, greeting: str, lost: str | None = None) -> None:
        """Stream events. greeting: the status sentence once the stream is connected. lost: the known facts about a
        silent exchange; not None after any lost connection: the stream then counts as connected with its first
        message."""
        forming = self._forming = FormingCandles(self._server, has_consecutive_ids=self.venue.has_consecutive_ids)
        streamed = StreamedCandles(forming, self._server, self._requests, self._clock, self._times)
        status = LiveStatus(self._feed, self.venue, self._stall, greeting)
        watch = StreamWatch(self.venue, self._clock, self._times, forming, self._requests.open_candle)
        forming_ms = self._server.forming_ms()
        before_ms = forming_ms - self._step_ms
        # The candle to close next: the open one, or the one before it if it is not final yet.
        self._due_ms = before_ms if self._ledger.position_ms == before_ms - self._step_ms else forming_ms
        while not self._ledger.is_full:
            timeout_s = self._timeout_s()
            sent_s = self._clock.monotonic_s()
            updates = await watch.next(timeout_s)
            await self._check_clock_jump(sent_s + timeout_s)
            self._counters.count(updates, self._clock.now_ms())
            self._stall.count(updates)
            self._reject(updates.refused)
            self._reject(await streamed.apply(updates.klines))
            self._reject(forming.apply_trades(updates.trades))
            await streamed.request_open(self._ledger.position_ms, has_trades=bool(updates.trades))
            if not self.is_live and (forming.newest_ms is not None or status.is_connected):
                self.is_live = lost is None or not updates.is_empty
                if self.is_live:
                    status.report_live()
                else:
                    status.report_silence(lost or "")
            self.has_streamed = True
            await self._pass_on(forming, streamed)
            self._update(forming)
            if self.is_live:
                status.report_changes(
                    self._requests.held, is_waiting=self._is_waiting, mark=(self._ledger.yielded, self._shown)
                )
            await self._feed.delivered()
            self._end_in_time(updates.is_ending)

    async def _pass_on(self, forming: FormingCandles, streamed: StreamedCandles) -> None:
        """Pass on closed candles: from the stream, else by request."""
        self._pass_on_streamed(forming, streamed)
        newest_ms = forming.newest_ms
        over_ms = self._due_ms if self._until_due_s() <= 0.0 else None
        if newest_ms is not None and newest_ms > self._due_ms:
            over_ms = newest_ms - self._step_ms  # the newest closed candle that was not fetched yet
        self._is_waiting = over_ms is not None and self._requests.held is not None
        if over_ms is None or self._is_waiting:
            return
        try:
            await self._fetch_closed(over_ms, forming)
        except VenueError as trouble:
            if not trouble.is_demanded and not isinstance(trouble, RateLimitedError):
                raise
            self._is_waiting = True  # the stream continues; closed candles are fetched after the wait

    async def _fetch_closed(self, over_ms: int, forming: FormingCandles) -> None:
        """Fetch the closed candles up to and including `over_ms`."""
        ledger = self._ledger
        if over_ms - ledger.position_ms >= self.venue.page_rows * self._step_ms:  # the socket survived a long sleep
            await self.back_fill(is_first=False)
        if over_ms <= ledger.position_ms:  # fetched with the others, and closed in the exchange's own list
            self._due_ms = ledger.position_ms + self._step_ms
            return
        page = await self._requests.settled(over_ms, ledger.position_ms, forming.shown(over_ms))
        if ledger.is_known and (page.first_ms or 0) > ledger.position_ms + self._step_ms:
            await self.back_fill(is_first=False)  # which shows whether the list goes back that far
        self._reject(page.refused)
        live_from_ms = max(over_ms, (page.newest_ms or 0) - self._step_ms)
        for candle in page.closed:
            self._pass(candle, candle.open_time_ms >= live_from_ms, forming)
        self._due_ms = max(over_ms, ledger.position_ms) + self._step_ms

    def _update(self, forming: FormingCandles) -> None:
        """Emit the forming candle if it has changed, corrections, and periodically the vitals."""
        newest = forming.newest(self._ledger.position_ms)
        if newest is not None and newest != self._shown and not self._ledger.is_full:
            self._shown = newest
            self._feed.emit(FormingCandle(newest))
        page = self._checks.finished()
        if page is not None:
            self._reject(page.refused)
            self._compare(page, self._checks.since_ms)
            self._checks.schedule()
        self._checks.start(self._server.now_ms())
        now_s = self._clock.monotonic_s()
        if now_s >= self._vitals_due_s:
            self._vitals_due_s = now_s + self._times.vitals_s
            now_ms = self._clock.now_ms()
            self._feed.emit(self._counters.vitals(self.venue.name, now_ms, self._server, self._ledger, forming))

    async def _check_clock_jump(self, until_s: float) -> None:
        """Raises VenueError if the computer has slept. A wall clock that was set does not matter."""
        jump_s = self._sleep.jump_s()
        late_s = self._clock.monotonic_s() - until_s
        if jump_s <= self._times.slept_s and late_s <= _LATE_S:
            return
        before_ms = self._server.now_ms()
        await self._requests.sync()
        missed_s = (self._server.now_ms() - before_ms) / 1000.0
        if late_s > _LATE_S or missed_s >= jump_s / 2.0:
            raise VenueError(
                f"This computer slept for {in_words(max(missed_s, late_s))}. The missed candles are being fetched.",
                is_brief=True,
                is_of_socket=True,
            )

    def _end_in_time(self, is_ending: bool) -> None:
        """Raises VenueError if the connection needs to be renewed before its end."""
        if is_ending:
            raise VenueError(
                f"{self.venue.name} announced that it will close the connection.", is_planned=True, is_of_socket=True
            )
        if self.age_s >= self._life_s:
            raise VenueError(
                f"The connection to {self.venue.name} is being renewed before its limit of one day.",
                is_planned=True,
                is_of_socket=True,
            )

    def _pass_on_streamed(self, forming: FormingCandles, streamed: StreamedCandles) -> None:
        """Pass on candles after the position, without a gap, whose closing message has come and is due."""
        newest_ms = forming.newest_ms or 0
        while (candle := streamed.pop_closed(self._ledger.position_ms + self._step_ms)) is not None:
            if candle.open_time_ms + self._step_ms > self._server.now_ms() + _EARLY_MS:
                break
            self._pass(candle, candle.open_time_ms >= newest_ms - self._step_ms, forming)
        self._due_ms = max(self._due_ms, self._ledger.position_ms + self._step_ms)
        streamed.drop_closed(self._ledger.position_ms)

    def _pass(self, candle: Candle, is_live: bool, forming: FormingCandles) -> None:
        if self._ledger.is_full:
            return
        forming.settled(candle)
        if is_live:
            self._counters.close_delay_ms = float(self._server.now_ms() - candle.open_time_ms - self._step_ms)
        for event in self._ledger.pass_on(candle, is_live):
            self._feed.emit(event)

    def _until_due_s(self) -> float:
        look_s = self._times.grace_s if self.venue.reports_close else self._times.first_look_s
        return (self._due_ms + self._step_ms - self._server.now_ms()) / 1000.0 + look_s

    def _timeout_s(self) -> float:
        until_vitals_s = self._vitals_due_s - self._clock.monotonic_s()
        held = self._requests.held
        until_due_s = max(self._until_due_s(), 0.0 if held is None else held.wait_s)
        return min(
            max(0.0, until_due_s), max(0.0, until_vitals_s), self._times.vitals_s if self.is_live else _DIAL_LOOK_S
        )

    def _reject(self, refused: Sequence[Refused]) -> None:
        self._stall.count_refused(refused)
        for each in refused:
            self._counters.rejected += 1
            self._feed.emit(RejectedMessage(self._clock.now_ms(), each.reason, each.raw[:_RAW_CHARACTERS]))
