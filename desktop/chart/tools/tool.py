"""The base of mouse and keyboard tools, and places on the chart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, TypeVar

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent

from core.domain.drawings import Anchor
from desktop.chart.panes.frame import Frame, Pane

DRAG_THRESHOLD_PX = 3.0
"""A mouse movement shorter than this during a press is a click."""
NO_MODIFIER = Qt.KeyboardModifier.NoModifier


class Area(Enum):
    PLOT = auto()
    PRICE_AXIS = auto()
    TIME_AXIS = auto()
    CORNER = auto()


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A place on the chart. `position` is in the widget's logical pixels, `pixel` in the picture's device pixels."""

    position: QPointF
    pixel: QPoint
    area: Area
    pane: Pane
    index: float
    """The candle's index, with the fraction to the next one."""
    modifiers: Qt.KeyboardModifier
    frame: Frame

    @classmethod
    def of(cls, position: QPointF, pixel: QPoint, modifiers: Qt.KeyboardModifier, frame: Frame) -> ChartPoint:
        is_right, is_below = pixel.x() >= frame.layout.plot_right, pixel.y() >= frame.layout.plot_bottom
        area = Area.TIME_AXIS if is_below else Area.PLOT
        if is_right:
            area = Area.CORNER if is_below else Area.PRICE_AXIS
        pane, index = frame.pane_at(pixel.y()), frame.exact_index(pixel.x())
        return cls(position, pixel, area, pane, index, modifiers, frame)

    @property
    def is_on_prices(self) -> bool:
        return self.area is Area.PLOT and self.pane is self.frame.price_pane


def modifiers_of(event: QKeyEvent) -> Qt.KeyboardModifier:
    """Treats number-pad keys as their main-keyboard equivalents."""
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


class Tool:
    """Called in order, by mouse and keyboard; the first that takes a press has the mouse until the button is released.
    Subclasses override what they use."""

    def press(self, at: ChartPoint) -> bool:
        """Whether it captures the mouse."""
        return False

    def move(self, at: ChartPoint) -> None:
        """The mouse moved while captured."""

    def release(self, at: ChartPoint) -> None:
        """The button was released."""
        self.cancel()

    def cancel(self) -> None:
        """Cancel immediately: the market changed, or Escape was pressed."""

    def double_click(self, at: ChartPoint) -> bool:
        """Whether it uses a double click."""
        return False

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        """The cursor shape if it would take a press; None otherwise."""
        return None

    def hover(self, at: ChartPoint) -> None:
        """The mouse moved with no button down, or entered."""

    def leave(self) -> None:
        """The mouse left."""

    def key(self, event: QKeyEvent) -> bool:
        """Whether it uses a key. Not called without candles, or during a drag."""
        return False

    def crosshair_moved(self, to: Anchor) -> None:
        """The keyboard crosshair moved to this candle and its close."""


Part = TypeVar("Part")


class GripTool(Tool, Generic[Part]):
    """A tool that grabs one part of the chart."""

    shape: Qt.CursorShape
    held: Part | None = None

    def part_at(self, at: ChartPoint) -> Part | None:
        """The part that a press would grab, or None."""
        raise NotImplementedError

    def reset(self, part: Part) -> None:
        """The part was double-clicked."""

    def press(self, at: ChartPoint) -> bool:
        self.held = self.part_at(at)
        return self.held is not None

    def cancel(self) -> None:
        self.held = None

    def double_click(self, at: ChartPoint) -> bool:
        part = self.part_at(at)
        if part is not None:
            self.reset(part)
        return part is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        return self.shape if self.part_at(at) is not None else None
