"""Watches the market for the armed lines, and tells of those that it crosses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Market
from core.domain.clock import Clock
from core.domain.price_lines import Direction, PriceLine
from core.market.alerts import PriceWatch, judge, rearmed

_TIMELESS = (FILE_VENUE, SIMULATED_VENUE)
"""Their candles have times of their own, which no clock follows."""


class AlertDesk:
    """Each candle that forms or closes goes through here, once. `on_crossed` gets the lines that one candle or tick
    set off."""

    def __init__(
        self,
        lines: Callable[[], Iterable[PriceLine]],
        note: Callable[[PriceLine], object],
        clock: Clock,
        on_crossed: Callable[[Sequence[PriceLine]], object],
    ) -> None:
        """lines: those of the market. note: takes over what the market did to one."""
        self._lines, self._note, self._clock, self._on_crossed = lines, note, clock, on_crossed
        self._watch: PriceWatch | None = None
        self._newest: Candle | None = None
        self._seen_at_s: float | None = None
        """On the monotonic clock, when the newest candle was last seen; None while it is a stored one."""
        self.is_timeless = False
        """Whether the times of its candles say nothing of now."""
        self._tick = 0.0

    def open(self, market: Market, newest: Candle | None) -> None:
        """Another market. Its newest stored candle is where watching begins: what came before has been."""
        self._watch, self._newest, self._seen_at_s = PriceWatch(market.interval), newest, None
        self.is_timeless = market.venue in _TIMELESS
        if newest is not None:
            self._watch.look(newest)

    def see(self, candles: Sequence[Candle], tick: float) -> bool:
        """Candles, forming or closed, in ascending time. Returns whether any line changed. tick: the smallest step of
        the market's prices."""
        if self._watch is None:
            return False
        self._tick = tick
        has_changed = False
        for candle in candles:
            seen = self._watch.look(candle)
            if seen.is_newest:
                self._newest, self._seen_at_s = candle, self._clock.monotonic_s()
            crossed = []
            for line in self._lines():
                after = judge(line, seen, tick=tick, now_ms=self._clock.now_ms())
                if after is not line:
                    has_changed = True
                    self._note(after)
                    if after.crossed_at_ms is not None:
                        crossed.append(after)
            if crossed:
                self._on_crossed(crossed)
        return has_changed

    def armed(self, line: PriceLine, *, is_again: bool = False) -> PriceLine:
        """The line as it is watched from now on. is_again: it has gone off before."""
        if self._watch is None or self._newest is None:
            from_ms = 0 if self.is_timeless else self._clock.now_ms()
            return replace(rearmed(line, Direction.EITHER), known=None, watched_from_ms=from_ms)
        return self._watch.armed(line, self._market_ms(), tick=self._tick, is_again=is_again)

    def _market_ms(self) -> int | None:
        """The least that the market's time can be. The computer's clock may differ from the exchange's, so it is asked
        only before the first candle has come."""
        if self.is_timeless or self._newest is None:
            return None
        if self._seen_at_s is None:
            return self._clock.now_ms()
        return self._newest.open_time_ms + round(1000.0 * (self._clock.monotonic_s() - self._seen_at_s))
