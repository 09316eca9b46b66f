"""Requests that confirm candles: one that has just closed, until its numbers are final, and the last few, once more."""

from __future__ import annotations

import asyncio
import logging
import math

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.market.feeds.forming import FormingCandles
from core.market.feeds.interruptible_wait import CloseSignal
from core.market.feeds.ledger import Ledger
from core.market.feeds.requests import Page, Requests
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError

_VOLUME_TOLERANCE = 1e-9
_log = logging.getLogger("ghostcandle.feed")


class Settler:
    """A response may be stale, so it must agree with the stream or come twice."""

    def __init__(self, requests: Requests, clock: Clock, times: ExchangeTimes, closing: CloseSignal) -> None:
        self._requests = requests
        self._clock = clock
        self._times = times
        self._closing = closing

    async def settle(self, over_ms: int, position_ms: int, forming: FormingCandles) -> Page:
        """The candles after the position, with the final candle of `over_ms`, or what is available at the deadline.
        Raises VenueError if every request has failed."""
        deadline_s = self._clock.monotonic_s() + self._times.patience_s
        retry_s = self._times.retry_s
        shown, before = forming.shown(over_ms), None
        while True:
            is_late = self._clock.monotonic_s() >= deadline_s
            page = await self._page(position_ms, is_last=is_late)
            found = page.at(over_ms)
            if is_late or (not page.refused and _is_final(found, before, shown, over_ms, page.newest_ms)):
                return page
            before = found
            left_s = max(0.0, deadline_s - self._clock.monotonic_s())
            await self._closing.run_until_closed(asyncio.sleep(min(retry_s, left_s)))
            retry_s *= 2.0

    async def _page(self, position_ms: int, is_last: bool) -> Page:
        """A brief error gives an empty page, except at the last attempt."""
        try:
            return await self._closing.run_until_closed(self._requests.page(position_ms + 1))
        except VenueError as trouble:
            if is_last or not trouble.is_brief:
                raise
            return Page([], None)


def _is_final(
    found: Candle | None, before: Candle | None, shown: Candle | None, over_ms: int, newest_ms: int | None
) -> bool:
    """Whether the response agrees with the stream's newest version, or, if the stream has less volume, with the
    previous response. A missing candle had no trades if a later one is there."""
    if found is None:
        return shown is None and newest_ms is not None and newest_ms > over_ms
    if shown is not None and math.isclose(found.volume, shown.volume, rel_tol=_VOLUME_TOLERANCE):
        return True
    is_older = shown is not None and found.volume < shown.volume
    return found == before and not is_older


class Checks:
    """Compares candles that were passed on with the exchange's own list. One request at a time; a failed one is retried
    later, and the stream continues without it."""

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
