"""Hands on the axes, by mouse and by keys: the price axis is stretched, the time axis zoomed, a pane made higher."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from desktop.chart.axes.held_range import HeldRange
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.axes.time_scale import TimeScale
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane_heights import PaneHeights
from desktop.chart.tools.tool import Area, ChartPoint, GripTool, modifiers_of

_STRETCH_PER_HEIGHT = 3.0
"""A drag over the whole height shows e to this power times as much."""
_ZOOM_PER_WIDTH = 3.0
_EDGE_REACH_PX = 3
_MOST_POWER = 20.0
"""Of e: beyond what any range or zoom goes to, and far below what a float holds. A chart that is pressed to a few
pixels during a drag sees travels of hundreds of its heights."""
_DIRECTIONS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_MOVE = Qt.KeyboardModifier.AltModifier
_SPREAD = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
_HEIGHTEN = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_MOVE_SHARE = 0.1
_STRETCH_OF_A_KEY = 1.25
_HIGHER_SHARE = 0.02


class PriceAxisTool(GripTool[tuple[float, PriceRange]]):
    """Up presses the prices together, down spreads them; a double click fits them again. By keys, Up and Down with Alt
    look at higher and lower prices, and with Shift too they spread them and press them together."""

    shape = Qt.CursorShape.SizeVerCursor

    def __init__(self, held_range: HeldRange, frame: Callable[[], Frame]) -> None:
        """frame: gives the geometry as the scales have it now."""
        self._range, self._frame = held_range, frame

    def part_at(self, at: ChartPoint) -> tuple[float, PriceRange] | None:
        is_mine = at.area is Area.PRICE_AXIS and at.pane is at.frame.price_pane
        return (at.position.y(), at.frame.prices) if is_mine else None

    def move(self, at: ChartPoint) -> None:
        if self.held is None:
            return
        y, shown = self.held
        height = at.frame.layout.main_bottom / at.frame.ratio
        if at.position.y() != y:
            self._range.stretch(shown, _times(_STRETCH_PER_HEIGHT * (y - at.position.y()) / max(height, 1.0)))

    def reset(self, part: object) -> None:
        self._range.release()

    def key(self, event: QKeyEvent) -> bool:
        direction, modifiers = _DIRECTIONS.get(Qt.Key(event.key())), modifiers_of(event)
        if direction is None or modifiers not in (_MOVE, _SPREAD):
            return False
        if modifiers == _MOVE:
            self._range.shift(self._frame().prices, -_MOVE_SHARE * direction)
        else:
            self._range.stretch(self._frame().prices, _STRETCH_OF_A_KEY**-direction)
        return True


class TimeAxisTool(GripTool[float]):
    """Left presses the candles together, right spreads them; a double click is the default zoom."""

    shape = Qt.CursorShape.SizeHorCursor

    def __init__(self, scale: TimeScale) -> None:
        self._scale = scale

    def part_at(self, at: ChartPoint) -> float | None:
        return at.position.x() if at.area is Area.TIME_AXIS else None

    def move(self, at: ChartPoint) -> None:
        if self.held is not None:
            travelled, self.held = at.position.x() - self.held, at.position.x()
            self._scale.zoom(_times(_ZOOM_PER_WIDTH * travelled / self._scale.width))

    def reset(self, part: object) -> None:
        self._scale.reset()


class PaneEdgeTool(GripTool[tuple[str, float]]):
    """The upper edge of each pane below the prices; a double click gives it the height of a new pane. By keys, Up and
    Down with Ctrl and Shift make the pane under the crosshair higher and lower, or the first one below the prices while
    it is over those."""

    shape = Qt.CursorShape.SplitVCursor

    def __init__(
        self,
        heights: PaneHeights,
        frame: Callable[[], Frame],
        cursor: Callable[[Frame], QPointF | None],
        on_resized: Callable[[], object],
    ) -> None:
        """cursor: where the crosshair is in a frame, in logical pixels."""
        self._heights, self._frame, self._cursor, self._on_resized = heights, frame, cursor, on_resized

    def part_at(self, at: ChartPoint) -> tuple[str, float] | None:
        reach = at.frame.scaled(_EDGE_REACH_PX)
        names = (pane.name for pane in at.frame.panes if abs(at.pixel.y() - pane.top) <= reach)
        name = next(names, None) if at.area is Area.PLOT else None
        return None if name is None else (name, at.position.y())

    def move(self, at: ChartPoint) -> None:
        if self.held is not None:
            name, y = self.held
            height = at.frame.layout.plot_bottom / at.frame.ratio
            self._heights.drag([pane.name for pane in at.frame.panes], name, (y - at.position.y()) / height)
            self.held = (name, at.position.y())

    def release(self, at: ChartPoint) -> None:
        self.cancel()
        self._on_resized()

    def reset(self, part: tuple[str, float]) -> None:
        self._heights.reset(part[0])
        self._on_resized()

    def key(self, event: QKeyEvent) -> bool:
        direction = _DIRECTIONS.get(Qt.Key(event.key()))
        if direction is None or modifiers_of(event) != _HEIGHTEN:
            return False
        shown = self._frame()
        names, position = [pane.name for pane in shown.panes], self._cursor(shown)
        if names:
            pane = shown.price_pane if position is None else shown.pane_at(position.y() * shown.ratio)
            name = pane.name if pane is not shown.price_pane else names[0]
            self._heights.drag(names, name, _HIGHER_SHARE * direction)
            self._on_resized()
        return True


def _times(power: float) -> float:
    return math.exp(min(max(power, -_MOST_POWER), _MOST_POWER))
