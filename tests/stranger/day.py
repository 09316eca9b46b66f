"""What a stranger's days share: a model that learns quickly, an exchange, and the steps that the window shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.domain.candle import Interval
from core.settings.tree import MarketSettings, ModelSettings, Settings, TrainingSettings
from desktop.window.status_bar import StatusPanel
from tests.stranger.program import (
    main_window,
)
from tests.support.exchange.clock import wall_ms
from tests.support.loopback_exchange import loopback_thread
from tests.support.market_hall import MarketHall, priced_tape

MINUTE = Interval.parse("1m")
QUICK = Settings(
    market=MarketSettings(catch_up_candles=300),
    model=ModelSettings(width=8, layers=1, heads=2, context=16),
    training=TrainingSettings(seed=1),
)
"""The defaults, except for a small model and a short catch-up."""


@contextmanager
def exchange() -> Iterator[MarketHall]:
    tapes = {
        "BTC/USDT": priced_tape(64_250.0, MINUTE, wall_ms(), 1_500, seed=7, trades=301),
        "ETH/USDT": priced_tape(3_214.0, MINUTE, wall_ms(), 1_500, seed=11, trades=301),
    }
    hall = MarketHall(tapes, wall_ms)
    with loopback_thread(hall):
        yield hall


def steps() -> int:
    """The number of trained candles in the status bar."""
    said = main_window().findChild(StatusPanel).step.text().removeprefix("Step ").replace(",", "")
    return int(said) if said.isdigit() else 0
