"""How many candles a second one model learns, by the number of markets that it learns together.

Each close takes a candle of every market through the whole session: scores, one step, forecasts, and their transaction.
The markets are simulated; a close costs the same whatever its candles are.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from core.domain.candle import Candle, Interval
from core.domain.clock import Clock
from core.domain.events import ForecastMode
from core.market.feeds.base import ClosedCandle
from core.market.feeds.simulated import SimulatedFeed
from core.settings.tree import Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import MarketCandle
from core.training.engine.device import Device, choose_device, prepare_thread, release_thread
from core.training.hosting.opening import open_run
from core.training.online.trainer_spec import SessionSpec, in_order

_INTERVAL = Interval(60_000)
_WARM_UP = 100
"""Closes before those that are timed, so that contexts are full and every horizon is scored."""
_FEWEST_CANDLES = 200
"""Timed of few markets, whose closes are short."""


def measure_markets(
    settings: Settings, markets: Sequence[int], closes: int, clock: Clock, on_count: Callable[[int], object]
) -> dict[str, Any]:
    """For each of these numbers of markets, time at least so many closes. on_count: called before each. Raises
    DeviceError and StorageError."""
    prepare_thread()
    try:
        device = choose_device(settings.training.device)
        measured = {}
        for count in markets:
            on_count(count)
            measured[str(count)] = _measure(settings, device, count, closes, clock)
        return {
            "device": device.label,
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "warm_up_closes": _WARM_UP,
            "markets": measured,
        }
    finally:
        release_thread()


def _measure(settings: Settings, device: Device, markets: int, closes: int, clock: Clock) -> dict[str, Any]:
    timed = max(closes, math.ceil(_FEWEST_CANDLES / markets))
    feeds = [SimulatedFeed(_INTERVAL, seed, clock, 0.0, limit=_WARM_UP + timed) for seed in range(markets)]
    by_market = {feed.market: feed for feed in feeds}
    first, *others = in_order(list(by_market))
    candles = asyncio.run(_candles([by_market[market] for market in (first, *others)]))
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as root:
        folder = DataFolder(Path(root))
        folder.ensure()
        with closing(open_database(folder.database)) as db:
            spec = SessionSpec(folder.root, first, settings, others=tuple(others))
            session = open_run(spec, db, device, clock).session
            times_s = []
            for close in zip(*candles, strict=True):
                candles_of = zip(spec.markets, close, strict=True)
                closed = [MarketCandle(candle, ForecastMode.SIMULATED, market) for market, candle in candles_of]
                started_s = clock.monotonic_s()
                session.on_close(closed)
                times_s.append(clock.monotonic_s() - started_s)
    times_s = times_s[_WARM_UP:]
    return {
        "closes": timed,
        "candles_per_s": markets * timed / sum(times_s),
        "steps_per_s": timed / sum(times_s),
        "close_ms": {"median": 1000.0 * statistics.median(times_s), "worst": 1000.0 * max(times_s)},
    }


async def _candles(feeds: Sequence[SimulatedFeed]) -> list[list[Candle]]:
    return [[event.candle async for event in feed.events() if isinstance(event, ClosedCandle)] for feed in feeds]
