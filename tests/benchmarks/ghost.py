"""How soon a ghost is on the screen: the real window with a trainer's process and many simulated markets. Each close is
timed from the last market's candle, as it arrives in the window, to the first paint of the shown market's forecast."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.domain.candle import Candle, Market
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.benchmarks.memory import simulated_markets

_CATCH_UP = 150
_SKIPPED = 5
"""Closes after the catch-up that are not counted."""
_LOOK_S = 0.1


class GhostWatch(QObject):
    """Notes the times of each close."""

    def __init__(self, application: Application, markets: int) -> None:
        super().__init__(application)
        self._state, self._chart, self._markets = application.state, application.chart, markets
        self._arrived: dict[int, int] = {}
        """Markets whose candle has come, by its opening time."""
        self._last: dict[int, float] = {}
        """When the last of them came."""
        self._due: int | None = None
        self._counted: set[int] = set()
        """The closes that have had their first forecast: each is counted once."""
        self.forecast_ms: list[float] = []
        self.painted_ms: list[float] = []
        self._state.markets.closed.connect(self._on_closed)
        self._state.forecast_changed.connect(self._on_forecast)
        self._chart.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        forecast = self._chart.model.forecast
        is_due = forecast is not None and forecast.origin_open_time_ms == self._due
        if is_due and event.type() is QEvent.Type.Paint:
            began, self._due = self._last[self._due or 0], None
            QTimer.singleShot(0, self, lambda: self.painted_ms.append((perf_counter() - began) * 1e3))  # after it
        return False

    @property
    def is_behind(self) -> bool:
        """Whether the trainer has not learned from the newest close yet."""
        last = self._state.steps.last
        return last is None or last.candle_open_time_ms < max(self._last, default=0)

    @Slot(object, object)
    def _on_closed(self, _market: Market, candles: Sequence[Candle]) -> None:
        for time_ms in (candle.open_time_ms for candle in candles):
            self._arrived[time_ms] = self._arrived.get(time_ms, 0) + 1
            if self._arrived[time_ms] == self._markets:
                self._last[time_ms] = perf_counter()

    @Slot()
    def _on_forecast(self) -> None:
        made = self._state.shown_forecast
        began = None if made is None else self._last.get(made.origin_open_time_ms)
        if made is not None and began is not None and made.origin_open_time_ms not in self._counted:
            self._counted.add(made.origin_open_time_ms)
            self._due = made.origin_open_time_ms
            self.forecast_ms.append((perf_counter() - began) * 1e3)


def measure_ghost(markets: int, closes: int, speed: float, qt: QApplication) -> dict[str, Any]:
    """Until the forecast is in the window, and until it is painted. Runs the event loop."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-ghost-") as root, QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        qt.setQuitOnLastWindowClosed(False)
        folder = DataFolder(Path(root))
        folder.ensure()
        context = Context(simulated_markets(markets, speed=speed, catch_up=_CATCH_UP), folder, as_json=False)
        measured: dict[str, Any] = loop.run_until_complete(_measure(Application(context, qt), markets, closes))
        return measured


async def _measure(application: Application, markets: int, closes: int) -> dict[str, Any]:
    application.start()
    try:
        watch = GhostWatch(application, markets)
        await _until(lambda: (last := application.state.steps.last) is not None and last.step >= _CATCH_UP)
        await _until(lambda: not watch.is_behind)  # the candles that closed during the catch-up wait for it
        before = len(watch.painted_ms) + _SKIPPED
        await _until(lambda: len(watch.painted_ms) >= before + closes)
    finally:
        application.window.close()
        await application.close()
    figures = {"forecast_ms": watch.forecast_ms[-closes:], "painted_ms": watch.painted_ms[-closes:]}
    return {"markets": markets, **{name: _spread(samples) for name, samples in figures.items()}}


async def _until(is_reached: Callable[[], bool]) -> None:
    while not is_reached():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
        await asyncio.sleep(_LOOK_S)


def _spread(samples: list[float]) -> dict[str, float]:
    p50, p99 = np.percentile(samples, [50.0, 99.0])
    return {"p50": float(p50), "p99": float(p99), "max": max(samples), "samples": len(samples)}
