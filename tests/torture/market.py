"""A market as charts meet it: it ticks, closes candles, omits some and sends them later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.domain.events import ForecastMade, ForecastMode, ForecastScored
from tests.desktop.chart.past_support import conditions_at
from tests.desktop.chart.support import ghost, outcome_of

SECOND = Interval.parse("1s")
TICKS_PER_CANDLE = 100
"""Candles of a second: a hundred ticks a second, on the given clock."""
FIRST_COUNT = 400
_PRICES = (1e-8, 0.5, 100.0, 64_250.0, 1e9)


class Market:
    """One series, its forming candle, and the late candles still to come."""

    def __init__(
        self, random: np.random.Generator, clock: ManualClock, count: int = FIRST_COUNT, interval: Interval = SECOND
    ) -> None:
        self._random, self._clock, self._interval = random, clock, interval
        self._tick_ms = interval.duration_ms // TICKS_PER_CANDLE
        self.series = CandleSeries(interval)
        self.price = float(random.choice(_PRICES))
        self._late: list[Candle] = []
        self._news: list[Candle] = []
        start_ms = interval.open_time_ms(clock.now_ms()) - count * interval.duration_ms
        for index in range(count):
            self._append(self._made(start_ms + index * interval.duration_ms))
        self.forming: Candle | None = None
        self.take_news()

    @property
    def title(self) -> str:
        return f"TORTURE/{self.price:.3g} · {self._interval} · test"

    def take_news(self) -> list[Candle]:
        """The candles added since the last call, in ascending time, as a feed would report them."""
        news, self._news = self._news, []
        return sorted(news, key=lambda candle: candle.open_time_ms)

    def tick(self) -> Candle:
        """The forming candle after one more trade, which closes it if its second is over."""
        self._clock.advance_ms(self._tick_ms)
        opened_ms = self._interval.open_time_ms(self._clock.now_ms())
        if self.forming is not None and opened_ms > self.forming.open_time_ms:
            self.close()
        if self.forming is None:
            self.forming = Candle(opened_ms, self.price, self.price, self.price, self.price, 0.0)
        jump = 0.05 if self._random.random() < 0.003 else 2e-4
        self.price *= float(np.exp(self._random.normal(0.0, jump)))
        now = self.forming
        self.forming = replace(
            now,
            high=max(now.high, self.price),
            low=min(now.low, self.price),
            close=self.price,
            volume=now.volume + float(self._random.gamma(2.0)),
        )
        return self.forming

    def close(self) -> None:
        """The forming candle closes; sometimes it is missing, to arrive later or never."""
        if self.forming is not None:
            self._append(self.forming)
        self.forming = None

    def come_late(self) -> None:
        """A missing candle arrives."""
        if self._late:
            self._take(self._late.pop(int(self._random.integers(len(self._late)))))

    def correct(self) -> None:
        """The venue sends a closed candle again, with other values."""
        if len(self.series):
            index = int(self._random.integers(len(self.series)))
            self._take(self._made(self.series[index].open_time_ms))

    def remember(self, count: int) -> None:
        """Older history arrives, the newest of it first."""
        if not len(self.series):
            return
        oldest = int(self.series.open_time_ms[0])
        for back in range(1, count + 1):
            self._take(self._made(oldest - back * self._interval.duration_ms))

    def forecast(self) -> ForecastMade | None:
        """Ghosts after the newest closed candle; sometimes in the past already, or beyond a gap."""
        if not len(self.series):
            return None
        back = int(self._random.integers(0, 4))
        origin = self.series[max(len(self.series) - 1 - back, 0)]
        horizon, opened, ghosts = int(self._random.integers(1, 13)), origin.close, []
        for ahead in range(1, horizon + 1):
            close = opened * float(np.exp(self._random.normal(0.0, 4e-4)))
            made = ghost(origin.open_time_ms + ahead * self._interval.duration_ms, opened, close, origin.close * 1e-3)
            reach = origin.close * 2e-4
            ghosts.append(replace(made, high=max(opened, close) + reach, low=min(opened, close) - reach))
            opened = close
        closed_ms = self._interval.close_time_ms(origin.open_time_ms)
        mode = ForecastMode(self._random.choice([mode.value for mode in ForecastMode]))
        made_at = (origin.open_time_ms, closed_ms, closed_ms)
        conditions = conditions_at(origin.open_time_ms)
        return ForecastMade("torture", *made_at, mode, 1, None, origin.close, tuple(ghosts), conditions)

    def outcome(self) -> ForecastScored | None:
        """A score of some candle's forecast."""
        if not len(self.series):
            return None
        return outcome_of(self.series[int(self._random.integers(len(self.series)))])

    def _append(self, candle: Candle) -> None:
        if self._random.random() < 0.03:
            self._late.append(candle)
        else:
            self._take(candle)

    def _take(self, candle: Candle) -> None:
        self.series.add(candle)
        self._news.append(candle)

    def _made(self, open_time_ms: int) -> Candle:
        opened = self.price
        self.price *= float(np.exp(self._random.normal(0.0, 1e-3)))
        high, low = max(opened, self.price), min(opened, self.price)
        reach = float(self._random.exponential(3e-4))
        return Candle(open_time_ms, opened, high * (1 + reach), low / (1 + reach), self.price, 10.0)
