"""The candles of one connection's stream: checked, and requested if the stream shows none."""

from __future__ import annotations

import math

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.market.feeds.forming import FormingCandles
from core.market.feeds.requests import Requests
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import FUTURE, Kline, Refused

_OPEN_SHARE = 1.0 / 60.0
"""Share of a candle's length between two requests of the open candle, if the stream does not show it."""
_TRUST_S = 5.0
"""How long the local clock is trusted after it was confirmed against a message with a future time."""
_SUSPECT = 5
"""Candles in a row from the future, before the list shows whether the stream has their ends as their times."""


class StreamedCandles:
    """All methods that send requests raise VenueError."""

    def __init__(
        self, forming: FormingCandles, server: ServerClock, requests: Requests, clock: Clock, times: ExchangeTimes
    ) -> None:
        self._forming = forming
        self._server = server
        self._requests = requests
        self._clock = clock
        self._silence_s = times.silence_s
        self._open_every_s = max(times.silence_s, server.interval.duration_ms / 1000.0 * _OPEN_SHARE)
        self._open_due_s = clock.monotonic_s() + times.silence_s
        self._trusted_until_s = -math.inf
        self._are_refused = False
        """Whether all candles of the newest message were."""
        self._early = 0
        self._has_ends = False
        """Whether the stream has the ends of its candles as their times."""
        self._closed: dict[int, Candle] = {}
        """Candles whose closing message has come, by opening time."""

    async def apply(self, klines: list[Kline]) -> list[Refused]:
        """Apply the valid ones; returns the others. One from the future triggers a clock sync, as the local clock may
        be wrong."""
        if not klines:
            return []
        newest_ms = max(kline.candle.open_time_ms for kline in klines)
        if self._server.is_ahead(newest_ms) and not self._has_ends:
            await self._sync_clock(newest_ms)
        refused = [each for each in map(self._apply_one, klines) if each is not None]
        self._are_refused = len(refused) == len(klines)
        self._early = self._early + 1 if self._are_refused and refused[-1].reason == FUTURE else 0
        if self._early >= _SUSPECT:
            await self._compare(newest_ms)
        return refused

    def _apply_one(self, kline: Kline) -> Refused | None:
        reason = self._forming.rejection_reason(kline.candle)
        if self._has_ends or reason is not None:
            return Refused("the end of the candle as its time" if self._has_ends else str(reason), str(kline))
        if self._forming.is_final(kline):
            self._closed[kline.candle.open_time_ms] = kline.candle
        self._forming.apply_kline(kline)
        self._server.grid.learn([kline.candle.open_time_ms])
        return None

    async def _compare(self, newest_ms: int) -> None:
        """Compare the time of a streamed candle with the list's newest one."""
        if self._requests.held is not None:
            return
        self._early = 0
        try:
            listed_ms = await self._requests.newest_ms()
        except VenueError as trouble:
            if not trouble.is_brief:
                raise
        else:
            self._has_ends = listed_ms is not None and listed_ms < newest_ms

    async def _sync_clock(self, shown_ms: int) -> None:
        """Sync with the exchange's clock. If ours was right and the message wrong, not again for a while."""
        now_s = self._clock.monotonic_s()
        if now_s < self._trusted_until_s or self._requests.held is not None:
            return
        await self._requests.sync()
        if self._server.is_ahead(shown_ms):
            self._trusted_until_s = now_s + _TRUST_S

    def pop_closed(self, open_time_ms: int) -> Candle | None:
        return self._closed.pop(open_time_ms, None)

    def drop_closed(self, until_ms: int) -> None:
        """Drop those that opened at a time or before it."""
        self._closed = {open_ms: each for open_ms, each in self._closed.items() if open_ms > until_ms}

    async def request_open(self, after_ms: int, *, has_trades: bool) -> None:
        """Request the open candle now and then while the market trades and none can be shown: the streamed ones are
        refused, or there are none, and the first trades of the candle are unknown."""
        now_s = self._clock.monotonic_s()
        is_shown = self._forming.newest(after_ms) is not None
        if is_shown and not self._are_refused:
            self._open_due_s = max(self._open_due_s, now_s + self._silence_s)
        elif now_s >= self._open_due_s and (self._are_refused or has_trades) and self._requests.held is None:
            self._open_due_s = now_s + self._open_every_s
            await self._apply_open()

    async def _apply_open(self) -> None:
        try:
            for candle in await self._requests.open_candle():
                self._forming.apply_kline(Kline(candle))
        except VenueError as trouble:
            if not trouble.is_brief:
                raise
