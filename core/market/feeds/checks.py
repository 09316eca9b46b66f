"""Compares the candles passed on with the exchange's own list, in parallel to the stream."""

from __future__ import annotations

import asyncio
import logging

from core.domain.clock import Clock
from core.market.feeds.ledger import Ledger
from core.market.feeds.requests import Page, Requests
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError

_log = logging.getLogger("ghostcandle.feed")


class Checks:
    """One request at a time. A failed one is retried later: the stream continues without it."""

    def __init__(self, requests: Requests, clock: Clock, times: ExchangeTimes, ledger: Ledger) -> None:
        self._requests = requests
        self._clock = clock
        self._times = times
        self._ledger = ledger
        self._request: asyncio.Task[Page] | None = None
        self.since_ms = 0
        """Start of the newest request."""
        self._not_before_s = clock.monotonic_s() + times.confirm_s

    def start(self, now_ms: int) -> None:
        """Send a request if a candle is due for comparison and none is running."""
        if self._request is not None or self._clock.monotonic_s() < self._not_before_s:
            return
        since_ms = self._ledger.due_from_ms(now_ms)
        if since_ms is None:
            self._not_before_s = self._clock.monotonic_s() + self._times.vitals_s
        else:
            self.since_ms = since_ms
            self._request = asyncio.ensure_future(self._requests.page(since_ms, is_urgent=False))

    def finished(self) -> Page | None:
        """The result of a finished request, once."""
        if self._request is None or not self._request.done():
            return None
        task, self._request = self._request, None
        try:
            return task.result()
        except VenueError as trouble:
            _log.info("the last candles could not be compared: %s", trouble)
            self._not_before_s = self._clock.monotonic_s() + max(self._times.check_pause_s, trouble.wait_s)
            return None

    def schedule(self) -> None:
        """Schedule the next request: soon, if a difference needs to be confirmed."""
        pause_s = self._times.confirm_s if self._ledger.has_doubts else self._times.check_every_s
        self._not_before_s = self._clock.monotonic_s() + pause_s

    def cancel(self) -> None:
        if self._request is not None:
            self._request.cancel()
            self._request.add_done_callback(_consume)
            self._request = None


def _consume(task: asyncio.Task[Page]) -> None:
    """Retrieve the exception, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
