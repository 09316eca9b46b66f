"""What is reported of a connection whose stream is waited for: that it is live, and what keeps candles from coming."""

from __future__ import annotations

from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.rate_limits import RateLimitedError
from core.market.feeds.stall_watch import StallWatch
from core.market.feeds.task_feed import TaskFeed
from core.market.feeds.venue import Venue


class LiveStatus:
    """Of one connection. Each change is reported once."""

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
        self._feed.say(FeedState.LIVE, self._greeting if self._has_stream else f"{self._greeting}{by_request}")

    def report_silence(self, lost: str) -> None:
        """The new connection has brought no message yet. lost: what happened to the last one."""
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
            self._feed.say(FeedState.LIVE, self._stall.sentence(now_s, self._venue.name))
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
