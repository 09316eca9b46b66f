"""The candles of a test exchange, and how each of them looks while it forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.market.candle import Candle, Interval
from tests.support.candles import random_walk

_DECIMALS = 8
"""As many as the wire form carries."""


@dataclass(frozen=True, slots=True)
class Tape:
    """Final candles, ascending, on the interval's grid; holes are allowed."""

    candles: Sequence[Candle]
    interval: Interval

    def candle(self, open_time_ms: int) -> Candle | None:
        """The final candle that opened then."""
        index = (open_time_ms - self.candles[0].open_time_ms) // self.interval.duration_ms
        if 0 <= index < len(self.candles) and self.candles[index].open_time_ms == open_time_ms:
            return self.candles[index]
        return next((candle for candle in self.candles if candle.open_time_ms == open_time_ms), None)

    def closed(self, now_ms: int) -> list[Candle]:
        """Those that are over at `now_ms`."""
        return [candle for candle in self.candles if candle.open_time_ms + self.interval.duration_ms <= now_ms]

    def forming(self, now_ms: int) -> Candle | None:
        """The open candle as it stands at `now_ms`."""
        final = self.candle(self.interval.open_time_ms(now_ms))
        if final is None:
            return None
        return partly(final, (now_ms - final.open_time_ms) / self.interval.duration_ms)

    def until(self, now_ms: int) -> list[Candle]:
        """The closed candles and the open one."""
        forming = self.forming(now_ms)
        return self.closed(now_ms) + ([] if forming is None else [forming])


def generated_tape(interval: Interval, now_ms: int, history: int, future: int = 20_000, seed: int = 7) -> Tape:
    """A random walk with `history` candles before `now_ms` and `future` after it."""
    start_ms = interval.open_time_ms(now_ms) - history * interval.duration_ms
    walk = random_walk(history + future, seed, start_ms, interval)
    return Tape([_as_on_the_wire(candle) for candle in walk], interval)


def _as_on_the_wire(candle: Candle) -> Candle:
    numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return Candle(candle.open_time_ms, *(round(number, _DECIMALS) for number in numbers))


def partly(final: Candle, fraction: float) -> Candle:
    """A valid candle on its way: through one extreme, then the other, to the close, its volume growing evenly."""
    is_rising = final.close >= final.open
    stations = (final.open, final.low, final.high, final.close)
    if not is_rising:
        stations = (final.open, final.high, final.low, final.close)
    leg = min(2, int(fraction * 3.0))
    share = fraction * 3.0 - leg
    price = stations[leg] + (stations[leg + 1] - stations[leg]) * share
    passed = (*stations[: leg + 1], price)
    return Candle(final.open_time_ms, final.open, max(passed), min(passed), price, final.volume * fraction)
