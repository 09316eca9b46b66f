"""When an alert goes off: at the first price that reaches or jumps over its line from the side it was armed on.

A tick tells little by itself: between two of them the price may have been anywhere. So what counts is what is new in
the candle: a higher high, a lower low, or the price now. A candle that nobody saw form counts with its whole range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.market.candle import Candle, Interval
from core.market.price_lines import Direction, PriceLine

_MARGIN = 1e-4
"""How far, as a share of the price, it must have left a line at which it stood when that was armed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look at a candle adds. `low` and `high` are those of what is new in it."""

    open_time_ms: int
    close_time_ms: int
    low: float
    high: float
    price: float
    whole: tuple[float, float] | None
    """Lowest and highest price of a candle that was not looked at before; None for one that was."""
    is_newest: bool
    """False for a candle that came late: its close is not the price now."""


class PriceWatch:
    """Follows one market's candles and says what is new in each look at one. Knows nothing of lines."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self._newest: Candle | None = None

    def look(self, candle: Candle) -> Seen:
        """The candle as it stands now, forming or closed."""
        known = self._newest
        low = high = candle.close
        is_known = known is not None and candle.open_time_ms == known.open_time_ms
        if known is not None and is_known:
            low = candle.low if candle.low < known.low else low
            high = candle.high if candle.high > known.high else high
        is_newest = known is None or candle.open_time_ms >= known.open_time_ms
        if is_newest:
            self._newest = candle
        whole = None if is_known else (candle.low, candle.high)
        closes_at = self._interval.close_time_ms(candle.open_time_ms)
        return Seen(candle.open_time_ms, closes_at, low, high, candle.close, whole, is_newest)

    def next_open_ms(self, now_ms: int) -> int | None:
        """From when on candles are wholly unseen: the end of the newest one, or now where that is earlier. None before
        the first look."""
        if self._newest is None:
            return None
        return min(now_ms, self._interval.close_time_ms(self._newest.open_time_ms))


def armed(line: PriceLine, price: float, from_ms: int, *, tick: float, is_again: bool = False) -> PriceLine:
    """The line, watched from now on, when the price is `price`.

    is_again: it has gone off before. Then a price that stands within a hair of it has to leave first, or the line
    would go off with every tremble; one that is set anew counts from its exact price on.
    """
    reach = margin(line.price, tick) if is_again else 0.0
    fresh = replace(line, is_armed=True, crossed_at_ms=None, watched_from_ms=from_ms)
    return replace(fresh, direction=_side(line.price, price, reach))


def judge(line: PriceLine, seen: Seen, *, tick: float, now_ms: int) -> PriceLine:
    """The line after this look: itself, or crossed, or with its direction decided."""
    if not line.is_watched or seen.close_time_ms <= line.watched_from_ms:
        return line
    if line.direction is Direction.EITHER:
        if not seen.is_newest:
            return line
        decided = _side(line.price, seen.price, margin(line.price, tick))
        return line if decided is Direction.EITHER else replace(line, direction=decided)
    low, high = seen.low, seen.high
    if seen.whole is not None and seen.open_time_ms >= line.watched_from_ms:
        low, high = seen.whole
    has_crossed = high >= line.price if line.direction is Direction.UP else low <= line.price
    if not has_crossed:
        return line
    moment = min(max(now_ms, seen.open_time_ms), seen.close_time_ms - 1)
    return replace(line, is_armed=False, crossed_at_ms=moment)


def margin(price: float, tick: float) -> float:
    """How far a price has to be from a line to have left it."""
    return max(tick, abs(price) * _MARGIN)


def _side(line_price: float, price: float, reach: float) -> Direction:
    if price == line_price or abs(price - line_price) < reach:
        return Direction.EITHER
    return Direction.UP if price < line_price else Direction.DOWN
