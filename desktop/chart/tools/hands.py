"""All that mouse and keys do on the chart, from Qt's events to moves of its scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QWheelEvent

from core.clock import Clock
from core.market.drawings import Anchor
from desktop.chart.axes.held_range import HeldRange
from desktop.chart.axes.time_scale import TimeScale
from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane_heights import PaneHeights
from desktop.chart.tools.axes import PaneEdgeTool, PriceAxisTool, TimeAxisTool
from desktop.chart.tools.key_cursor import KeyCursor
from desktop.chart.tools.pan import Kinetic, PanTool
from desktop.chart.tools.tool import Area, ChartPoint, Tool


class Surface(Protocol):
    """What hands need of the widget under them."""

    def point_at(self, position: QPointF, modifiers: Qt.KeyboardModifier = ...) -> ChartPoint: ...

    def fresh_frame(self) -> Frame: ...

    def view_moved(self) -> None: ...

    def pointer_moved(self, shape: Qt.CursorShape) -> None: ...


class Hands:
    """Owns the tools, what the mouse has hold of, and the motion of the view."""

    def __init__(
        self,
        surface: Surface,
        model: ChartModel,
        scales: tuple[TimeScale, HeldRange, PaneHeights],
        clock: Clock,
        on_panes_resized: Callable[[], object],
        parent: QObject,
    ) -> None:
        scale, held, heights = scales
        self._surface, self._model = surface, model
        self._position: QPointF | None = None
        self._holder: Tool | None = None
        self._kinetic = Kinetic(scale, surface.view_moved, clock, parent)
        self._pan = PanTool(scale, held, self._kinetic, clock)
        self._key_cursor = KeyCursor(model, scale, surface.fresh_frame, lambda: self._position)
        self._tools: list[Tool] = [
            PaneEdgeTool(heights, surface.fresh_frame, self.cursor, on_panes_resized),
            PriceAxisTool(held, surface.fresh_frame),
            TimeAxisTool(scale),
            self._pan,
            self._key_cursor,
        ]

    @property
    def is_moving(self) -> bool:
        """Whether the view is in a hand, or runs on after a throw: then nothing else may move it."""
        return self._holder is not None or self._kinetic.is_running

    @property
    def key_mark(self) -> Anchor | None:
        """The candle and the close that the keys' crosshair is at; None while the crosshair is the mouse's."""
        return self._key_cursor.mark()

    def cursor(self, frame: Frame) -> QPointF | None:
        """Where the crosshair belongs in this frame, in logical pixels: at the mouse, or at the keys' candle."""
        at_keys = self._key_cursor.position(frame)
        return self._position if at_keys is None else at_keys

    def add_tool(self, tool: Tool) -> None:
        """Ask this tool before those that are there."""
        self._tools.insert(0, tool)

    def let_go(self, *, keeps_crosshair: bool = False) -> None:
        """Of everything: another market, or the view goes elsewhere. keeps_crosshair: the same market at another
        interval, at which the keys' crosshair stays at its time."""
        self._cancel()
        if not keeps_crosshair:
            self._key_cursor.let_go()
        self._kinetic.stop()

    def stop(self) -> None:
        """End the run after a throw."""
        self._kinetic.stop()

    def candles_shifted(self, count: int) -> None:
        """Candles were inserted before the view: what is held got other indices."""
        self._pan.candles_shifted(count)

    def press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._model.is_empty:
            return
        self._kinetic.stop()
        self._cancel()
        at = self._at(event)
        self._holder = next((tool for tool in self._tools if tool.press(at)), None)
        if self._holder is not None:
            self._point(at)
            self._surface.view_moved()

    def move(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if self._holder is not None:
            self._holder.move(at)
            self._surface.view_moved()
        elif event.buttons() == Qt.MouseButton.NoButton:
            self._hover(at)
        self._point(at)

    def release(self, event: QMouseEvent) -> None:
        holder = self._holder
        if event.button() == Qt.MouseButton.LeftButton and holder is not None:
            at, self._holder = self._at(event), None
            holder.release(at)
            self._point(at)
            self._surface.view_moved()

    def double_click(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if event.button() == Qt.MouseButton.LeftButton and any(tool.double_click(at) for tool in self._tools):
            self._kinetic.stop()
            self._surface.view_moved()

    def wheel(self, event: QWheelEvent) -> None:
        self._kinetic.stop()
        if self._pan.wheel(event):
            self._surface.view_moved()

    def key(self, event: QKeyEvent) -> bool:
        """Whether the key meant anything."""
        before = self.key_mark
        if event.key() == Qt.Key.Key_Escape and self._holder is not None:
            self._cancel()
        elif self._holder is not None or self._model.is_empty or not any(tool.key(event) for tool in self._tools):
            return False
        after = self.key_mark
        if after is not None and after != before:
            for tool in self._tools:
                tool.crosshair_moved(after)
        self._kinetic.stop()
        self._surface.view_moved()
        return True

    def enter(self, event: QEnterEvent) -> None:
        """The mouse has come in."""
        self._hover(self._surface.point_at(event.position()))

    def leave(self) -> None:
        """The mouse is elsewhere."""
        self._position = None
        self._key_cursor.let_go()
        for tool in self._tools:
            tool.leave()

    def _cancel(self) -> None:
        """Whoever has the mouse lets go."""
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.cancel()

    def _at(self, event: QMouseEvent) -> ChartPoint:
        return self._surface.point_at(event.position(), event.modifiers())

    def _hover(self, at: ChartPoint) -> None:
        for tool in self._tools if not self._model.is_empty else ():
            tool.hover(at)

    def _point(self, at: ChartPoint) -> None:
        self._position = at.position
        self._key_cursor.let_go()
        shapes = (tool.shape_at(at) for tool in self._tools)
        rest = Qt.CursorShape.CrossCursor if at.area is Area.PLOT else Qt.CursorShape.ArrowCursor
        self._surface.pointer_moved(next((shape for shape in shapes if shape is not None), rest))


class ViewAnchor:
    """One candle in view, known by its time: candles that come late must not push what is in view aside."""

    def __init__(self, model: ChartModel, scale: TimeScale) -> None:
        self._model, self._scale = model, scale
        self._held: tuple[int, int] | None = None

    def forget(self) -> None:
        """Another market."""
        self._held = None

    def drop(self) -> None:
        """Remember the candle at the right edge, or the newest one where that lies further right."""
        index = min(max(round(self._scale.right), 0), self._model.count - 1)
        time_ms = self._model.time_at(index)
        self._held = None if time_ms is None or index >= self._model.count else (index, time_ms)

    def shifted(self) -> int:
        """How many candles were inserted before it since."""
        if self._held is None:
            return 0
        index, time_ms = self._held
        found = self._model.series.index_at(time_ms)
        return 0 if found is None else found - index
