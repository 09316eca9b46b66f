"""Files with a random walk each."""

from __future__ import annotations

from pathlib import Path

from core.domain.candle import Interval
from tests.support.candles import MINUTE, random_walk, write_csv

COUNT = 32


def write(path: Path, seed: int, interval: Interval = MINUTE) -> Path:
    return write_csv(path, random_walk(COUNT, seed=seed, interval=interval))
