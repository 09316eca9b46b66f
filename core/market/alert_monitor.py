"""Watches the market for armed lines, and reports those that it crosses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Market
from core.domain.clock import Clock
from core.domain.price_lines import Direction, PriceLine
from core.market.alerts import PriceWatch, judge, rearmed

_TIMELESS = (FILE_VENUE, SIMULATED_VENUE)
"""Venues whose candle times are unrelated to any clock."""


class AlertMonitor:
    """Takes each forming or closed candle once. `on_crossed` gets the lines that fired at one candle or tick."""

    def __init__(
        self,
        lines: Callable[[], Iterable[PriceLine]],
        on_changed: Callable[[PriceLine], object],
        clock: Clock,
        on_crossed: Callable[[Sequence[PriceLine]], object],
    ) -> None:
        """lines: those of the market. on_changed: called with each line that the market has changed."""
        self._lines, self._on_changed, self._clock, self._on_crossed = lines, on_changed, clock, on_crossed
        self._watch: PriceWatch | None = None
        self._newest: Candle | None = None
        self._seen_at_s: float | None = None
        """When the newest candle was last received, on the monotonic clock; None while it is a stored one."""
        self.is_timeless = False
        """Whether the candle times are unrelated to the clock."""
        self._tick = 0.0

    def open(self, market: Market, newest: Candle | None) -> None:
        """Switch to another market. Watching begins at its newest stored candle."""
        self._watch, self._newest, self._seen_at_s = PriceWatch(market.interval), newest, None
        self.is_timeless = market.venue in _TIMELESS
        if newest is not None:
            self._watch.observe(newest)

    def update(self, candles: Sequence[Candle], tick: float) -> bool:
        """Take candles, forming or closed, in ascending time. Returns whether any line changed. tick: the smallest step
        of the market's prices."""
        if self._watch is None:
            return False
        self._tick = tick
        has_changed = False
        for candle in candles:
            observed = self._watch.observe(candle)
            if observed.is_newest:
                self._newest, self._seen_at_s = candle, self._clock.monotonic_s()
            crossed = []
            for line in self._lines():
                after = judge(line, observed, tick=tick, now_ms=self._clock.now_ms())
                if after is not line:
                    has_changed = True
                    self._on_changed(after)
                    if after.crossed_at_ms is not None:
                        crossed.append(after)
            if crossed:
                self._on_crossed(crossed)
        return has_changed

    def armed(self, line: PriceLine, *, is_again: bool = False) -> PriceLine:
        """The line, watched from now on. is_again: it has fired before."""
        if self._watch is None or self._newest is None:
            from_ms = 0 if self.is_timeless else self._clock.now_ms()
            return replace(rearmed(line, Direction.EITHER), known=None, watched_from_ms=from_ms)
        return self._watch.armed(line, self._market_ms(), tick=self._tick, is_again=is_again)

    def _market_ms(self) -> int | None:
        """A lower bound of the market's time. The computer's clock may differ from the exchange's, so it is only used
        before the first candle has come."""
        if self.is_timeless or self._newest is None:
            return None
        if self._seen_at_s is None:
            return self._clock.now_ms()
        return self._newest.open_time_ms + round(1000.0 * (self._clock.monotonic_s() - self._seen_at_s))
