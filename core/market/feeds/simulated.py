"""A simulated market with clustered volatility. Everything derived from it is marked as simulated."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from core.domain.candle import SIMULATED_VENUE, Candle, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    FeedEvent,
    FeedKind,
    FeedState,
    FeedStatus,
    FormingCandle,
    StoredCandles,
)
from core.market.feeds.interruptible_wait import happens_within
from core.market.feeds.pace import StepOrder

_TICKS = 24
"""Ticks in a candle."""
_FIRST_PRICE = 100.0
_USUAL_VARIANCE = (2e-4) ** 2
_PERSISTENCE, _REACTION = 0.94, 0.05
"""GARCH(1,1): how long a shock to the variance lasts, and how large it is (Bollerslev, 1986)."""
_YIELD_EVERY = 64
_PREFIX = "SIM-"


def seed_of(market: Market) -> int | None:
    """The seed in a simulated market's name; None for other markets."""
    digits = market.symbol.removeprefix(_PREFIX)
    is_simulated = market.is_simulated and market.symbol.startswith(_PREFIX)
    return int(digits) if is_simulated and digits.isascii() and digits.isdigit() else None


@dataclass(slots=True)
class _Path:
    """The random path. The same seed gives the same ticks at any speed."""

    generator: np.random.Generator
    price: float = _FIRST_PRICE
    variance: float = _USUAL_VARIANCE

    def candle(self, open_time_ms: int) -> list[Candle]:
        """One candle after each of its ticks."""
        shocks = self.generator.standard_t(5.0, _TICKS) / math.sqrt(5.0 / 3.0)
        volumes = self.generator.gamma(2.0, 0.5, _TICKS)
        opening = high = low = self.price
        volume = 0.0
        stages = []
        for shock, amount in zip(shocks, volumes, strict=True):
            step = math.sqrt(self.variance) * float(shock)
            rest = (1.0 - _PERSISTENCE - _REACTION) * _USUAL_VARIANCE
            self.variance = rest + _PERSISTENCE * self.variance + _REACTION * step * step
            self.price *= math.exp(step)
            high, low = max(high, self.price), min(low, self.price)
            volume += float(amount) * math.sqrt(self.variance / _USUAL_VARIANCE)
            stages.append(Candle(open_time_ms, opening, high, low, self.price, volume))
        return stages


class SimulatedFeed:
    """`catch_up` candles at once, then candles in real time, or `speed` of them a second (0: as fast as possible)."""

    kind = FeedKind.SIMULATED

    def __init__(
        self,
        interval: Interval,
        seed: int,
        clock: Clock,
        speed: float | None = None,
        catch_up: int = 1000,
        limit: int | None = None,
        order: StepOrder | None = None,
        place: int = 0,
    ) -> None:
        """order: that of several feeds, which take each tick together; this one's place in it."""
        self.market = Market(SIMULATED_VENUE, f"{_PREFIX}{seed}", interval)
        self._path = _Path(np.random.default_rng(seed))
        self._clock = clock
        self._speed = speed
        self._catch_up = _at_once(speed, catch_up, limit)
        self._limit = limit
        self._first_ms = interval.open_time_ms(1_700_000_000_000)
        self._closed = asyncio.Event()
        self._order, self._place = order or StepOrder(1), place

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        yield self._status(FeedState.CATCHING_UP, "Generating the market's history.")
        index, is_live = 0, False
        while not self._closed.is_set() and (self._limit is None or index < self._limit):
            stages = self._path.candle(self._first_ms + index * self.market.interval.duration_ms)
            is_known = after_ms is not None and stages[-1].open_time_ms <= after_ms
            if index < self._catch_up or is_known or self._speed == 0.0:
                if not is_known:
                    await self._order.turn(self._place, index * _TICKS)
                    if self._closed.is_set():
                        return
                    yield ClosedCandle(stages[-1], is_live=False)
                if index % _YIELD_EVERY == 0 or index + 1 == self._catch_up:
                    yield CatchUpProgress(min(index + 1, self._catch_up), self._catch_up)
                    await asyncio.sleep(0)
            else:
                if not is_live:
                    yield self._status(FeedState.SIMULATED, "All prices are generated; none of them are real.")
                    is_live = True
                async for event in self._live(stages, index * _TICKS):
                    yield event
            index += 1
        self._order.leave(self._place)
        if not self._closed.is_set():
            yield self._status(FeedState.ENDED, "The last candle was generated.")

    async def aclose(self) -> None:
        self._closed.set()
        self._order.leave(self._place)

    async def _live(self, stages: list[Candle], first_step: int) -> AsyncIterator[FeedEvent]:
        """One candle, tick by tick."""
        if self._speed is None:
            tick_s = self.market.interval.duration_ms / 1000.0 / _TICKS
        else:
            tick_s = 1.0 / self._speed / _TICKS
        for step, stage in enumerate(stages, first_step):
            self._order.announce(self._place, step)  # all wait at the same time, not one after the other
            if await happens_within(self._closed, tick_s):
                return
            await self._order.turn(self._place, step)
            if self._closed.is_set():
                return
            yield FormingCandle(stage) if stage is not stages[-1] else ClosedCandle(stage, is_live=True)

    def _status(self, state: FeedState, sentence: str) -> FeedStatus:
        return FeedStatus(state, sentence, self._clock.now_ms())


def _at_once(speed: float | None, catch_up: int, limit: int | None) -> int:
    """How many candles come before the pace starts; all without a pace."""
    if limit is None:
        return catch_up
    return limit if speed == 0.0 else min(catch_up, limit)
