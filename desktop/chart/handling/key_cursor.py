"""The crosshair by keys: candle by candle, so that each can be read without a mouse."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from desktop.chart.data.model import ChartModel
from desktop.chart.framing.frame import Frame
from desktop.chart.handling.pointer import Pointer
from desktop.chart.scales.time_scale import TimeScale

_FAR_STEP = 10
_DIRECTIONS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class KeyCursor:
    """Ctrl+Left and Ctrl+Right; with Shift by ten. Moves the view along where a candle lies out of it."""

    def __init__(self, model: ChartModel, scale: TimeScale, pointer: Pointer) -> None:
        self._model, self._scale, self._pointer = model, scale, pointer

    def key(self, event: QKeyEvent, frame: Callable[[], Frame]) -> bool:
        """Carry out a key. False for one that means nothing here. frame: gives the geometry as the scale has it now."""
        direction = _DIRECTIONS.get(Qt.Key(event.key()))
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        if direction is None or modifiers not in (control, control | shift) or self._model.is_empty:
            return False
        position, shown = self._pointer.position, frame()
        if position is None:
            self._go_to(self._first(shown), frame)
            return True
        step = direction * (_FAR_STEP if modifiers & shift else 1)
        self._go_to(shown.index_at(position.x() * shown.ratio) + step, frame)
        return True

    def _first(self, shown: Frame) -> int:
        """Where reading begins: at the newest candle, or the newest one in view."""
        newest = self._model.count if self._model.forming is not None else self._model.count - 1
        return min(newest, math.floor(shown.right))

    def _last(self) -> int:
        """The forming candle, the newest closed one, or the last ghost."""
        ghosts = self._model.ghosts()
        forming = self._model.count if self._model.forming is not None else self._model.count - 1
        return max([forming, *(placed.index for placed in ghosts)])

    def _go_to(self, wanted: int, frame: Callable[[], Frame]) -> None:
        index = min(max(wanted, 0), self._last())
        if not self._scale.left <= index <= self._scale.right:
            self._scale.center(index)
        candle = self._model.candle(index)
        placed = next((each for each in self._model.ghosts() if each.index == index), None)
        price = candle.close if candle is not None else None if placed is None else placed.ghost.close
        shown = frame()  # after the move: other candles in view are another range of prices
        row = shown.layout.price_bottom // 2 if price is None else shown.y(price)
        self._pointer.position = QPointF(self._scale.x_at(index), row / shown.ratio)
