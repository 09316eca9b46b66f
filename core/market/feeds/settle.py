"""Asking for a candle that has closed until its numbers can be believed."""

from __future__ import annotations

import asyncio
import math

from core.domain.candle import Candle, Interval
from core.domain.clock import Clock
from core.market.feeds.closing import Closing
from core.market.feeds.forming import FormingCandles
from core.market.feeds.patience import ExchangeTimes
from core.market.feeds.requests import Page, Requests
from core.market.feeds.trouble import VenueError

_VOLUME_TOLERANCE = 1e-9


class Settler:
    """A request may be answered from an older copy: so an answer is held against the stream, or must come twice."""

    def __init__(
        self, requests: Requests, clock: Clock, times: ExchangeTimes, interval: Interval, closing: Closing
    ) -> None:
        self._requests = requests
        self._clock = clock
        self._times = times
        self._interval = interval
        self._closing = closing

    async def settle(self, over_ms: int, position_ms: int, forming: FormingCandles) -> Page:
        """What came after the position, with the candle of `over_ms` in its final state, or what is there when patience
        ends. Raises VenueError where there is nothing but trouble."""
        deadline_s = self._clock.monotonic_s() + self._times.patience_s
        retry_s = self._times.retry_s
        shown, before = forming.shown(over_ms), None
        while True:
            is_late = self._clock.monotonic_s() >= deadline_s
            page = await self._asked_again(position_ms, is_last=is_late)
            found = page.at(over_ms)
            if is_late or (not page.refused and _is_final(found, before, shown, over_ms, page.newest_ms)):
                return page
            before = found
            left_s = max(0.0, deadline_s - self._clock.monotonic_s())
            await self._closing.unless(asyncio.sleep(min(retry_s, left_s)))
            retry_s *= 2.0

    async def _asked_again(self, position_ms: int, is_last: bool) -> Page:
        """A brief trouble gives an empty page, unless this was the last try."""
        try:
            return await self._closing.unless(self._requests.page(position_ms + 1, self._interval))
        except VenueError as trouble:
            if is_last or not trouble.is_brief:
                raise
            return Page([], None)


def _is_final(
    found: Candle | None, before: Candle | None, shown: Candle | None, over_ms: int, newest_ms: int | None
) -> bool:
    """Whether the answer agrees with what the stream showed last, or, where the stream showed less, with the answer
    `before`. A candle that is not there although a later one is had no trades."""
    if found is None:
        return shown is None and newest_ms is not None and newest_ms > over_ms
    if shown is not None and math.isclose(found.volume, shown.volume, rel_tol=_VOLUME_TOLERANCE):
        return True
    is_older = shown is not None and found.volume < shown.volume
    return found == before and not is_older
