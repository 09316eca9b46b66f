"""The memory of the real window, in a separate process, while its trainer learns simulated markets."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from pydantic import TypeAdapter

from core.domain.candle import SIMULATED_VENUE
from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings, Settings, TrainingSettings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder

_ROOT = Path(__file__).resolve().parents[2]
_CATCH_UP = 2_000
_ENDS_WITHIN_S = 120.0


def measure_memory(markets: int, seconds: float) -> dict[str, Any]:
    """Of the window after so many seconds, in MB: resident, and resident without files that others share. Raises
    psutil.NoSuchProcess if it has ended."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-memory-") as root:
        folder = DataFolder(Path(root))
        settings = simulated_markets(markets, speed=0.5, catch_up=_CATCH_UP)
        folder.settings.write_bytes(TypeAdapter(Settings).dump_json(settings))
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "desktop", "run", "--data-dir", root]
        with subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as window:
            with suppress(subprocess.TimeoutExpired):
                window.wait(seconds)
            found = psutil.Process(window.pid).memory_full_info()
            window.terminate()
            window.wait(_ENDS_WITHIN_S)
    return {"markets": markets, "rss_mb": found.rss / 2**20, "uss_mb": found.uss / 2**20}


def simulated_markets(markets: int, *, speed: float, catch_up: int) -> Settings:
    """One model of so many markets: after `catch_up` candles each, `speed` of them a second."""
    symbols = [f"SIM-{number}" for number in range(1, markets + 1)]
    watched = tuple(WatchedMarket(SIMULATED_VENUE, symbol, "1m", True) for symbol in symbols)
    return Settings(
        market=MarketSettings(feed="simulate", symbol=symbols[0], speed=speed, catch_up_candles=catch_up),
        training=TrainingSettings(seed=1, device="cpu"),
        watchlist=WatchlistSettings(markets=watched),
    )
