"""The candles of a test exchange, their trades, and how each looks while it forms."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from core.domain.candle import Candle, Interval
from tests.support.candles import random_walk

DECIMALS = 8
"""As many as the wire form carries."""
_ONE = 10**DECIMALS
_LEGS = 3
_FIRST_ID = 1_000_000
_opened_at = attrgetter("open_time_ms")


@dataclass(frozen=True, slots=True)
class TapeTrade:
    """One trade. Ids ascend by one from trade to trade, but for candles that the tape does not have."""

    id: int
    time_ms: int
    price: float
    amount: float


@dataclass(frozen=True, slots=True)
class Tape:
    """Final candles, ascending, on the interval's grid; holes are allowed.

    Each is made of `trades` trades, three times some number and one more, evenly spread over its time; a candle
    without volume has none. Adding up the trades so far gives the open candle exactly.
    """

    candles: Sequence[Candle]
    interval: Interval
    trades: int = 31

    def __post_init__(self) -> None:
        if self.trades < _LEGS + 1 or self.trades % _LEGS != 1:
            raise ValueError(f"a candle is made of 4, 7, 10 ... trades, was asked for {self.trades}")

    def candle(self, open_time_ms: int) -> Candle | None:
        """The final candle that opened then."""
        index = bisect.bisect_left(self.candles, open_time_ms, key=_opened_at)
        is_there = index < len(self.candles) and self.candles[index].open_time_ms == open_time_ms
        return self.candles[index] if is_there else None

    def closed(self, now_ms: int) -> list[Candle]:
        """Those that are over at `now_ms`."""
        return list(self.candles[: self._closed(now_ms)])

    def between(self, first_ms: int, last_ms: int) -> list[Candle]:
        """Those that opened in first_ms..last_ms."""
        first = bisect.bisect_left(self.candles, first_ms, key=_opened_at)
        return list(self.candles[first : bisect.bisect_right(self.candles, last_ms, key=_opened_at)])

    def forming(self, now_ms: int) -> Candle | None:
        """The open candle as the trades up to `now_ms` made it."""
        final = self.candle(self.interval.open_time_ms(now_ms))
        return None if final is None else self._after(final, self._trades_by(final, now_ms))

    def until(self, now_ms: int) -> list[Candle]:
        """The closed candles and the open one."""
        forming = self.forming(now_ms)
        return self.closed(now_ms) + ([] if forming is None else [forming])

    def trades_between(self, first_ms: int, last_ms: int) -> Iterator[TapeTrade]:
        """The trades of first_ms..last_ms, ascending."""
        for candle in self.between(first_ms - self.interval.duration_ms + 1, last_ms):
            happened = self._trades_by(candle, first_ms - 1), self._trades_by(candle, last_ms)
            yield from self.trades_of(candle, *happened)

    def trades_from(self, first_id: int, last_ms: int) -> Iterator[TapeTrade]:
        """The trades from this id on, up to a time."""
        number = max(0, first_id - _FIRST_ID) // self.trades
        first_ms = self.candles[0].open_time_ms + number * self.interval.duration_ms
        return (trade for trade in self.trades_between(first_ms, last_ms) if trade.id >= first_id)

    def trades_of(self, final: Candle, first: int = 0, stop: int | None = None) -> list[TapeTrade]:
        """The trades first..stop - 1 of the candle."""
        if final.volume == 0.0:
            return []
        number = (final.open_time_ms - self.candles[0].open_time_ms) // self.interval.duration_ms
        first_id = _FIRST_ID + number * self.trades
        return [
            TapeTrade(
                first_id + index,
                final.open_time_ms + index * self.interval.duration_ms // self.trades,
                self._price(final, index),
                (self._units(final, index + 1) - self._units(final, index)) / _ONE,
            )
            for index in range(first, self.trades if stop is None else stop)
        ]

    def _closed(self, now_ms: int) -> int:
        return bisect.bisect_right(self.candles, now_ms - self.interval.duration_ms, key=_opened_at)

    def _trades_by(self, final: Candle, now_ms: int) -> int:
        """How many of its trades have happened."""
        passed_ms = now_ms - final.open_time_ms
        # trade k happens k * duration // trades after the opening
        happened = -(-(passed_ms + 1) * self.trades // self.interval.duration_ms)
        return max(0, min(self.trades, happened))

    def _after(self, final: Candle, count: int) -> Candle:
        """The candle after so many of its trades."""
        stations, leg = _stations(final), (count - 1) * _LEGS // (self.trades - 1)
        price = self._price(final, count - 1)
        passed = (*stations[: leg + 1], price)
        volume = self._units(final, count) / _ONE
        return Candle(final.open_time_ms, final.open, max(passed), min(passed), price, volume)

    def _units(self, final: Candle, count: int) -> int:
        """The volume of its first `count` trades, in units of the last decimal."""
        return round(final.volume * _ONE) * count // self.trades

    def _price(self, final: Candle, index: int) -> float:
        """Through one extreme, then the other, to the close; each station is passed exactly."""
        steps = (self.trades - 1) // _LEGS
        leg, rest = divmod(index, steps)
        stations = _stations(final)
        if rest == 0:
            return stations[leg]
        return round(stations[leg] + (stations[leg + 1] - stations[leg]) * rest / steps, DECIMALS)


def _stations(final: Candle) -> tuple[float, float, float, float]:
    is_rising = final.close >= final.open
    first, second = (final.low, final.high) if is_rising else (final.high, final.low)
    return final.open, first, second, final.close


def generated_tape(
    interval: Interval, now_ms: int, history: int, future: int = 20_000, seed: int = 7, trades: int = 31
) -> Tape:
    """A random walk with `history` candles before `now_ms` and `future` after it."""
    start_ms = interval.open_time_ms(now_ms) - history * interval.duration_ms
    walk = random_walk(history + future, seed, start_ms, interval)
    return Tape([_as_on_the_wire(candle) for candle in walk], interval, trades)


def _as_on_the_wire(candle: Candle) -> Candle:
    numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return Candle(candle.open_time_ms, *(round(number, DECIMALS) for number in numbers))


def partly(tape: Tape, final: Candle) -> Candle:
    """The candle as it stood in its middle."""
    return tape.forming(final.open_time_ms + tape.interval.duration_ms // 2) or final
