"""Pictures of Markets and of the Overview: the real window over simulated markets that one model learns."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from core.domain.candle import SIMULATED_VENUE
from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings, Settings, TrainingSettings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.state.markets import MarketRow
from tests.support.picture_names import SIZES, THEMES

_MARKETS = 9
_CATCH_UP = 860
"""Enough for an interval of the skill."""
_SETTLED_S = 0.8


async def shoot(qt: QApplication, folder: Path, data: Path) -> None:
    """Write ``markets-<theme>.png`` and ``overview-<theme>.png``."""
    application = Application(_context(data), qt)
    application.window.resize(*SIZES[0])
    application.start()
    try:
        await _until(lambda: _is_caught_up(application))
        application.window.shell.actions[ActionId.LAYOUT_WATCH].trigger()
        application.window.show_dock(ActionId.SHOW_MARKETS)
        await _until(lambda: all(_is_ahead(row) for row in application.state.markets.rows()))
        await _in_both_themes(application, folder, "markets", SIZES[1])
        application.window.shell.actions[ActionId.OVERVIEW].trigger()
        models = [tile.chart.model for tile in application.overview.tiles]
        await _until(lambda: all(model.ghosts() and not model.forecast_age for model in models))
        await _in_both_themes(application, folder, "overview", SIZES[0])
    finally:
        application.window.close()
        await application.close()


async def _in_both_themes(application: Application, folder: Path, name: str, size: tuple[int, int]) -> None:
    for theme in THEMES:
        settings = application.settings.current
        appearance = dataclasses.replace(settings.appearance, theme=theme)
        application.settings.change(dataclasses.replace(settings, appearance=appearance))
        application.window.resize(*size)
        await asyncio.sleep(_SETTLED_S)
        while application.banner.shown is not None:
            application.banner.dismiss()
        assert application.window.grab().save(str(folder / f"{name}-{theme}.png"))


def _is_ahead(row: MarketRow) -> bool:
    """Whether its scores have an interval, and its ghosts are the model's of the newest candle."""
    is_scored, made = row.skill is not None and row.skill.low is not None, row.forecast
    is_of_model = made is not None and not made.is_by_simple_rules
    return is_scored and is_of_model and bool(row.candles) and made.origin_open_time_ms == row.candles[-1].open_time_ms


def _context(data: Path) -> Context:
    listed = tuple(WatchedMarket(SIMULATED_VENUE, f"SIM-{seed}", "1m", True) for seed in range(1, _MARKETS + 1))
    market = MarketSettings(feed="simulate", symbol="SIM-1", interval="1m", speed=0.05, catch_up_candles=_CATCH_UP)
    watchlist = WatchlistSettings(markets=listed)
    settings = Settings(market=market, training=TrainingSettings(seed=1), watchlist=watchlist)
    context = Context(settings, DataFolder(data), as_json=False)
    context.folder.ensure()
    return context


def _is_caught_up(application: Application) -> bool:
    rows = [application.state.markets.row(market) for market in application.state.markets.universe]
    return len(rows) == _MARKETS and all(row.forecast is not None and row.skill is not None for row in rows)


async def _until(condition: Callable[[], bool], timeout_s: float = 600.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - Qt state has no asyncio event
            await asyncio.sleep(0.1)
