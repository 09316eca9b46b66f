"""A simulated market with clustered volatility. Everything derived from it is marked as simulated."""

from __future__ import annotations

import itertools
import math
from asyncio import sleep
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.domain.candle import SIMULATED_VENUE, Candle, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    FeedKind,
    FeedState,
    FormingCandle,
    StoredCandles,
)
from core.market.feeds.replay_speed import StepOrder
from core.market.feeds.task_feed import TaskFeed

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


class SimulatedFeed(TaskFeed):
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
        """order: shared by several feeds that handle each tick together, with this feed's place in it."""
        super().__init__(Market(SIMULATED_VENUE, f"{_PREFIX}{seed}", interval), clock)
        self._path = _Path(np.random.default_rng(seed))
        self._speed = speed
        at_most = catch_up if limit is None else limit
        self._catch_up = at_most if speed == 0.0 else min(catch_up, at_most)
        self._limit = limit
        self._first_ms = interval.open_time_ms(1_700_000_000_000)
        self._order, self._place = order or StepOrder(1), place

    async def aclose(self) -> None:
        try:
            await super().aclose()
        finally:
            self._order.leave(self._place)

    async def _run(self, after_ms: int | None, known: StoredCandles | None) -> None:
        self.emit_status(FeedState.CATCHING_UP, "Generating the market's history.")
        is_live = False
        for index in itertools.count() if self._limit is None else range(self._limit):
            stages = self._path.candle(self._first_ms + index * self.market.interval.duration_ms)
            is_known = after_ms is not None and stages[-1].open_time_ms <= after_ms
            if index < self._catch_up or is_known or self._speed == 0.0:
                if not is_known:
                    await self._order.turn(self._place, index * _TICKS)
                    self.emit(ClosedCandle(stages[-1], is_live=False))
                if index % _YIELD_EVERY == 0 or index + 1 == self._catch_up:
                    self.emit(CatchUpProgress(min(index + 1, self._catch_up), self._catch_up))
                    await self.delivered()
            else:
                if not is_live:
                    self.emit_status(FeedState.SIMULATED, "All prices are generated; none of them are real.")
                    is_live = True
                await self._emit_ticks(stages, index * _TICKS)
        self._order.leave(self._place)
        self.emit_status(FeedState.ENDED, "The last candle was generated.")

    async def _emit_ticks(self, stages: list[Candle], first_step: int) -> None:
        candle_s = self.market.interval.duration_ms / 1000.0 if self._speed is None else 1.0 / self._speed
        tick = partial(sleep, candle_s / _TICKS)
        for step, stage in enumerate(stages, first_step):
            await self._order.turn(self._place, step, tick)
            self.emit(FormingCandle(stage) if stage is not stages[-1] else ClosedCandle(stage, is_live=True))
            await self.delivered()
