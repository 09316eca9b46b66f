"""The real window, offscreen, on a market of the loopback exchange; only its model is small."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.market.feeds.urls import ExchangeUrls
from core.settings import CheckpointSettings, MarketSettings, ModelSettings, Settings, TrainingSettings
from core.storage.folder import DataFolder
from desktop.app import Application
from desktop.commands.options import Context
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


def open_window(
    qapp: QApplication, context: Context, story: Callable[[Application], Awaitable[None]], within_s: float
) -> None:
    """The window as it is for the user; closed at the end, and all of it with it."""

    async def run() -> None:
        application = Application(context, qapp)
        application.start()
        try:
            await story(application)
        finally:
            application.window.close()
            await application.close()

    qapp.setQuitOnLastWindowClosed(False)
    with QEventLoop(qapp) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(asyncio.wait_for(run(), within_s))
    asyncio.set_event_loop(None)


async def until(condition: Callable[[], bool], what: str, within_s: float = 120.0) -> None:
    try:
        async with asyncio.timeout(within_s):
            while not condition():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"waited {within_s} s for {what}")
