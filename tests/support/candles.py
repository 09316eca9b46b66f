"""Candles for tests: seeded, valid, cheap."""

from __future__ import annotations

import numpy as np

from core.domain.candle import Candle, Interval, Market

MINUTE = Interval.parse("1m")
MARKET = Market("file", "TEST", MINUTE)
START_MS = 1_606_780_800_000


def random_walk(count: int, seed: int = 0, start_ms: int = START_MS, interval: Interval = MINUTE) -> list[Candle]:
    """A geometric random walk with wicks and volume. The same seed gives the same candles."""
    generator = np.random.default_rng(seed)
    closes = 100.0 * np.exp(np.cumsum(generator.normal(0.0, 1e-3, count)))
    opens = np.concatenate([[100.0], closes[:-1]])
    wicks = np.exp(np.abs(generator.normal(0.0, 5e-4, (2, count))))
    volumes = generator.gamma(2.0, 10.0, count)
    return [
        Candle(
            open_time_ms=start_ms + index * interval.duration_ms,
            open=float(opens[index]),
            high=float(max(opens[index], closes[index]) * wicks[0, index]),
            low=float(min(opens[index], closes[index]) / wicks[1, index]),
            close=float(closes[index]),
            volume=float(volumes[index]),
        )
        for index in range(count)
    ]


def without(candles: list[Candle], *missing: int) -> list[Candle]:
    """The same candles with holes at these indices."""
    return [candle for index, candle in enumerate(candles) if index not in missing]
