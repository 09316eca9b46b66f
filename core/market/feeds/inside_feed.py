"""An exchange's feed whose closed candles come with their inside: after each close the exchange is asked for
the finer candles of the same market."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from core.domain.candle import Candle, Inside, Interval, Market
from core.domain.candle_faults import problem_of
from core.domain.clock import Clock
from core.market.feeds.base import ClosedCandle, Feed, FeedEvent, FeedKind, StoredCandles
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.rate_limits import RequestGate
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls, OpenVenue, Venue
from core.market.inside import USUAL, can_be_inside, insides
from core.market.shown_names import shown_market

LONGEST = Interval.parse("1h")
"""Of longer candles the past would take hundreds of requests."""
_WAIT_S = 0.3
"""The longest that a live candle waits for its inside."""
_AGAIN_S = 0.15
"""After which a list without the newest finer candle is asked for once more: it may be late, or nothing was traded."""
_REST_S = 60.0
"""Without requests after an error: the inside is worth less than the feed."""
_log = logging.getLogger("ghostcandle.feed")


def with_insides(feed: Feed, urls: ExchangeUrls | None, gate: RequestGate, clock: Clock) -> Feed:
    """The feed of an exchange's market, asking for insides too if its candles are long enough."""
    market = feed.market
    if not can_be_inside(USUAL, market.interval) or market.interval.duration_ms > LONGEST.duration_ms:
        return feed
    finer = Market(market.venue, market.symbol, USUAL)
    return InsideFeed(feed, lambda: CcxtVenue(finer, urls, ExchangeTimes().request_s), gate, clock)


class InsideFeed:
    """Yields the events of another feed, with insides where they could be had in time. Implements
    `core.market.feeds.base.Feed`."""

    kind = FeedKind.EXCHANGE
    has_insides = True

    def __init__(
        self, feed: Feed, open_venue: OpenVenue, gate: RequestGate, clock: Clock, finer: Interval = USUAL
    ) -> None:
        """open_venue: opens the market's venue with the finer interval. gate: of the requests to this exchange."""
        self.market: Market = feed.market
        self._feed = feed
        self._finer = _FinerCandles(feed.market.interval, finer, open_venue, gate)
        self._clock = clock
        self._resting_until_s = 0.0

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        async for event in self._feed.events(after_ms, known):
            if isinstance(event, ClosedCandle):
                yield replace(event, candle=replace(event.candle, inside=await self._inside(event)))
            else:
                yield event

    async def aclose(self) -> None:
        await self._feed.aclose()
        await self._finer.close()

    async def _inside(self, closed: ClosedCandle) -> Inside | None:
        if self._clock.monotonic_s() < self._resting_until_s:
            return None
        ask = self._finer.ask(closed.candle, is_new=closed.is_live)
        try:
            await (asyncio.wait_for(ask, _WAIT_S) if closed.is_live else ask)
        except TimeoutError:
            pass  # what came before is used
        except VenueError as trouble:
            _log.info("no insides of %s for a while: %s", shown_market(self.market), trouble)
            self._resting_until_s = self._clock.monotonic_s() + _REST_S
            await self._finer.close()
            return None
        return self._finer.take(closed.candle)


class _FinerCandles:
    """The insides of an exchange's candles, fetched page by page. All methods but `close` raise VenueError."""

    def __init__(self, interval: Interval, finer: Interval, open_venue: OpenVenue, gate: RequestGate) -> None:
        self._interval, self._finer, self._open_venue, self._gate = interval, finer, open_venue, gate
        self._opening: asyncio.Task[Venue] | None = None
        self._known: dict[int, Inside] = {}
        """By opening time; dropped when they are taken."""
        self._fetched_until_ms = 0
        """The end of the newest candle whose finer ones were asked for, and are all there."""

    async def ask(self, candle: Candle, *, is_new: bool) -> None:
        """Fetch the finer candles of this one, in the order of the candles. is_new: it has just closed."""
        end_ms = self._interval.close_time_ms(candle.open_time_ms)
        may_ask_again = is_new
        while self._fetched_until_ms < end_ms:
            newest_ms = await self._fetch(max(candle.open_time_ms, self._fetched_until_ms), end_ms)
            if may_ask_again and newest_ms < end_ms - self._finer.duration_ms:
                may_ask_again = False
                await asyncio.sleep(_AGAIN_S)
            else:
                self._fetched_until_ms = max(self._fetched_until_ms, end_ms)

    def take(self, candle: Candle) -> Inside | None:
        """The inside as far as it was fetched, once."""
        found = self._known.get(candle.open_time_ms)
        self._known = {time_ms: each for time_ms, each in self._known.items() if time_ms > candle.open_time_ms}
        return found

    async def _fetch(self, since_ms: int, closed_until_ms: int) -> int:
        """Ask for a page. closed_until_ms: the end of the candle for which it is asked. Returns the opening time of its
        newest finer candle; 0 without any."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        venue = await asyncio.shield(self._opening)  # it continues after a live candle's time is over
        rows = await self._gate.send(partial(venue.candles, since_ms), is_urgent=False)
        sound = [row for row in rows if problem_of(row, self._finer) is None]
        if not sound:
            return 0
        times = np.array([row.open_time_ms for row in sound], dtype=np.int64)
        values = np.array([(row.open, row.high, row.low, row.close) for row in sound]).T
        found = insides(times, values, self._finer, self._interval)
        newest_ms = int(times[-1])
        # The last candle of a page may be cut off by its end, or be open still.
        whole_until_ms = self._interval.open_time_ms(self._finer.close_time_ms(newest_ms))
        kept_until_ms = max(whole_until_ms, closed_until_ms)
        self._known |= {time_ms: each for time_ms, each in found.items() if time_ms < kept_until_ms}
        self._fetched_until_ms = max(self._fetched_until_ms, whole_until_ms)
        return newest_ms

    async def _open(self) -> Venue:
        venue = self._open_venue()
        try:
            await self._gate.send(partial(venue.open, None))
        except BaseException:
            await venue.close()
            raise
        return venue

    async def close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            with suppress(VenueError, asyncio.CancelledError):
                await (await opening).close()
