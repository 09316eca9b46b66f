"""The keyboard crosshair: candle by candle, so that each can be read without a mouse."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from core.domain.drawings import Anchor
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.data.anchors import bounded
from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.tools.tool import Tool, modifiers_of

_FAR_STEP = 10
_PANE_DIRECTIONS = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
_DIRECTIONS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class KeyCursor(Tool):
    """Ctrl+Left and Ctrl+Right, with Shift by ten; Ctrl+PgUp and Ctrl+PgDown to the pane above or below. It stays at
    its candle when candles close, arrive late or move; a step out of the view scrolls it."""

    def __init__(
        self, model: ChartModel, scale: TimeScale, frame: Callable[[], Frame], mouse: Callable[[], QPointF | None]
    ) -> None:
        """frame: gives the current geometry. mouse: its position in logical pixels."""
        self._model, self._scale, self._frame, self._mouse = model, scale, frame, mouse
        self._time_ms: int | None = None
        self._pane = PRICE_PANE

    def hide(self) -> None:
        """Hide it, because the mouse takes over or another market is shown."""
        self._time_ms, self._pane = None, PRICE_PANE

    def mark(self) -> Anchor | None:
        """The candle or ghost at the crosshair, and its close; None while hidden."""
        index = self._pointed_at()
        time_ms, price = (None, None) if index is None else (self._model.time_at(index), self._model.close_at(index))
        return None if time_ms is None or price is None else bounded(time_ms, price)

    def position(self, shown: Frame) -> QPointF | None:
        """The crosshair's position in this frame, in logical pixels: at its candle's close, or in the middle of a lower
        pane. None while hidden."""
        index = self._pointed_at()
        if index is None:
            return None
        pane, price = self._pane_of(shown), self._model.close_at(index)
        if pane is not shown.price_pane:
            row = (pane.top + pane.bottom) // 2
        else:
            row = shown.layout.price_bottom // 2 if price is None else shown.y(price)
        return QPointF((shown.x(index) + 0.5) / shown.ratio, (row + 0.5) / shown.ratio)  # the middle of the pixel

    def key(self, event: QKeyEvent) -> bool:
        direction, down = _DIRECTIONS.get(Qt.Key(event.key())), _PANE_DIRECTIONS.get(Qt.Key(event.key()))
        modifiers = modifiers_of(event)
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_Escape and self._time_ms is not None:
            self.hide()
        elif down is not None and modifiers == control:
            self._go_down(self._frame(), down)
        elif direction is not None and modifiers in (control, control | shift):
            self._walk(self._frame(), direction * (_FAR_STEP if modifiers & shift else 1))
        else:
            return False
        return True

    def _walk(self, shown: Frame, step: int) -> None:
        pointed_at, mouse = self._pointed_at(), self._mouse()
        if pointed_at is not None:
            self._go_to(pointed_at + step)
        elif mouse is not None:
            self._go_to(shown.index_at(mouse.x() * shown.ratio) + step)
        else:
            self._go_to(min(self._model.newest_index, math.floor(self._scale.right - self._pixel)))

    def _go_down(self, shown: Frame, panes: int) -> None:
        """Starts at its candle, or at the default starting candle."""
        if self._pointed_at() is None:
            self._walk(shown, 0)
        names = [pane.name for pane in (shown.price_pane, *shown.panes)]
        place = names.index(self._pane_of(shown).name) + panes
        self._pane = names[min(max(place, 0), len(names) - 1)]

    @property
    def _pixel(self) -> float:
        """The width of a pixel in candles: at the right edge itself lies the axis."""
        return 1.0 / self._scale.spacing

    def _pane_of(self, shown: Frame) -> Pane:
        """The pane of its row; the prices' if the pane was removed."""
        return next((pane for pane in shown.panes if pane.name == self._pane), shown.price_pane)

    def _pointed_at(self) -> int | None:
        """The candle of its time, or at a longer interval the candle that contains it."""
        return None if self._time_ms is None else self._model.index_around(self._time_ms)

    def _go_to(self, wanted: int) -> None:
        last = max([self._model.newest_index, *(placed.index for placed in self._model.ghosts())])
        index = min(max(wanted, 0), last)
        if not self._scale.left <= index <= self._scale.right - self._pixel:
            self._scale.center(index)
        self._time_ms = self._model.time_at(index)
