"""Reports on a connection that waits for its stream: that it is live, or why no candles come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.domain.candle import Market
from core.domain.counts import in_words
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.rate_limits import RateLimitedError
from core.market.feeds.task_feed import TaskFeed
from core.market.feeds.venue import Refused, Updates, Venue

_INTERVALS = 3


class StallWatch:
    """Detects a stall over all connections of a feed: a candle may be longer than a connection."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._longest_s = _INTERVALS * market.interval.duration_ms / 1000.0
        self._mark: object = None
        self._reported_mark: object = None
        self._since_s = self._due_s = 0.0
        self._rows = 0
        self._refused = Counter[str]()
        self.is_reported = False
        """Whether the last status was that no candle comes."""

    @property
    def is_over(self) -> bool:
        """Whether a candle has come since the last report."""
        return self._reported_mark != self._mark

    def count(self, updates: Updates) -> None:
        self._rows += len(updates.klines) + len(updates.trades)

    def count_refused(self, refused: Sequence[Refused]) -> None:
        self._refused.update(each.reason for each in refused)

    def is_due(self, now_s: float, mark: object) -> bool:
        """Whether to report, the first time after three intervals and then after twice the time. mark: changes with
        every candle that is passed on, closed or forming."""
        if mark != self._mark:
            self._mark, self._since_s, self._due_s = mark, now_s, now_s + self._longest_s
            self._rows = 0
            self._refused.clear()
        if now_s < self._due_s:
            return False
        self._due_s = 2.0 * now_s - self._since_s
        self._reported_mark = mark
        return True

    def sentence(self, now_s: float, name: str) -> str:
        """A sentence on the missing candles and the data that has come. name: the exchange's."""
        lacking = f"No candle of {self._market.symbol} {self._market.interval} for {in_words(now_s - self._since_s)}"
        if not (self._rows or self._refused):
            return f"{lacking}: {name} reports no trades."
        refused = ", ".join(f"{count:,} times {reason}" for reason, count in self._refused.most_common())
        return f"{lacking}, though {name} sends data. Refused: {refused or 'nothing'}."


class LiveStatus:
    """The live status of one connection. Each change is reported once."""

    def __init__(self, feed: TaskFeed, venue: Venue, stall: StallWatch, greeting: str) -> None:
        """greeting: the sentence while all is well."""
        self._feed = feed
        self._venue = venue
        self._stall = stall
        self._greeting = greeting
        self._has_stream = True
        self._is_wait_reported = self._is_silence_reported = False

    @property
    def is_connected(self) -> bool:
        """Whether the stream's socket is, or there is none to wait for."""
        return self._venue.is_streaming or not self._venue.has_stream

    def report_live(self) -> None:
        self._has_stream, self._stall.is_reported = self._venue.has_stream, False
        by_request = f" {self._venue.name} has no stream of them, so they are requested."
        self._feed.emit_status(FeedState.LIVE, self._greeting if self._has_stream else f"{self._greeting}{by_request}")

    def report_silence(self, lost: str) -> None:
        """Report that the new connection has no message yet. lost: the reason why the last one ended."""
        if not self._is_silence_reported:
            self._is_silence_reported = True
            sentence = f"{lost} Connected again; waiting for the first message.".lstrip()
            now_ms = self._feed.clock.now_ms()
            self._feed.emit(FeedStatus(FeedState.RECONNECTING, sentence, now_ms, awaits_message=True))

    def report_changes(self, held: RateLimitedError | None, *, is_waiting: bool, mark: object) -> None:
        """held: the rate limit, if there is one; is_waiting: whether a candle waits for its end. mark: changes with
        every candle that is passed on, closed or forming."""
        self._report_rate_limit(held, is_waiting)
        now_s = self._feed.clock.monotonic_s()
        if self._stall.is_due(now_s, mark):
            self._stall.is_reported = True
            self._feed.emit_status(FeedState.LIVE, self._stall.sentence(now_s, self._venue.name))
        elif self._venue.has_stream is not self._has_stream or (self._stall.is_reported and self._stall.is_over):
            self.report_live()

    def _report_rate_limit(self, held: RateLimitedError | None, is_waiting: bool) -> None:
        if held is None and self._is_wait_reported:
            self._is_wait_reported = False
            self.report_live()
        elif held is not None and is_waiting and not self._is_wait_reported:
            self._is_wait_reported = True
            now_ms = self._feed.clock.now_ms()
            retry_at_ms = now_ms + round(held.wait_s * 1000.0)
            retry = "The stream continues; closed candles are requested"
            self._feed.emit(FeedStatus(FeedState.LIVE, str(held), now_ms, None, retry_at_ms, retry=retry))
