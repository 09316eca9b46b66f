"""Candles for tests: seeded, valid, cheap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from core.domain.candle import Candle, Interval, Market
from core.market.history.candle_file import CandleFile, CandleRows
from core.storage.candles import StoredColumns

MINUTE, HOUR = Interval.parse("1m"), Interval.parse("1h")
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


def file_of(
    candles: Sequence[Candle], fingerprint: str = "0123456789abcdef", interval: Interval = MINUTE
) -> CandleFile:
    """As if read from a file."""
    times = np.array([candle.open_time_ms for candle in candles], dtype=np.int64)
    values = np.array([(each.open, each.high, each.low, each.close, each.volume) for each in candles])
    insides = {each.open_time_ms: each.inside for each in candles if each.inside is not None}
    return CandleFile(CandleRows(StoredColumns(times, values.reshape(-1, 5).T), insides), interval, {}, fingerprint)


def write_csv(path: Path, candles: Iterable[Candle]) -> Path:
    """Write a file of candles, from which the same numbers are read."""
    rows = ((c.open_time_ms, c.open, c.high, c.low, c.close, c.volume) for c in candles)
    path.write_text("time,open,high,low,close,volume\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    return path
