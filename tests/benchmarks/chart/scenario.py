"""What is drawn while the chart is measured: seeded candles that end alike however many there are."""

from __future__ import annotations

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import QUANTILE_LEVELS, ForecastMade, ForecastMode, Ghost
from core.storage.candles import StoredColumns

MINUTE = Interval.parse("1m")
HORIZONS = 8

_NEWEST_MS = 1_795_219_200_000
_NEWEST_CLOSE = 64_250.0
_VOLATILITY = 4e-4
_REACH = 3e-4
_TICK_PULL, _TICK_STEP = 0.05, 4e-5
_VOLUME = 12.0


def columns(count: int) -> StoredColumns:
    """A random walk in cents that ends at the same price and time for every `count`.

    It is drawn from the newest candle backwards, so the newest candles are the same ones in a series of a thousand and
    of a million: what is in view is alike, and only what is stored differs.
    """
    steps, highs, lows, volumes = (np.random.default_rng([4, part]) for part in range(4))
    back = np.cumsum(steps.normal(0.0, _VOLATILITY, count))
    closes = np.round(_NEWEST_CLOSE * np.exp(-np.concatenate([[0.0], back])), 2)[::-1]
    opened, closed = closes[:-1], closes[1:]
    reach = np.abs([part.normal(0.0, _REACH, count)[::-1] for part in (highs, lows)])
    times = _NEWEST_MS + (np.arange(count, dtype=np.int64) - count + 1) * MINUTE.duration_ms
    highs_and_lows = (np.maximum(opened, closed) * (1.0 + reach[0]), np.minimum(opened, closed) * (1.0 - reach[1]))
    volume = np.round(volumes.gamma(2.0, _VOLUME / 2.0, count)[::-1], 3)
    return StoredColumns(times, np.stack((opened, *np.round(highs_and_lows, 2), closed, volume)))


def series(count: int) -> CandleSeries:
    """The same as the chart reads them."""
    made = columns(count)
    return CandleSeries.from_columns(MINUTE, made.open_time_ms, made.values)


def forming_path(newest: Candle, count: int) -> list[Candle]:
    """The candle after `newest` after each of its `count` ticks. The price is pulled back to its opening,
    so that it stays a candle among the others."""
    generator = np.random.default_rng(9)
    shocks, amounts = generator.normal(0.0, _TICK_STEP, count), generator.uniform(0.0, 2.0 * _VOLUME / count, count)
    opened = high = low = newest.close
    away, volume, path = 0.0, 0.0, []
    for shock, amount in zip(shocks.tolist(), amounts.tolist(), strict=True):
        away += shock - _TICK_PULL * away
        price = round(opened * (1.0 + away), 2)
        high, low, volume = max(high, price), min(low, price), volume + amount
        path.append(Candle(newest.open_time_ms + MINUTE.duration_ms, opened, high, low, price, round(volume, 3)))
    return path


def following(newest: Candle, like: Candle) -> Candle:
    """A closed candle after `newest`, shaped like another one: the market continues as before."""
    share = newest.close / like.open
    opened, high, low, close = (round(price * share, 2) for price in (like.open, like.high, like.low, like.close))
    return Candle(newest.open_time_ms + MINUTE.duration_ms, opened, high, low, close, like.volume)


def forecast_after(newest: Candle) -> ForecastMade:
    """Ghosts with bands that widen, made when `newest` closed."""
    generator = np.random.default_rng(5)
    opened, ghosts = newest.close, []
    for ahead in range(1, HORIZONS + 1):
        close = opened * (1.0 + float(generator.normal(0.0, _VOLATILITY)))
        spread = newest.close * 2.0 * _VOLATILITY * ahead**0.5
        quantiles = tuple(close + spread * (2.0 * level - 1.0) for level in QUANTILE_LEVELS)
        high, low = max(opened, close) * (1.0 + _REACH), min(opened, close) * (1.0 - _REACH)
        open_time_ms = newest.open_time_ms + ahead * MINUTE.duration_ms
        ghosts.append(Ghost(open_time_ms, opened, high, low, close, _VOLUME, quantiles))
        opened = close
    closed_ms = MINUTE.close_time_ms(newest.open_time_ms)
    mode = ForecastMode.LIVE
    origin = newest.open_time_ms
    return ForecastMade("bench", origin, closed_ms, closed_ms, mode, 1, None, newest.close, tuple(ghosts))
