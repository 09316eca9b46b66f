"""A seeded market: its trades and the exchange's candles. It is the oracle of the simulation."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, replace
from random import Random

from core.domain.candle import Candle, Interval
from core.market.aggregate import Trade

STEP_MS = 60_000
MINUTE = Interval(STEP_MS)
EPOCH_MS = 1_700_000_040_000
_HISTORY = 40
_SLOWEST_CORRECTION_MS = 200_000


@dataclass(frozen=True, slots=True)
class Correction:
    """From `at_ms` on the exchange's list shows the candle in its final form, which is not the first one."""

    at_ms: int
    first: Candle


class SimulatedMarket:
    """All of it is made at once, from the seed: minutes with many trades, with few, with none."""

    def __init__(self, random: Random, minutes: int, *, shows_empty: bool) -> None:
        """shows_empty: a minute without trades has a flat candle; else it has none, which is a hole."""
        self._shows_empty = shows_empty
        self.trades = _made_trades(random, minutes)
        self._times = [trade.time_ms for trade in self.trades]
        self.final = self._made_candles(minutes)
        self.corrections = {
            candle.open_time_ms: Correction(
                candle.open_time_ms + STEP_MS + random.randrange(500, _SLOWEST_CORRECTION_MS), _altered(candle, random)
            )
            for candle in self.final.values()
            if random.random() < 0.03 and candle.volume > 0.0
        }

    def _made_candles(self, minutes: int) -> dict[int, Candle]:
        found: dict[int, Candle] = {}
        price = self.trades[0].price
        for index in range(-_HISTORY, minutes):
            open_ms = EPOCH_MS + index * STEP_MS
            candle = self._of_trades(open_ms, open_ms + STEP_MS)
            if candle is None and self._shows_empty:
                candle = Candle(open_ms, price, price, price, price, 0.0)
            if candle is not None:
                found[open_ms] = candle
                price = candle.close
        return found

    def _of_trades(self, from_ms: int, until_ms: int) -> Candle | None:
        own = self.trades[bisect.bisect_left(self._times, from_ms) : bisect.bisect_left(self._times, until_ms)]
        if not own:
            return None
        prices = [trade.price for trade in own]
        volume = math.fsum(trade.amount for trade in own)
        return Candle(from_ms, prices[0], max(prices), min(prices), prices[-1], volume)

    def listed(self, open_ms: int, now_ms: int) -> Candle | None:
        """The candle as the exchange's list shows it at a moment."""
        if now_ms < open_ms + STEP_MS:
            return self.forming(now_ms) if now_ms >= open_ms else None
        correction = self.corrections.get(open_ms)
        return self.final.get(open_ms) if correction is None or now_ms >= correction.at_ms else correction.first

    def first_version(self, open_ms: int) -> Candle | None:
        """The candle in the closing message."""
        correction = self.corrections.get(open_ms)
        return self.final.get(open_ms) if correction is None else correction.first

    def forming(self, now_ms: int) -> Candle | None:
        """The open candle at a moment; None where it has no trades yet."""
        return self._of_trades(MINUTE.open_time_ms(now_ms), now_ms + 1)

    def traded_between(self, after_ms: int, until_ms: int) -> list[Trade]:
        """Trades after one moment, up to another."""
        return self.trades[bisect.bisect_right(self._times, after_ms) : bisect.bisect_right(self._times, until_ms)]


def _made_trades(random: Random, minutes: int) -> list[Trade]:
    price, trades = 100.0, []
    for index in range(-_HISTORY, minutes):
        open_ms = EPOCH_MS + index * STEP_MS
        count = random.choice((0, 1, 2, 5, 9)) if index else 3
        for time_ms in sorted(random.randrange(STEP_MS) for _ in range(count)):
            price = max(1.0, round(price * math.exp(random.gauss(0.0, 3e-4)), 4))
            trades.append(Trade(len(trades) + 5_000, open_ms + time_ms, price, round(random.uniform(0.01, 3.0), 3)))
    return trades


def _altered(candle: Candle, random: Random) -> Candle:
    """The first version: part of its volume is not counted yet, and its last trade differs."""
    close = random.uniform(candle.low, candle.high)
    return replace(candle, close=close, volume=candle.volume * random.uniform(0.5, 1.5))
