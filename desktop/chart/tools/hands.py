"""All that mouse and keys do on the chart, from Qt's events to moves of its scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from core.clock import Clock
from desktop.chart.axes.held_range import HeldRange
from desktop.chart.axes.time_scale import TimeScale
from desktop.chart.data.measurement import Mark
from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane_heights import PaneHeights
from desktop.chart.tools.axes import PaneEdgeTool, PriceAxisTool, TimeAxisTool
from desktop.chart.tools.axis_keys import AxisKeys
from desktop.chart.tools.key_cursor import KeyCursor
from desktop.chart.tools.navigation import Navigation
from desktop.chart.tools.pan import Kinetic, PanTool
from desktop.chart.tools.pointer import Pointer
from desktop.chart.tools.tool import ChartPoint, Tool


class Surface(Protocol):
    """What hands need of the widget under them."""

    def point_at(self, position: QPointF, modifiers: Qt.KeyboardModifier = ...) -> ChartPoint: ...

    def fresh_frame(self) -> Frame: ...

    def view_moved(self) -> None: ...

    def pointer_moved(self, shape: Qt.CursorShape) -> None: ...


class Hands:
    """Owns the pointer, its tools and the motion of the view. `key` says whether the event meant anything."""

    def __init__(
        self,
        surface: Surface,
        model: ChartModel,
        scales: tuple[TimeScale, HeldRange, PaneHeights],
        clock: Clock | None,
        on_panes_resized: Callable[[], object],
        parent: QObject,
    ) -> None:
        scale, held, heights = scales
        self._surface, self._model = surface, model
        self._navigation = Navigation(scale)
        self._kinetic = Kinetic(scale, surface.view_moved, clock, parent)
        self._pan = PanTool(scale, held, self._kinetic, clock)
        self.pointer = Pointer()
        edges = PaneEdgeTool(heights, on_panes_resized)
        for tool in (edges, PriceAxisTool(held), TimeAxisTool(scale), self._pan):
            self.pointer.add(tool, first=False)
        self._key_cursor = KeyCursor(model, scale, self.pointer)
        self._axis_keys = AxisKeys(held, heights, (self._key_cursor, self.pointer), on_panes_resized)

    @property
    def is_moving(self) -> bool:
        """Whether the view is in a hand, or runs on after a throw: then nothing else may move it."""
        return self.pointer.is_held or self._kinetic.is_running

    @property
    def key_mark(self) -> Mark | None:
        """The candle and the close that the keys' crosshair is at; None while the crosshair is the mouse's."""
        return self._key_cursor.mark()

    def cursor(self, frame: Frame) -> QPointF | None:
        """Where the crosshair belongs in this frame, in logical pixels: at the mouse, or at the keys' candle."""
        at_keys = self._key_cursor.position(frame)
        return self.pointer.position if at_keys is None else at_keys

    def add_tool(self, tool: Tool) -> None:
        """Ask this tool first when the mouse is pressed."""
        self.pointer.add(tool)

    def let_go(self, *, keeps_crosshair: bool = False) -> None:
        """Of everything: another market, or the view goes elsewhere. keeps_crosshair: the same market at another
        interval, at which the keys' crosshair stays at its time."""
        self.pointer.cancel()
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
        at = self._at(event)
        if self.pointer.press(at):
            self._point(at)
            self._surface.view_moved()

    def move(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if self.pointer.move(at):
            self._surface.view_moved()
        self._point(at)

    def release(self, event: QMouseEvent) -> None:
        at = self._at(event)
        if event.button() == Qt.MouseButton.LeftButton and self.pointer.release(at):
            self._point(at)
            self._surface.view_moved()

    def double_click(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.pointer.double_click(self._at(event)):
            self._kinetic.stop()
            self._surface.view_moved()

    def wheel(self, event: QWheelEvent) -> None:
        self._kinetic.stop()
        if self._navigation.wheel(event):
            self._pan.regrab(self._surface.point_at(event.position()))
            self._surface.view_moved()

    def key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape and self.pointer.is_held:
            self.pointer.cancel()
        elif event.key() == Qt.Key.Key_Escape and self._key_cursor.is_pointing:
            self._key_cursor.let_go()
        elif self._means_something(event):
            self._kinetic.stop()
        else:
            return False
        self._surface.view_moved()
        return True

    def _means_something(self, event: QKeyEvent) -> bool:
        """Whether a key moved the view, the crosshair, the price axis or a pane's edge."""
        if self._navigation.key(event):
            return True
        frame = self._surface.fresh_frame
        return self._key_cursor.key(event, frame) or (not self._model.is_empty and self._axis_keys.key(event, frame))

    def leave(self) -> None:
        """The mouse is elsewhere."""
        self.pointer.position = None
        self._key_cursor.let_go()

    def zoom(self, factor: float) -> None:
        """Without a cursor to zoom about."""
        self._kinetic.stop()
        self._navigation.zoom(factor)

    def _at(self, event: QMouseEvent) -> ChartPoint:
        return self._surface.point_at(event.position(), event.modifiers())

    def _point(self, at: ChartPoint) -> None:
        self.pointer.position = at.position
        self._key_cursor.let_go()
        self._surface.pointer_moved(self.pointer.shape_at(at))
