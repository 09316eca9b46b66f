"""Measures the real window from outside: its frames, its answers to clicks, and how soon a candle has its ghost."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from core.domain.candle import Market
from core.market.feeds.base import ClosedCandle, FeedEvent
from core.market.pipeline import MarketPipeline
from core.market.shown_names import shown_market
from desktop.chart.frame_clock import FrameClock
from desktop.chart.widget import ChartWidget


class Stopwatch(QObject):
    """All times are in milliseconds. A frame is what the frame clocks did since the frame before, and the paint of the
    window, as in the chart's benchmark. Nothing is recorded until it is attached, nor while it is at rest."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = array("d")
        """With a chart painted in them, the large one or a tile of the Overview."""
        self.repaints = array("d")
        """All others: panels, the status bar."""
        self.switches = array("d")
        """From the mouse's release to the end of the frame with the new market's chart."""
        self.ghosts = array("d")
        """From a live candle's arrival in the window to the end of the frame with the ghosts that follow it."""
        self._window: QWidget | None = None
        self._chart: ChartWidget | None = None
        self._is_at_rest = False
        self._work = 0.0
        self._is_working = False
        self._painted: set[QObject] = set()
        self._charts: set[QObject] = set()
        self._released: float | None = None
        self._former = ""
        self.late = 0
        """Candles that had no ghosts yet when the next one came."""
        self._arrived: tuple[int, float] | None = None
        """The newest candle of the market on the chart that has no ghosts yet: its opening time, and when it came."""

    def attach(self, window: QWidget, chart: ChartWidget) -> None:
        """Measure from now on. chart: the large one."""
        self._window, self._chart, self._work = window, chart, 0.0
        for widget in (window, chart):
            widget.installEventFilter(self)
        self.watch_chart(chart.viewport())

    def watch(self, widget: QWidget) -> None:
        """Notice clicks on it."""
        widget.installEventFilter(self)

    def watch_chart(self, widget: QWidget) -> None:
        """Notice its paints, and clicks on it."""
        self._charts.add(widget)
        self.watch(widget)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Record nothing meanwhile: the test itself works."""
        self._is_at_rest = True
        try:
            yield
        finally:
            self._is_at_rest = False
            self._work, self._arrived = 0.0, None

    def expect_switch(self) -> None:
        """The next click puts another market on the large chart."""
        assert self._chart is not None
        self._former, self._released, self._arrived = self._chart.model.title, None, None

    @property
    def is_switching(self) -> bool:
        """Whether the market of the click is not on the chart yet."""
        return bool(self._former)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.UpdateRequest and watched is self._window:
            self._frame(event)
            return True
        if kind is QEvent.Type.Paint and watched in self._charts:
            self._painted.add(watched)
        elif kind is QEvent.Type.Hide and watched is self._chart:
            self._arrived = None
        elif kind is QEvent.Type.MouseButtonRelease and self._former:
            self._released = perf_counter()
        return False

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Before the window opens: notice the frame clocks' work, and each live candle that a feed brings."""
        flush, take = FrameClock.flush, MarketPipeline._handle
        stopwatch = self

        def timed_flush(self: FrameClock) -> None:
            stopwatch._time_work(lambda: flush(self))

        def noted_take(self: MarketPipeline, event: FeedEvent) -> None:
            if isinstance(event, ClosedCandle) and event.is_live:
                stopwatch._note_arrival(self._feed.market, event.candle.open_time_ms)
            take(self, event)

        patch.setattr(FrameClock, "flush", timed_flush)
        patch.setattr(MarketPipeline, "_handle", noted_take)

    def _time_work(self, work: Callable[[], None]) -> None:
        if self._is_working:
            work()
            return
        self._is_working, began = True, perf_counter()
        try:
            work()
        finally:
            self._is_working = False
            self._work += perf_counter() - began

    def _frame(self, event: QEvent) -> None:
        """Qt paints the window within this event, and only what is to be painted."""
        assert self._window is not None
        self._painted.clear()
        began = perf_counter()
        self._window.event(event)
        now = perf_counter()
        if not self._is_at_rest:
            (self.frames if self._painted else self.repaints).append(1000.0 * (self._work + now - began))
            self._look_at_chart(now)
        self._work = 0.0

    def _look_at_chart(self, now: float) -> None:
        chart = self._chart
        assert chart is not None
        if chart.viewport() not in self._painted or chart.model.is_empty:
            return
        model = chart.model
        if self._former and self._released is not None and model.title != self._former:
            self.switches.append(1000.0 * (now - self._released))
            self._former, self._released = "", None
        made, arrived = model.forecast, self._arrived
        if arrived is not None and made is not None and made.origin_open_time_ms == arrived[0]:
            self.ghosts.append(1000.0 * (now - arrived[1]))
            self._arrived = None

    def _note_arrival(self, market: Market, open_time_ms: int) -> None:
        chart = self._chart
        if chart is None or self._is_at_rest or not chart.isVisible() or chart.model.title != shown_market(market):
            return
        self.late += self._arrived is not None
        self._arrived = (open_time_ms, perf_counter())


def figures(samples: Sequence[float]) -> dict[str, Any]:
    """Of milliseconds."""
    if not samples:
        return {"count": 0}
    p50, p99 = np.percentile(samples, [50.0, 99.0])
    return {
        "count": len(samples),
        "p50": round(float(p50), 1),
        "p99": round(float(p99), 1),
        "worst": round(max(samples), 1),
    }
