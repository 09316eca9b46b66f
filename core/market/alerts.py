"""When an alert goes off: at the first price that reaches or jumps over its line, from the side on which the price was
when it was armed, in what the market did after that.

After is told by the candles, not by a clock, which may be wrong. Of the candle that was newest then, only what goes
beyond its range of then counts, and its price from now on, across restarts too; a later candle counts whole; one before
it never. So a candle that comes late or is corrected sets nothing off that was over when the alert was armed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.domain.candle import Candle, Interval
from core.domain.price_lines import Direction, KnownCandle, PriceLine

_MARGIN = 1e-4
"""How far, as a share of the price, it must have left a line at which it stood when that was armed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A look at a candle."""

    candle: Candle
    close_time_ms: int
    is_newest: bool
    """False for a candle that came late: its close is not the price now."""


class PriceWatch:
    """Follows one market's candles. Knows nothing of lines."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self._newest: Candle | None = None

    def look(self, candle: Candle) -> Seen:
        """The candle as it stands now, forming or closed."""
        is_newest = self._newest is None or candle.open_time_ms >= self._newest.open_time_ms
        if is_newest:
            self._newest = candle
        return Seen(candle, self._interval.close_time_ms(candle.open_time_ms), is_newest)

    def armed(self, line: PriceLine, market_ms: int | None, *, tick: float, is_again: bool = False) -> PriceLine:
        """The line, watched from what is known now. Raises ValueError before the first look.

        market_ms: the market's time as far as that is known. Where it says that whole candles are missing, as while
        there is no connection, watching begins at it.
        is_again: it has gone off before. Then a price that stands within a hair of it has to leave first, or the line
        would go off with every tremble; one that is set anew counts from its exact price on.
        """
        newest = self._newest
        if newest is None:
            raise ValueError("an alert is armed at a price, and none is known yet")
        reach = margin(line.price, tick) if is_again else 0.0
        fresh = rearmed(line, _side(line.price, newest.close, reach))
        closes_at = self._interval.close_time_ms(newest.open_time_ms)
        if market_ms is not None and market_ms >= closes_at + self._interval.duration_ms:
            return replace(fresh, known=None, watched_from_ms=market_ms)
        return _from(fresh, newest, closes_at)


def judge(line: PriceLine, seen: Seen, *, tick: float, now_ms: int) -> PriceLine:
    """The line after this look: itself, or crossed, or watched from another candle or another side."""
    candle, known = seen.candle, line.known
    begins_ms = line.watched_from_ms if known is None else known.open_time_ms
    if not line.is_watched or seen.close_time_ms <= begins_ms:
        return line
    if line.direction is Direction.EITHER:
        return _decided(line, seen, tick)
    low, high = candle.low, candle.high
    if known is not None and candle.open_time_ms == known.open_time_ms:
        low = low if low < known.low else candle.close
        high = high if high > known.high else candle.close
    elif candle.open_time_ms < line.watched_from_ms:  # it began before the line was armed, and was not seen then
        if not seen.is_newest:
            return line
        low = high = candle.close
        line = _from(line, candle, seen.close_time_ms)
    has_crossed = high >= line.price if line.direction is Direction.UP else low <= line.price
    if not has_crossed:
        return line
    if now_ms >= seen.close_time_ms:
        within_ms = seen.close_time_ms - candle.open_time_ms
        return replace(line, is_armed=False, crossed_at_ms=seen.close_time_ms - 1, crossed_within_ms=within_ms)
    return replace(line, is_armed=False, crossed_at_ms=max(now_ms, candle.open_time_ms))


def judge_price(line: PriceLine, price: float, at_ms: int) -> PriceLine:
    """The line after the price alone of a market whose candles are not followed. at_ms: when it was told.

    What the price did between two of them is left to the candles: they are judged once the market is followed again.
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
    """The line, armed, with nothing of what it was crossed by before."""
    return replace(line, is_armed=True, crossed_at_ms=None, crossed_within_ms=None, direction=direction)


def margin(price: float, tick: float) -> float:
    """How far a price has to be from a line to have left it."""
    return max(tick, abs(price) * _MARGIN)


def _decided(line: PriceLine, seen: Seen, tick: float) -> PriceLine:
    """Once the price has left it is watched from that side, and from that moment on: what was before was at the line
    too."""
    side = _side(line.price, seen.candle.close, margin(line.price, tick))
    if not seen.is_newest or side is Direction.EITHER:
        return line
    return _from(replace(line, direction=side), seen.candle, seen.close_time_ms)


def _from(line: PriceLine, candle: Candle, close_time_ms: int) -> PriceLine:
    """The line with this candle, as it stands, as what is known already."""
    known = KnownCandle(candle.open_time_ms, candle.low, candle.high)
    return replace(line, known=known, watched_from_ms=close_time_ms)


def _side(line_price: float, price: float, reach: float) -> Direction:
    if price == line_price or abs(price - line_price) < reach:
        return Direction.EITHER
    return Direction.UP if price < line_price else Direction.DOWN
