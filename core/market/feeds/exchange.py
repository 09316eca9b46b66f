"""Live candles from an exchange, over one connection after another, with a status for each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from core.domain.backoff import Backoff
from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.counts import counted
from core.domain.venue_names import next_venue, venue_name
from core.market.feeds.base import FeedError, FeedKind, FeedState, FeedStatus, StoredCandles
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.closed_candles import CandleLedger, FeedCounters
from core.market.feeds.connection import Connection
from core.market.feeds.live_status import StallWatch
from core.market.feeds.rate_limits import RateLimitHold, RequestGate
from core.market.feeds.task_feed import TaskFeed
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls, OpenVenue, Venue

_OFFERED_AFTER = 3
"""Consecutive failures after which another venue is offered for any error."""


class ExchangeFeed(TaskFeed):
    """Spot candles without a key: history, then live. Implements `core.market.feeds.base.Feed`."""

    kind = FeedKind.EXCHANGE

    def __init__(
        self,
        market: Market,
        clock: Clock,
        catch_up: int = 1000,
        limit: int | None = None,
        urls: ExchangeUrls | None = None,
        times: ExchangeTimes | None = None,
        backoff: Backoff | None = None,
        fallback_venues: Sequence[str] = (),
        open_venue: OpenVenue | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        """catch_up: closed candles fetched first. limit: closed candles emitted in all. urls: another address.

        fallback_venues: ccxt ids in the order in which they are offered if this venue fails.
        open_venue: creates each connection's venue; default: ccxt's. gate: shared with everything else that sends
        requests to this exchange.
        """
        super().__init__(market, clock)
        self._catch_up = catch_up if limit is None else min(catch_up, limit)
        self._times = times or ExchangeTimes()
        self._backoff = backoff or Backoff()
        self._next_venue = next_venue(fallback_venues, market.venue)
        self._open_venue = open_venue or (lambda: CcxtVenue(market, urls, self._times.request_s))
        self._gate = gate or RateLimitHold(clock)
        self._ledger = CandleLedger(market.interval, self._times, limit)
        self._counters = FeedCounters()
        self._stall = StallWatch(market)
        self._connection: Connection | None = None
        self._was_live = False
        self._lost: str | None = None
        self._failures = 0

    async def aclose(self) -> None:
        await super().aclose()
        await self._disconnect()  # the cancellation may have come while this was awaited

    async def _run(self, after_ms: int | None, known: StoredCandles | None) -> None:
        self.emit_status(FeedState.CONNECTING, f"Requesting {self.market.symbol} from {venue_name(self.market.venue)}.")
        if after_ms is not None:
            self._ledger.place(after_ms, is_known=True)
        if known is not None:
            self._ledger.seed(known)
        try:
            end = await self._run_connections(has_stored=known is not None and bool(known.candles))
        finally:
            await self._disconnect()
        self.emit_status(FeedState.ENDED, end)

    async def _run_connections(self, *, has_stored: bool) -> str:
        """One connection after another. Returns why there is no further one."""
        while not self._ledger.is_full:
            try:
                await self._run_connection()
            except VenueError as trouble:
                if trouble.is_absent and has_stored:
                    return f"{trouble} The stored candles of {self.market.symbol} are shown; no new ones will follow."
                wait_s = await self._disconnect_after(trouble)
                if self._was_live and not trouble.is_planned:
                    self._lost = str(trouble) if trouble.is_silence else self._lost or ""
                now_ms = self.clock.now_ms()
                retry_at_ms, offer = now_ms + round(wait_s * 1000.0), self._offer(trouble)
                self.emit(FeedStatus(FeedState.RECONNECTING, str(trouble), now_ms, offer, retry_at_ms))
                self.end_if_closed()
                await asyncio.sleep(wait_s)
        return f"{counted(self._ledger.yielded, 'candle')} of {self.market.symbol} received."

    async def _run_connection(self) -> None:
        connection = await self._connect()
        connection.place(self._catch_up)
        before = self._ledger.yielded
        await connection.back_fill(is_first=not self._was_live)
        greeting = f"Receiving {self.market.symbol} {self.market.interval} candles from {connection.venue.name}."
        if self._was_live:
            missed = self._ledger.yielded - before
            greeting += f" {counted(missed, 'candle')} back-filled." if missed else " No candle was missed."
        try:
            await connection.live(greeting, self._lost)
        finally:
            self._was_live = self._was_live or connection.has_streamed
            if connection.is_live:
                self._lost = None

    async def _connect(self) -> Connection:
        """A new venue for each connection: ccxt's objects do not survive every fault, and their memory grows."""
        older: Venue | None = None if self._connection is None else self._connection.venue
        await self._disconnect()
        life_s = self._times.renew_s + self._times.renew_jitter_s * self._backoff.random.random()
        self._connection = Connection(
            self, self._open_venue(), self._gate, self._times, self._ledger, self._counters, self._stall, life_s
        )
        await self._connection.open(older)
        return self._connection

    async def _disconnect(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _disconnect_after(self, trouble: VenueError) -> float:
        """Close the connection. Returns the seconds to wait. Raises FeedError if waiting does not help."""
        self._gate.record(trouble)  # the stream may be rate-limited too
        age_s = 0.0 if self._connection is None else self._connection.age_s
        await self._disconnect()
        if trouble.is_final:
            raise FeedError(str(trouble), self._offer(trouble)) from trouble
        self._counters.reconnects += 1
        if age_s >= self._times.steady_s:
            self._backoff.reset()
            self._failures = 0
            if trouble.is_planned:
                return 0.0
        self._failures += 1
        return self._backoff.next_s(trouble.wait_s)

    def _offer(self, trouble: VenueError) -> str | None:
        is_stuck = self._failures >= _OFFERED_AFTER and not trouble.is_planned
        return self._next_venue if trouble.is_of_venue or is_stuck else None


async def probe(
    market: Market, urls: ExchangeUrls | None, timeout_s: float, clock: Clock, hold: RateLimitHold | None = None
) -> VenueError | None:
    """Request the market's newest candles. None if the exchange answers in time, else the error."""
    hold = hold or RateLimitHold(clock)
    venue: CcxtVenue | None = None
    try:
        venue = CcxtVenue(market, urls, timeout_s)
        async with asyncio.timeout(timeout_s):
            await hold.send(partial(venue.open, None))
            now_ms = await hold.send(venue.server_ms) or clock.now_ms()
            await hold.send(partial(venue.candles, now_ms - 3 * market.interval.duration_ms))
    except TimeoutError:
        return VenueError(f"{market.venue} did not answer within {timeout_s:g} s.")
    except VenueError as trouble:
        return trouble
    finally:
        if venue is not None:
            await venue.close()
    return None
