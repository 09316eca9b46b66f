"""Comparing what was passed on with the exchange's own list, beside the stream and without holding it up."""

from __future__ import annotations

import asyncio
import logging

from core.domain.candle import Interval
from core.domain.clock import Clock
from core.market.feeds.ledger import Ledger
from core.market.feeds.patience import ExchangeTimes
from core.market.feeds.requests import Page, Requests
from core.market.feeds.trouble import VenueError

_log = logging.getLogger("ghostcandle.feed")


class Checks:
    """One request at a time. One that fails is put off: the stream goes on without it."""

    def __init__(
        self, requests: Requests, clock: Clock, times: ExchangeTimes, ledger: Ledger, interval: Interval
    ) -> None:
        self._requests = requests
        self._clock = clock
        self._times = times
        self._ledger = ledger
        self._interval = interval
        self._asking: asyncio.Task[Page] | None = None
        self.since_ms = 0
        """From where on was asked last."""
        self._not_before_s = clock.monotonic_s() + times.confirm_s

    def start(self, now_ms: int) -> None:
        """Ask, where a candle is due to be compared and nothing is under way."""
        if self._asking is not None or self._clock.monotonic_s() < self._not_before_s:
            return
        since_ms = self._ledger.due_from_ms(now_ms)
        if since_ms is None:
            self._not_before_s = self._clock.monotonic_s() + self._times.vitals_s
        else:
            self.since_ms = since_ms
            self._asking = asyncio.ensure_future(self._requests.page(since_ms, self._interval))

    def finished(self) -> Page | None:
        """The answer, once."""
        if self._asking is None or not self._asking.done():
            return None
        task, self._asking = self._asking, None
        try:
            return task.result()
        except VenueError as trouble:
            _log.info("the last candles could not be compared: %s", trouble)
            self._not_before_s = self._clock.monotonic_s() + max(self._times.check_pause_s, trouble.wait_s)
            return None

    def rest(self) -> None:
        """Wait until the next one: briefly where a difference is to be confirmed."""
        pause_s = self._times.confirm_s if self._ledger.has_doubts else self._times.check_every_s
        self._not_before_s = self._clock.monotonic_s() + pause_s

    def cancel(self) -> None:
        """Let go of what is under way."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking.add_done_callback(_consume)
            self._asking = None


def _consume(task: asyncio.Task[Page]) -> None:
    """Nobody wants its failure any more."""
    if not task.cancelled():
        task.exception()
