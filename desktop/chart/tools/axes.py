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
from desktop.chart.tools.tool import Area, ChartPoint, Tool, modifiers_of

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


class PriceAxisTool(Tool):
    """Up presses the prices together, down spreads them; a double click fits them again. By keys, Up and Down with Alt
    look at higher and lower prices, and with Shift too they spread them and press them together."""

    def __init__(self, held: HeldRange, frame: Callable[[], Frame]) -> None:
        """frame: gives the geometry as the scales have it now."""
        self._held, self._frame = held, frame
        self._grabbed: tuple[float, PriceRange] | None = None

    def press(self, at: ChartPoint) -> bool:
        if not self._is_mine(at):
            return False
        self._grabbed = (at.position.y(), at.frame.prices)
        return True

    def move(self, at: ChartPoint) -> None:
        if self._grabbed is None:
            return
        y, shown = self._grabbed
        height = at.frame.layout.main_bottom / at.frame.ratio
        if at.position.y() != y:
            self._held.stretch(shown, _times(_STRETCH_PER_HEIGHT * (y - at.position.y()) / max(height, 1.0)))

    def cancel(self) -> None:
        self._grabbed = None

    def double_click(self, at: ChartPoint) -> bool:
        if self._is_mine(at):
            self._held.release()
            return True
        return False

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.SizeVerCursor if self._is_mine(at) else None

    def key(self, event: QKeyEvent) -> bool:
        direction, modifiers = _DIRECTIONS.get(Qt.Key(event.key())), modifiers_of(event)
        if direction is None or modifiers not in (_MOVE, _SPREAD):
            return False
        if modifiers == _MOVE:
            self._held.shift(self._frame().prices, -_MOVE_SHARE * direction)
        else:
            self._held.stretch(self._frame().prices, _STRETCH_OF_A_KEY**-direction)
        return True

    def _is_mine(self, at: ChartPoint) -> bool:
        return at.area is Area.PRICE_AXIS and at.pane is at.frame.price_pane


class TimeAxisTool(Tool):
    """Left presses the candles together, right spreads them; a double click is the default zoom."""

    def __init__(self, scale: TimeScale) -> None:
        self._scale = scale
        self._last_x: float | None = None

    def press(self, at: ChartPoint) -> bool:
        if at.area is not Area.TIME_AXIS:
            return False
        self._last_x = at.position.x()
        return True

    def move(self, at: ChartPoint) -> None:
        if self._last_x is None:
            return
        travelled, self._last_x = at.position.x() - self._last_x, at.position.x()
        self._scale.zoom(_times(_ZOOM_PER_WIDTH * travelled / self._scale.width))

    def cancel(self) -> None:
        self._last_x = None

    def double_click(self, at: ChartPoint) -> bool:
        if at.area is Area.TIME_AXIS:
            self._scale.reset()
            return True
        return False

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.SizeHorCursor if at.area is Area.TIME_AXIS else None


class PaneEdgeTool(Tool):
    """The upper edge of each pane below the prices; a double click gives it the height of a new pane. By keys, Up and
    Down with Ctrl and Shift make the pane under the crosshair higher and lower, or the first one below the prices while
    it is over those."""

    def __init__(
        self,
        heights: PaneHeights,
        frame: Callable[[], Frame],
        cursor: Callable[[Frame], QPointF | None],
        on_resized: Callable[[], object],
    ) -> None:
        """cursor: where the crosshair is in a frame, in logical pixels."""
        self._heights, self._frame, self._cursor, self._on_resized = heights, frame, cursor, on_resized
        self._grabbed: tuple[str, float] | None = None

    def press(self, at: ChartPoint) -> bool:
        name = _edge_at(at)
        if name is None:
            return False
        self._grabbed = (name, at.position.y())
        return True

    def move(self, at: ChartPoint) -> None:
        if self._grabbed is None:
            return
        name, y = self._grabbed
        height = at.frame.layout.plot_bottom / at.frame.ratio
        names = [pane.name for pane in at.frame.panes]
        self._heights.drag(names, name, (y - at.position.y()) / height)
        self._grabbed = (name, at.position.y())

    def release(self, at: ChartPoint) -> None:
        self._grabbed = None
        self._on_resized()

    def cancel(self) -> None:
        self._grabbed = None

    def double_click(self, at: ChartPoint) -> bool:
        name = _edge_at(at)
        if name is not None:
            self._heights.reset(name)
            self._on_resized()
        return name is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.SplitVCursor if _edge_at(at) is not None else None

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


def _edge_at(at: ChartPoint) -> str | None:
    if at.area is not Area.PLOT:
        return None
    reach = at.frame.scaled(_EDGE_REACH_PX)
    return next((pane.name for pane in at.frame.panes if abs(at.pixel.y() - pane.top) <= reach), None)
