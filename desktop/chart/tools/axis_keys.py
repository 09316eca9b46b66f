"""The price axis and the heights of the panes, by keys."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from desktop.chart.axes.held_range import HeldRange
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane_heights import PaneHeights
from desktop.chart.tools.key_cursor import KeyCursor
from desktop.chart.tools.pointer import Pointer

_MOVE_SHARE = 0.1
_STRETCH = 1.25
_HIGHER_SHARE = 0.02
_DIRECTIONS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_MOVE = Qt.KeyboardModifier.AltModifier
_SPREAD = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
_HEIGHTEN = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class AxisKeys:
    """Up and Down with Alt look at higher and lower prices; with Shift too they spread the prices and press them
    together. With Ctrl and Shift they make the pane under the crosshair higher and lower, or the first one below the
    prices while it is over those."""

    def __init__(
        self,
        held: HeldRange,
        heights: PaneHeights,
        crosshair: tuple[KeyCursor, Pointer],
        on_resized: Callable[[], object],
    ) -> None:
        self._held, self._heights, self._on_resized = held, heights, on_resized
        self._key_cursor, self._pointer = crosshair

    def key(self, event: QKeyEvent, frame: Callable[[], Frame]) -> bool:
        """Carry out a key. False for one that means nothing here. frame: gives the geometry as the scale has it now."""
        direction = _DIRECTIONS.get(Qt.Key(event.key()))
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if direction is None or self._pointer.is_held:
            return False
        if modifiers == _MOVE:
            self._held.shift(frame().prices, -_MOVE_SHARE * direction)
        elif modifiers == _SPREAD:
            self._held.stretch(frame().prices, _STRETCH**-direction)
        elif modifiers == _HEIGHTEN:
            self._heighten(frame(), _HIGHER_SHARE * direction)
        else:
            return False
        return True

    def _heighten(self, shown: Frame, change: float) -> None:
        names = [pane.name for pane in shown.panes]
        if not names:
            return
        position = self._key_cursor.position(shown) or self._pointer.position
        pane = shown.price_pane if position is None else shown.pane_at(position.y() * shown.ratio)
        self._heights.drag(names, pane.name if pane is not shown.price_pane else names[0], change)
        self._on_resized()
