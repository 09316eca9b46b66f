"""The whole program over a replay that waits for the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle, Market
from desktop.app.composition import Application
from tests.desktop.whole_window import CATCH_UP, context, run_window, until

WATCHED = 20
"""Candles after the warm-up, of which the first may come while the trainer starts."""


def test_each_candle_comes_once_the_model_has_forecast_from_the_one_before(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        state, newest_ms, origins_ms = application.state, list[int](), list[int | None]()

        def look(_market: Market, candles: Sequence[Candle]) -> None:
            forecast = state.forecast
            origins_ms.append(None if forecast is None else forecast.origin_open_time_ms)
            newest_ms.append(candles[-1].open_time_ms)

        state.markets.closed.connect(look)
        await until(lambda: len(application.series or ()) >= CATCH_UP + WATCHED, "candles")
        watched = slice(2 - WATCHED, None)
        assert origins_ms[watched] == newest_ms[1 - WATCHED : -1], "none is passed on before"

    run_window(qapp, context(tmp_path, waits=True, speed=0.0), story)
