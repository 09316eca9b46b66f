"""Measuring: drag with Shift, or press M and drag, click twice, or move the end with the arrows."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from PySide6.QtCore import Qt

from desktop.chart.data.measurement import Mark, Measurement
from desktop.chart.data.model import ChartModel
from desktop.chart.tools.line_tool import snapped_price
from desktop.chart.tools.price_steps import floored
from desktop.chart.tools.tool import ChartPoint

_NUDGES_PER_HEIGHT = 100.0


class Stage(Enum):
    """What a measurement waits for."""

    RESTING = auto()
    """Nothing; the last one may still be seen, until the next click."""
    READY = auto()
    """The first press, or an arrow."""
    DRAGGING = auto()
    FOLLOWING = auto()
    """The end goes with the mouse or the arrows until a click or Enter."""


class MeasureTool:
    """The owner of the measurement. `on_changed` is called with each change."""

    def __init__(self, model: ChartModel, on_changed: Callable[[], None]) -> None:
        self._model, self._on_changed = model, on_changed
        self.stage = Stage.RESTING
        self.shown: Measurement | None = None
        self._start: Mark | None = None

    def begin(self, start: Mark) -> None:
        """Wait for the first press; `start` is where arrows begin."""
        self._become(Stage.READY, None, start)

    def follow(self, start: Mark) -> None:
        """Measure from here to the mouse."""
        self._become(Stage.FOLLOWING, Measurement(start, start), start)

    def clear(self) -> None:
        """Nothing is measured any more."""
        self._become(Stage.RESTING, None, None)

    def finish(self) -> None:
        """Leave it as it is, to be looked at."""
        self._become(Stage.RESTING, self.shown, None)

    def stretch(self, end: Mark) -> None:
        """Move the end there."""
        if self._start is not None:
            self._become(self.stage, Measurement(self._start, end), self._start)

    def nudge(self, candles: int, prices: int, at_hand: float) -> None:
        """Move the end by candles, and by hundredths of the height that shows `at_hand` of price."""
        if self._start is None:
            return
        end = self._start if self.shown is None else self.shown.end
        index = max((self._model.index_around(end.time_ms) or 0) + candles, 0)
        tick = 10.0 ** -self._model.decimals()
        step = max(at_hand / _NUDGES_PER_HEIGHT, tick)
        price = floored(round(end.price + prices * step, self._model.decimals()), tick)
        time_ms = self._model.time_at(index)
        moved = Mark(end.time_ms if time_ms is None else time_ms, price)
        self._become(Stage.FOLLOWING, Measurement(self._start, moved), self._start)

    def mark_at(self, at: ChartPoint) -> Mark | None:
        """The candle and the price at a place."""
        time_ms = self._model.time_at(max(round(at.index), 0))
        return None if time_ms is None else Mark(time_ms, snapped_price(at, self._model))

    def press(self, at: ChartPoint) -> bool:
        if self.stage is Stage.FOLLOWING:
            self.finish()
            return True
        mark = self.mark_at(at) if at.is_on_prices else None
        wants = self.stage is Stage.READY or bool(at.modifiers & Qt.KeyboardModifier.ShiftModifier)
        if wants and mark is not None:
            self._become(Stage.DRAGGING, Measurement(mark, mark), mark)
            return True
        if self.shown is not None:
            self.clear()
        return False

    def move(self, at: ChartPoint) -> None:
        mark = self.mark_at(at)
        if self.stage is Stage.DRAGGING and mark is not None:
            self.stretch(mark)

    def release(self, at: ChartPoint) -> None:
        if self.stage is not Stage.DRAGGING:
            return
        if self.shown is not None and self.shown.start == self.shown.end:
            self._become(Stage.FOLLOWING, self.shown, self._start)
        else:
            self.finish()

    def cancel(self) -> None:
        if self.stage is Stage.DRAGGING:
            self.clear()

    def double_click(self, at: ChartPoint) -> bool:
        return False

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        is_on = self.stage is not Stage.RESTING and at.is_on_prices
        return Qt.CursorShape.CrossCursor if is_on else None

    def _become(self, stage: Stage, shown: Measurement | None, start: Mark | None) -> None:
        self.stage, self.shown, self._start = stage, shown, start
        self._on_changed()
