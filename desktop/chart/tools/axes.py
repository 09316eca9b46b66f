"""Axis interaction by mouse and keyboard: stretch the price axis, zoom the time axis, resize a pane."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from desktop.chart.axes.manual_range import ManualRange
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.axes.time_scale import TimeScale
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane_heights import PaneHeights
from desktop.chart.tools.tool import Area, ChartPoint, GripTool, modifiers_of

_STRETCH_PER_HEIGHT = 3.0
"""A drag over the whole height scales the range by e to this power."""
_ZOOM_PER_WIDTH = 3.0
_EDGE_REACH_PX = 3
_MOST_POWER = 20.0
"""Exponent limit: beyond any range or zoom, and far below float overflow. A chart shrunk to a few pixels during a drag
reports movements of hundreds of its heights."""
_DIRECTIONS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_MOVE = Qt.KeyboardModifier.AltModifier
_SPREAD = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
_HEIGHTEN = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_MOVE_SHARE = 0.1
_STRETCH_OF_A_KEY = 1.25
_HIGHER_SHARE = 0.02


class PriceAxisTool(GripTool[tuple[float, PriceRange]]):
    """Dragging up compresses the prices, down spreads them; a double click fits them. Alt+Up and Alt+Down scroll to
    higher and lower prices; with Shift they spread and compress them."""

    shape = Qt.CursorShape.SizeVerCursor

    def __init__(self, manual_range: ManualRange, frame: Callable[[], Frame]) -> None:
        """frame: gives the current geometry."""
        self._range, self._frame = manual_range, frame

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
    """Dragging left compresses the candles, right spreads them; a double click restores the default zoom."""

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
    """The upper edge of each pane below the prices; a double click restores a new pane's height. Ctrl+Shift+Up and
    Ctrl+Shift+Down make the pane under the crosshair higher and lower, or the first one below the prices while the
    crosshair is over those."""

    shape = Qt.CursorShape.SplitVCursor

    def __init__(
        self,
        heights: PaneHeights,
        frame: Callable[[], Frame],
        cursor: Callable[[Frame], QPointF | None],
        on_resized: Callable[[], object],
    ) -> None:
        """cursor: the crosshair in a frame, in logical pixels."""
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
