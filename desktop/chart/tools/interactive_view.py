"""All mouse and keyboard interaction with the chart, from Qt's events to scale changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsSceneMouseEvent

from core.domain.clock import Clock
from core.domain.drawings import Anchor
from desktop.chart.axes.price_scale import ManualRange, PriceRange
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.data.anchors import index_at
from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import Frame, PaneHeights
from desktop.chart.tools.key_cursor import KeyCursor
from desktop.chart.tools.pan_and_zoom import Kinetic, PaneEdgeTool, PanTool, PriceAxisTool, TimeAxisTool
from desktop.chart.tools.tool import NO_MODIFIER, Area, ChartPoint, Tool

_NOT_TYPED = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_LEFT = Qt.MouseButton.LeftButton


class InteractiveView(pyqtgraph.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """An interactive view of candles: owns its scales, the tools, the active tool, and the kinetic motion. Subclasses
    paint it."""

    panes_resized = Signal()
    """The user changed the height of a pane."""

    typed = Signal(str)
    """A letter or digit that the chart itself does not use."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(background=None)
        self.model = ChartModel()
        """The shown data. Read only."""
        self.scale = TimeScale()
        """The visible candles. Read only; movements go through this view."""
        self.heights = PaneHeights()
        """Heights of the panes below the prices. After a change, call `layers_changed`."""
        self._held = ManualRange()
        self._anchor = ViewAnchor(self.model, self.scale)
        self._position: QPointF | None = None
        self._holder: Tool | None = None
        self._kinetic = Kinetic(self.scale, self.view_moved, clock, self)
        self._pan = PanTool(self.scale, self._held, self._kinetic, clock)
        self._key_cursor = KeyCursor(self.model, self.scale, self.fresh_frame, lambda: self._position)
        self._foreign: ForeignItemTool | None = None
        self._tools: list[Tool] = [
            PaneEdgeTool(self.heights, self.fresh_frame, self.crosshair_at, self.panes_resized.emit),
            PriceAxisTool(self._held, self.fresh_frame),
            TimeAxisTool(self.scale),
            self._pan,
            self._key_cursor,
        ]

    def point_at(self, position: QPointF, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> ChartPoint:
        raise NotImplementedError

    def fresh_frame(self) -> Frame:
        """The geometry of the current scales and model, even before the next frame."""
        raise NotImplementedError

    def view_moved(self) -> None:
        """A scale moved: a new picture is needed."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        raise NotImplementedError

    @property
    def is_moving(self) -> bool:
        """Whether the user drags the view, or it still moves after a throw: then nothing else may move it."""
        return self._holder is not None or self._kinetic.is_running

    @property
    def key_mark(self) -> Anchor | None:
        """The candle and the close at the keyboard crosshair; None while the crosshair follows the mouse."""
        return self._key_cursor.mark()

    def crosshair_at(self, frame: Frame) -> QPointF | None:
        """The crosshair's position in this frame, in logical pixels: at the mouse, or at the keyboard's candle."""
        at_keys = self._key_cursor.position(frame)
        return self._position if at_keys is None else at_keys

    def add_tool(self, tool: Tool) -> None:
        """Add a tool before the present ones."""
        self._tools.insert(0, tool)

    def add_foreign_item_tool(self, is_needed: Callable[[], bool]) -> None:
        """Let items from outside the chart take the mouse before a press moves the view."""
        self._foreign = ForeignItemTool(self.scene(), is_needed)
        self._tools.insert(self._tools.index(self._pan), self._foreign)

    def end_interaction(self, *, keeps_crosshair: bool) -> None:
        """End all interaction, for another market or view. keeps_crosshair: at another interval of the same market the
        keyboard crosshair stays at its time."""
        self._cancel()
        if not keeps_crosshair:
            self._key_cursor.hide()
        self._kinetic.stop()

    def hold_prices(self, shown: PriceRange) -> None:
        """Fix the price scale at this range."""
        self._held.hold(shown)
        self.view_moved()

    def fit_prices(self) -> None:
        """Return to the automatic price scale."""
        self._held.release()
        self.view_moved()

    @Slot()
    def go_to_newest(self) -> None:
        """Scroll to the newest candle, at the same zoom."""
        self._kinetic.stop()
        self.scale.go_to_newest()
        self.view_moved()

    @Slot()
    def go_to_oldest(self) -> None:
        """Scroll to the oldest candle, at the same zoom."""
        self._kinetic.stop()
        self.scale.go_to_oldest()
        self.view_moved()

    @Slot()
    def reset_view(self) -> None:
        """The default zoom, at the newest candle."""
        self._kinetic.stop()
        self._held.release()
        self.scale.reset()
        self.view_moved()

    def zoom(self, factor: float) -> None:
        """Zoom in (factor > 1) or out."""
        self._kinetic.stop()
        self.scale.zoom(factor)
        self.view_moved()

    def go_to_time(self, time_ms: int) -> bool:
        """Centre the candle that opens at or after a time. False if there is none."""
        index = self.model.index_from(time_ms)
        if index is None or index >= self.model.count:
            return False
        self._kinetic.stop()
        self.scale.center(index)
        self.view_moved()
        return True

    def bring_into_view(self, anchors: Sequence[Anchor], *, has_time: bool = True) -> None:
        """Scroll these places into view: all of them, or only the last if they are too far apart. has_time: False for
        prices without a time."""
        self._kinetic.stop()
        frame = self.fresh_frame()
        places = sorted((index_at(self.model, anchor.time_ms), anchor.price) for anchor in anchors)
        if has_time:
            if places[-1][0] - places[0][0] > frame.right - frame.left:
                places = places[-1:]
            if not frame.left <= places[0][0] <= places[-1][0] <= frame.right:
                self.scale.center((places[0][0] + places[-1][0]) / 2)
        shown = self.fresh_frame().prices
        self._held.widen(shown, *(price for _, price in places))
        self.view_moved()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self.model.is_empty:
            return
        self._kinetic.stop()
        self._cancel()
        at = self._at(event)
        self._holder = next((tool for tool in self._tools if tool.press(at)), None)
        if self._is_foreign_event:
            super().mousePressEvent(event)
            event.accept()
        if self._holder is not None:
            self._point(at)
            self.view_moved()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if self._holder is not None:
            if self._is_foreign_event:
                super().mouseMoveEvent(event)
                event.accept()
            self._holder.move(at)
            self.view_moved()
        elif event.buttons() == Qt.MouseButton.NoButton:
            self._hover(at)
        self._point(at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        holder = self._holder
        if event.button() == Qt.MouseButton.LeftButton and holder is not None:
            if self._is_foreign_event:
                super().mouseReleaseEvent(event)
                event.accept()
            at, self._holder = self._at(event), None
            holder.release(at)
            self._point(at)
            self.view_moved()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if event.button() == Qt.MouseButton.LeftButton and any(tool.double_click(at) for tool in self._tools):
            self._kinetic.stop()
            self.view_moved()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._kinetic.stop()
        if self._pan.wheel(event):
            self.view_moved()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._key(event):
            self._kinetic.stop()
            self.view_moved()
        elif event.text().isalnum() and not event.modifiers() & _NOT_TYPED:
            self.typed.emit(event.text())
        else:
            event.ignore()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover(self.point_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._position = None
        self._key_cursor.hide()
        for tool in self._tools:
            tool.leave()
        self.cursor_moved()

    def _key(self, event: QKeyEvent) -> bool:
        before = self.key_mark
        if event.key() == Qt.Key.Key_Escape and self._holder is not None:
            self._cancel()
            return True
        if self._holder is not None or self.model.is_empty:
            return False
        if not any(tool.key(event) for tool in self._tools):
            return self._undo_moves(event)
        after = self.key_mark
        if after is not None and after != before:
            for tool in self._tools:
                tool.crosshair_moved(after)
        return True

    def _undo_moves(self, event: QKeyEvent) -> bool:
        """Escape that nothing else has used resets a view that was zoomed or moved. In full screen it ends that."""
        is_free = event.key() == Qt.Key.Key_Escape and not event.modifiers() and not self.window().isFullScreen()
        has_moved = not self.scale.is_reset or self._held.range is not None
        if is_free and has_moved:
            self.reset_view()
        return is_free and has_moved

    def _sync(self) -> None:
        """Take over the series' new length. Late candles must not move the visible ones."""
        self.model.follow()
        shifted = self._anchor.shifted()
        self.scale.set_count(self.model.count, shifted, may_follow=not self.is_moving)
        self._pan.candles_shifted(shifted)

    @property
    def _is_foreign_event(self) -> bool:
        """Whether pyqtgraph gets the mouse events, because one of its items holds the mouse."""
        return self._holder is not None and self._holder is self._foreign

    def _cancel(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.cancel()

    def _at(self, event: QMouseEvent) -> ChartPoint:
        return self.point_at(event.position(), event.modifiers())

    def _hover(self, at: ChartPoint) -> None:
        for tool in self._tools if not self.model.is_empty else ():
            tool.hover(at)

    def _point(self, at: ChartPoint) -> None:
        self._position = at.position
        self._key_cursor.hide()
        shapes = (tool.shape_at(at) for tool in self._tools)
        rest = Qt.CursorShape.CrossCursor if at.area is Area.PLOT else Qt.CursorShape.ArrowCursor
        self.setCursor(next((shape for shape in shapes if shape is not None), rest))
        self.cursor_moved()


class ViewAnchor:
    """Identifies one visible candle by its time: late candles must not move the visible ones."""

    def __init__(self, model: ChartModel, scale: TimeScale) -> None:
        self._model, self._scale = model, scale
        self._held: tuple[int, int] | None = None

    def forget(self) -> None:
        self._held = None

    def drop(self) -> None:
        """Remember the candle at the right edge, or the newest one if the edge is beyond it."""
        index = min(max(round(self._scale.right), 0), self._model.count - 1)
        time_ms = self._model.time_at(index)
        self._held = None if time_ms is None or index >= self._model.count else (index, time_ms)

    def shifted(self) -> int:
        """Number of candles inserted before the remembered one since `drop`."""
        if self._held is None:
            return 0
        index, time_ms = self._held
        found = self._model.series.index_at(time_ms)
        return 0 if found is None else found - index


class ForeignItemTool(Tool):
    """Takes a press if an item accepts drags or clicks on hover, as all movable pyqtgraph items do. Meanwhile the view
    passes the events to pyqtgraph."""

    def __init__(self, scene: Any, is_needed: Callable[[], bool]) -> None:
        """is_needed: whether there is such an item at all, because asking each on hover takes time."""
        self._scene, self._is_needed = scene, is_needed
        self._is_over, self._position = False, QPointF()

    def press(self, at: ChartPoint) -> bool:
        self.hover(at)
        return self._is_over

    def move(self, at: ChartPoint) -> None:
        self._position = at.position

    def release(self, at: ChartPoint) -> None:
        return

    def cancel(self) -> None:
        """Treat the button as released at the last mouse position."""
        self._scene.mouseReleaseEvent(_event(QEvent.Type.GraphicsSceneMouseRelease, self._position, _LEFT))

    def double_click(self, at: ChartPoint) -> bool:
        """Ignored, but the view does not reset."""
        return self._is_over

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return Qt.CursorShape.PointingHandCursor if self._is_over else None

    def hover(self, at: ChartPoint) -> None:
        self._is_over, self._position = False, at.position
        if self._is_needed():
            self._scene.sendHoverEvents(_event(QEvent.Type.GraphicsSceneMouseMove, at.position))
            asked = self._scene.lastHoverEvent
            self._is_over = _LEFT in asked.dragItems() or _LEFT in asked.clickItems()

    def leave(self) -> None:
        if self._is_over:
            self._is_over = False
            self._scene.leaveEvent(QEvent(QEvent.Type.Leave))


def _event(
    kind: QEvent.Type, position: QPointF, button: Qt.MouseButton = Qt.MouseButton.NoButton
) -> QGraphicsSceneMouseEvent:
    """An event for pyqtgraph's scene at a logical position of the view, which is the scene's."""
    event = QGraphicsSceneMouseEvent(kind)
    event.setScenePos(QPointF(position.toPoint()))
    event.setButton(button)
    return event
