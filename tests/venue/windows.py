"""The real window, offscreen, on a market of the loopback exchange, with a small model."""

from __future__ import annotations

from pathlib import Path

from core.market.feeds.venue import ExchangeUrls
from core.settings.tree import CheckpointSettings, MarketSettings, ModelSettings, Settings, TrainingSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from tests.support.exchange.clock import wall_ms
from tests.support.exchange.server import LoopbackExchange
from tests.support.tape import generated_tape
from tests.venue.rig import SECOND

CATCH_UP = 30


def context(root: Path, urls: ExchangeUrls) -> Context:
    settings = Settings(
        market=MarketSettings(
            feed="live", venue="binance", symbol="BTC/USDT", interval="1s", catch_up_candles=CATCH_UP
        ),
        model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3),
        training=TrainingSettings(seed=1, replay_samples=3, device="cpu"),
        checkpoints=CheckpointSettings(every_steps=10),
    )
    folder = DataFolder(root)
    folder.ensure()
    return Context(settings, folder, as_json=False, urls=urls)


def wall_exchange(trades: int = 31) -> LoopbackExchange:
    """At this computer's own pace."""
    return LoopbackExchange(generated_tape(SECOND, wall_ms(), 60, 1000, trades=trades))
