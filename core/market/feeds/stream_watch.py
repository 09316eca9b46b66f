"""Waits for the stream, and distinguishes a quiet market from a dead socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.market.feeds.forming import FormingCandles
from core.market.feeds.rate_limits import RateLimitedError
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import Kline, Updates, Venue

_MOST_FAILED_CHECKS = 3


class StreamWatch:
    """One connection's stream. `next` raises VenueError if it has died silently."""

    def __init__(
        self,
        venue: Venue,
        clock: Clock,
        times: ExchangeTimes,
        forming: FormingCandles,
        request_open: Callable[[], Awaitable[list[Candle]]],
    ) -> None:
        """request_open: requests the open candle."""
        self._venue = venue
        self._clock = clock
        self._times = times
        self._forming = forming
        self._request_open = request_open
        self._base: Candle | None = None
        self._patience_s = times.silence_s
        self._quiet_s = 0.0
        self._failed_checks = 0
        self._is_doubted = self._has_received = False
        self._sides = _TwoStreams(forming, times.silence_s)

    async def next(self, timeout_s: float) -> Updates:
        """The data of the next `timeout_s`, or nothing."""
        began_s = self._clock.monotonic_s()
        updates = await self._venue.updates(max(0.0, min(timeout_s, self._patience_s - self._quiet_s)))
        now_s = self._clock.monotonic_s()
        if updates.is_empty:
            self._quiet_s += now_s - began_s
            if self._quiet_s >= self._patience_s:
                updates.klines += await self._check()
        else:
            self._has_received, self._is_doubted = True, False
            self._quiet_s, self._patience_s, self._failed_checks = 0.0, self._times.silence_s, 0
        silent = self._sides.silent(updates, now_s)
        if silent is not None:
            raise VenueError(
                f"{self._venue.name} has stopped sending {silent}, though its other stream continues.",
                is_brief=True,
                is_silence=True,
            )
        return updates

    async def _check(self) -> list[Kline]:
        """Request the open candle: to compare it with the stream, or, of a market without a stream, to show it."""
        try:
            page = await self._request_open()
        except RateLimitedError as held:  # another client hit the rate limit: that says nothing about the socket
            self._quiet_s, self._patience_s = 0.0, held.wait_s
            return []
        except VenueError as trouble:
            self._failed_checks += 1
            if not trouble.is_brief or self._failed_checks >= _MOST_FAILED_CHECKS:
                raise
            self._quiet_s, self._patience_s = 0.0, self._times.doubt_s
            return []
        self._quiet_s = 0.0
        if not self._venue.has_stream:
            self._patience_s, self._failed_checks = self._times.silence_s, 0
            return [Kline(candle) for candle in page]
        is_moving = self._is_moving(page)
        if is_moving and self._is_doubted:
            sentence = f"{self._venue.name} has stopped sending data, though its market moves."
            raise VenueError(sentence, is_brief=True, is_silence=True)
        self._is_doubted = is_moving
        self._patience_s = self._times.doubt_s if is_moving else self._times.silence_s
        return []

    def _is_moving(self, page: list[Candle]) -> bool:
        """Whether there were trades that the stream did not report."""
        if not page:
            return False
        newest, base = page[-1], self._base
        if base is None and not self._has_received:
            self._base = newest
            return False
        reported = self._forming.volume(newest.open_time_ms)
        if base is not None and base.open_time_ms == newest.open_time_ms:
            reported = max(reported, base.volume)
        return newest.volume > reported


class _TwoStreams:
    """Candles and trades on separate sockets, of which one may die while the other continues."""

    def __init__(self, forming: FormingCandles, silence_s: float) -> None:
        self._forming = forming
        self._silence_s = silence_s
        self._last_trade_s: float | None = None
        self._last_kline_s: float | None = None
        self._owed_s: dict[str, float] = {}

    def silent(self, updates: Updates, now_s: float) -> str | None:
        """The stream that is overdue, judged by the other."""
        has_grown = any(self._grows(kline.candle) for kline in updates.klines)
        if updates.klines:
            self._last_kline_s = now_s
            self._owed_s.pop("candles", None)
        elif updates.trades and self._last_kline_s is not None:
            self._owed_s.setdefault("candles", now_s)
        if updates.trades:
            self._last_trade_s = now_s
            self._owed_s.pop("trades", None)
        elif has_grown and self._last_trade_s is not None and now_s - self._last_trade_s > self._silence_s / 2.0:
            self._owed_s.setdefault("trades", now_s)
        others = {"candles": self._last_trade_s, "trades": self._last_kline_s}
        owed = (what for what, since_s in self._owed_s.items() if now_s - since_s > self._silence_s)
        return next((what for what in owed if self._is_recent(others[what], now_s)), None)

    def _is_recent(self, spoke_s: float | None, now_s: float) -> bool:
        """Whether a stream is alive. `StreamWatch` handles the case that both have died."""
        return spoke_s is not None and now_s - spoke_s <= self._silence_s / 2.0

    def _grows(self, candle: Candle) -> bool:
        shown = self._forming.shown(candle.open_time_ms)
        return candle.volume > (0.0 if shown is None else shown.volume)
