"""Moving the view: panning with kinetic scrolling, zooming, and dragging the axes and the edges of panes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QWheelEvent

from core.domain.clock import Clock
from desktop.chart.axes.price_scale import ManualRange, PriceRange
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.panes.frame import Frame, PaneHeights
from desktop.chart.tools.tool import DRAG_THRESHOLD_PX, Area, ChartPoint, GripTool, modifiers_of
from desktop.ui.paint_in_turn import FRAME_MS

_WATCHED_S = 0.08
"""Weight of the last mouse movement in the speed."""
_SLOWEST_PX_PER_S = 120.0
_FASTEST_PX_PER_S = 6_000.0
_HALF_LIFE_S = 0.12
_ZOOM_PER_DEGREE = 1.0015
_KEY_ZOOM = 1.25
_KEY_SHARE = 0.1
_PAGE_SHARE = 0.9
_MODIFIERS_OF_OTHERS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)
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


class _Hold(NamedTuple):
    """The mouse position, and the view when the drag began."""

    position: QPointF
    right: float
    range: PriceRange | None


class PanTool(GripTool[_Hold]):
    """Drags the time scale, and a manual price range too; a double click resets both."""

    shape = Qt.CursorShape.CrossCursor

    def __init__(self, scale: TimeScale, manual_range: ManualRange, kinetic: Kinetic, clock: Clock) -> None:
        self._scale, self._range, self._kinetic, self._clock = scale, manual_range, kinetic, clock
        self._is_dragging = False
        self._trail: deque[tuple[float, float]] = deque(maxlen=16)

    def part_at(self, at: ChartPoint) -> _Hold | None:
        return self._hold(at.position) if at.area is Area.PLOT else None

    def press(self, at: ChartPoint) -> bool:
        self._trail.clear()
        return super().press(at)

    def move(self, at: ChartPoint) -> None:
        """Drag the view along. A slight movement during a click is not a drag."""
        if self.held is None:
            return
        way = at.position - self.held.position
        if not self._is_dragging and max(abs(way.x()), abs(way.y())) < DRAG_THRESHOLD_PX:
            return
        self._is_dragging = True
        self._scale.pan_to(self.held.right - way.x() / self._scale.spacing)
        if self.held.range is not None:
            height = at.frame.price_pane.height / at.frame.ratio
            self._range.shift(self.held.range, -way.y() / height)
        self._trail.append((self._clock.monotonic_s(), at.position.x()))

    def release(self, at: ChartPoint) -> None:
        speed = self._speed() if self._is_dragging else 0.0
        self.cancel()
        self._kinetic.start(speed)

    def cancel(self) -> None:
        self.held, self._is_dragging = None, False

    def reset(self, part: _Hold) -> None:
        self._range.release()
        self._scale.reset()

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.ClosedHandCursor if self.held is not None else super().shape_at(at)

    def wheel(self, event: QWheelEvent) -> bool:
        """Zoom about the cursor; sideways, or with Shift, pan. Returns whether the view changed."""
        before = (self._scale.right, self._scale.spacing)
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y()):
            self._pan_by(-(turned.x() or turned.y()) / self._scale.spacing)
        else:
            x = min(max(event.position().x(), 0.0), self._scale.width)
            self._scale.zoom_at(_ZOOM_PER_DEGREE ** turned.y(), x)
        if self.held is not None:  # continue from there
            self.held = self._hold(event.position())
        return (self._scale.right, self._scale.spacing) != before

    def key(self, event: QKeyEvent) -> bool:
        key, scale = Qt.Key(event.key()), self._scale
        page = scale.width / scale.spacing
        step = max(1.0, round(page * _KEY_SHARE))
        candles = {
            Qt.Key.Key_Left: -step,
            Qt.Key.Key_Right: step,
            Qt.Key.Key_PageUp: -_PAGE_SHARE * page,
            Qt.Key.Key_PageDown: _PAGE_SHARE * page,
        }
        if event.modifiers() & _MODIFIERS_OF_OTHERS:
            return False
        if key in candles:
            self._pan_by(candles[key])
        elif key == Qt.Key.Key_Home:
            scale.go_to_oldest()
        elif key == Qt.Key.Key_End:
            scale.go_to_newest()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            scale.zoom(_KEY_ZOOM)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            scale.zoom(1 / _KEY_ZOOM)
        else:
            return False
        return True

    def candles_shifted(self, count: int) -> None:
        """Candles were inserted before the view: shift the drag's indices."""
        if self.held is not None:
            self.held = self.held._replace(right=self.held.right + count)

    def _pan_by(self, candles: float) -> None:
        self._scale.pan_to(self._scale.right + candles)

    def _hold(self, position: QPointF) -> _Hold:
        return _Hold(position, self._scale.right, self._range.range)

    def _speed(self) -> float:
        """Pixels a second at the end of the drag; 0 if the mouse was at rest."""
        now = self._clock.monotonic_s()
        recent = [(when, x) for when, x in self._trail if now - when <= _WATCHED_S]
        if len(recent) < 2 or now <= recent[0][0]:
            return 0.0
        return (recent[-1][1] - recent[0][1]) / (now - recent[0][0])


class Kinetic(QObject):
    """Lets the view continue and slow down after a throw."""

    def __init__(self, scale: TimeScale, on_moved: Callable[[], None], clock: Clock, parent: QObject) -> None:
        super().__init__(parent)
        self._scale, self._on_moved, self._clock = scale, on_moved, clock
        self._speed = 0.0
        self._last_s = 0.0
        self._timer = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    @property
    def is_running(self) -> bool:
        return self._timer.isActive()

    def start(self, speed_px_per_s: float) -> None:
        """Start at this speed; positive moves back in time. Too low a speed is ignored."""
        if abs(speed_px_per_s) < _SLOWEST_PX_PER_S:
            return
        self._speed = math.copysign(min(abs(speed_px_per_s), _FASTEST_PX_PER_S), speed_px_per_s)
        self._last_s = self._clock.monotonic_s()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        now = self._clock.monotonic_s()
        elapsed, self._last_s = now - self._last_s, now
        before = self._scale.right
        self._scale.pan_to(before - self._speed * elapsed / self._scale.spacing)
        self._speed *= 0.5 ** (elapsed / _HALF_LIFE_S)
        is_at_end = elapsed > 0 and self._scale.right == before
        if is_at_end or abs(self._speed) < _SLOWEST_PX_PER_S / 4:
            self.stop()
        self._on_moved()


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
