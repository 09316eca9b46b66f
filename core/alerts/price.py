"""Fires a price alert at the first price after arming that reaches or jumps over its line, from its former side.

"After" is decided by the candles, not by a clock, which may be wrong. In the candle that was newest at arming, only
later prices and prices beyond its former range count, also across restarts; later candles count in full, earlier ones
not at all. So a late or corrected candle fires no alert for something that was over when the alert was armed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Interval, Market
from core.domain.clock import Clock
from core.domain.price_lines import Direction, KnownCandle, PriceLine

_MARGIN = 1e-4
"""How far, as a share of the price, it must leave a line that it was at when that was armed."""
_TIMELESS = (FILE_VENUE, SIMULATED_VENUE)
"""Venues whose candle times are unrelated to any clock."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation of a candle."""

    candle: Candle
    close_time_ms: int
    is_newest: bool
    """False for a late candle: its close is not the current price."""


class PriceWatch:
    """Follows one market's candles."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self.newest: Candle | None = None

    def observe(self, candle: Candle) -> Observation:
        """Record a candle's current state, forming or closed."""
        is_newest = self.newest is None or candle.open_time_ms >= self.newest.open_time_ms
        if is_newest:
            self.newest = candle
        return Observation(candle, self._interval.close_time_ms(candle.open_time_ms), is_newest)

    def armed(self, line: PriceLine, market_ms: int | None, *, tick: float, is_again: bool = False) -> PriceLine:
        """The line, watched from now on. Raises ValueError before the first observation.

        market_ms: the market's time, if known. If whole candles are missing by then, as without a connection, watching
        begins at that time.
        is_again: it has fired before. A price very close to it must then leave it first, or the line would fire at
        every small move; a new line counts from its exact price on.
        """
        newest = self.newest
        if newest is None:
            raise ValueError("an alert cannot be armed before a price is known")
        reach = margin(line.price, tick) if is_again else 0.0
        fresh = rearmed(line, _side(line.price, newest.close, reach))
        closes_at = self._interval.close_time_ms(newest.open_time_ms)
        if market_ms is not None and market_ms >= closes_at + self._interval.duration_ms:
            return replace(fresh, known=None, watched_from_ms=market_ms)
        return _from(fresh, newest, closes_at)


class AlertMonitor:
    """Receives each forming or closed candle once. `on_crossed` gets the lines that fired at one candle or tick."""

    def __init__(
        self,
        lines: Callable[[], Iterable[PriceLine]],
        on_changed: Callable[[PriceLine], object],
        clock: Clock,
        on_crossed: Callable[[Sequence[PriceLine]], object],
    ) -> None:
        """lines: the market's lines. on_changed: called with each line that the market has changed."""
        self._lines, self._on_changed, self._clock, self._on_crossed = lines, on_changed, clock, on_crossed
        self._watch: PriceWatch | None = None
        self._seen_at_s: float | None = None
        """When the newest candle was last received, on the monotonic clock; None while it is a stored one."""
        self.is_timeless = False
        """Whether the candle times are unrelated to the clock."""
        self._tick = 0.0

    def open(self, market: Market, newest: Candle | None) -> None:
        """Switch to another market. Watching begins at its newest stored candle."""
        self._watch, self._seen_at_s = PriceWatch(market.interval), None
        self.is_timeless = market.venue in _TIMELESS
        if newest is not None:
            self._watch.observe(newest)

    def update(self, candles: Sequence[Candle], tick: float) -> bool:
        """Judge all lines by these candles, forming or closed, in ascending time. Returns whether any line changed.

        tick: the smallest step of the market's prices.
        """
        if self._watch is None:
            return False
        self._tick = tick
        has_changed = False
        for candle in candles:
            observed = self._watch.observe(candle)
            if observed.is_newest:
                self._seen_at_s = self._clock.monotonic_s()
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
        if self._watch is None or self._watch.newest is None:
            from_ms = 0 if self.is_timeless else self._clock.now_ms()
            return replace(rearmed(line, Direction.EITHER), known=None, watched_from_ms=from_ms)
        return self._watch.armed(line, self._market_ms(self._watch.newest), tick=self._tick, is_again=is_again)

    def _market_ms(self, newest: Candle) -> int | None:
        """A lower bound of the market's time. The computer's clock may differ from the exchange's, so it is only used
        before the first candle has come."""
        if self.is_timeless:
            return None
        if self._seen_at_s is None:
            return self._clock.now_ms()
        return newest.open_time_ms + round(1000.0 * (self._clock.monotonic_s() - self._seen_at_s))


def judge(line: PriceLine, observed: Observation, *, tick: float, now_ms: int) -> PriceLine:
    """The line after this observation: unchanged, crossed, or watched from another candle or side."""
    candle, known = observed.candle, line.known
    begins_ms = line.watched_from_ms if known is None else known.open_time_ms
    if not line.is_watched or observed.close_time_ms <= begins_ms:
        return line
    if line.direction is Direction.EITHER:
        # Once the price has left, the line is watched from that side and from that moment on.
        side = _side(line.price, candle.close, margin(line.price, tick))
        if not observed.is_newest or side is Direction.EITHER:
            return line
        return _from(replace(line, direction=side), candle, observed.close_time_ms)
    low, high = candle.low, candle.high
    if known is not None and candle.open_time_ms == known.open_time_ms:
        low = low if low < known.low else candle.close
        high = high if high > known.high else candle.close
    elif candle.open_time_ms < line.watched_from_ms:  # it began before the line was armed, and was not known then
        if not observed.is_newest:
            return line
        low = high = candle.close
        line = _from(line, candle, observed.close_time_ms)
    has_crossed = high >= line.price if line.direction is Direction.UP else low <= line.price
    if not has_crossed:
        return line
    if now_ms >= observed.close_time_ms:
        within_ms = observed.close_time_ms - candle.open_time_ms
        return replace(line, is_armed=False, crossed_at_ms=observed.close_time_ms - 1, crossed_within_ms=within_ms)
    return replace(line, is_armed=False, crossed_at_ms=max(now_ms, candle.open_time_ms))


def judge_price(line: PriceLine, price: float, at_ms: int) -> PriceLine:
    """The line after a price of a market whose candles are not followed. at_ms: when it was received.

    Moves between two prices are judged by the candles, once the market is followed again.
    """
    if not line.is_watched:
        return line
    if line.direction is Direction.EITHER:
        side = _side(line.price, price, margin(line.price, 0.0))
        if side is Direction.EITHER:
            return line
        return replace(line, direction=side, known=None, watched_from_ms=at_ms)
    has_crossed = price >= line.price if line.direction is Direction.UP else price <= line.price
    return replace(line, is_armed=False, crossed_at_ms=at_ms) if has_crossed else line


def rearmed(line: PriceLine, direction: Direction) -> PriceLine:
    """The line, armed, with its earlier crossing cleared."""
    return replace(line, is_armed=True, crossed_at_ms=None, crossed_within_ms=None, direction=direction)


def margin(price: float, tick: float) -> float:
    """The distance at which a price has left a line."""
    return max(tick, abs(price) * _MARGIN)


def _from(line: PriceLine, candle: Candle, close_time_ms: int) -> PriceLine:
    """The line, with the current state of this candle as its known candle."""
    known = KnownCandle(candle.open_time_ms, candle.low, candle.high)
    return replace(line, known=known, watched_from_ms=close_time_ms)


def _side(line_price: float, price: float, reach: float) -> Direction:
    if price == line_price or abs(price - line_price) < reach:
        return Direction.EITHER
    return Direction.UP if price < line_price else Direction.DOWN
