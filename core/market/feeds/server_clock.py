"""The exchange's time, on this computer's monotonic clock, so that a step of the wall clock closes no candle."""

from __future__ import annotations

from core.domain.candle import Candle, Interval
from core.domain.clock import Clock
from core.market.feeds.grid import CandleGrid

_AHEAD_MS = 5_000


class ServerClock:
    """The exchange's current time. Before `set` is called it is this computer's."""

    def __init__(self, clock: Clock, interval: Interval) -> None:
        self._clock = clock
        self.interval = interval
        self._server_ms = float(clock.now_ms())
        self._synced_s = clock.monotonic_s()
        self._doubt_ms = 0.0
        self._is_reported = False
        self.grid = CandleGrid(interval)

    def set(self, server_ms: int | None, sent_s: float) -> None:
        """Set the clock from a request sent at `sent_s`; server_ms None: the exchange does not report its time."""
        now_s = self._clock.monotonic_s()
        self._is_reported = server_ms is not None
        self._server_ms = float(self._clock.now_ms() if server_ms is None else server_ms)
        self._synced_s = now_s if server_ms is None else (sent_s + now_s) / 2.0
        self._doubt_ms = 0.0 if server_ms is None else (now_s - sent_s) * 500.0

    @property
    def age_s(self) -> float:
        """Seconds since the last sync."""
        return self._clock.monotonic_s() - self._synced_s

    @property
    def phase_ms(self) -> int:
        """How far opening times lie off the epoch's grid."""
        return self.grid.phase_ms

    @property
    def offset_ms(self) -> float | None:
        """The exchange's clock minus this computer's; None if it does not report its time."""
        return self._now_ms() - self._clock.now_ms() if self._is_reported else None

    def _now_ms(self) -> float:
        return self._server_ms + (self._clock.monotonic_s() - self._synced_s) * 1000.0

    def now_ms(self) -> int:
        return int(self._now_ms())

    def surely_ms(self) -> int:
        """A lower bound of the exchange's time, given the duration of the request."""
        return int(self._now_ms() - self._doubt_ms)

    def forming_ms(self) -> int:
        """The opening time of the open candle."""
        return self.interval.open_time_ms(self.now_ms() - self.phase_ms) + self.phase_ms

    def is_ahead(self, time_ms: int) -> bool:
        """Whether a time is so far in the future that it or this clock is wrong."""
        return time_ms > self.now_ms() + min(self.interval.duration_ms, _AHEAD_MS)

    def learn(self, candles: list[Candle]) -> None:
        """Learn the time and the grid from candles: one that exists has opened, and weeks open on Mondays."""
        if not candles:
            return
        newest_ms = candles[-1].open_time_ms
        self.grid.learn([candle.open_time_ms for candle in candles])
        if newest_ms > self.now_ms():
            self._server_ms, self._synced_s = float(newest_ms), self._clock.monotonic_s()
            self._doubt_ms = 0.0
