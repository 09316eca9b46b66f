"""The included sample candles, shown if no exchange answers."""

from __future__ import annotations

from importlib import resources

from core.domain.clock import Clock
from core.market.feeds.replay import ReplayFeed
from core.market.history.files import read_candle_file

SAMPLE_NAME = "EUR/USD sample"
SAMPLE_FILE = "sample_eurusd_1h.csv"


def sample_feed(clock: Clock, speed: float = 2.0, catch_up: int = 1000, limit: int | None = None) -> ReplayFeed:
    """Hourly EUR/USD candles of 2017: the first part at once, then `speed` candles a second."""
    with resources.as_file(resources.files("resources") / SAMPLE_FILE) as path:
        file = read_candle_file(path)
    return ReplayFeed(file, SAMPLE_NAME, clock, speed, catch_up, limit)
