"""The newest picture of a chart: its geometry, its labels, and the layers that keep what they have painted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from PySide6.QtCore import QPoint, QPointF, QRect, QSize
from PySide6.QtGui import QPainter, QRegion

from desktop.chart.data.model import ChartModel
from desktop.chart.frame_clock import Dirty
from desktop.chart.framing.builder import FrameBuilder
from desktop.chart.framing.frame import Frame
from desktop.chart.framing.pane_heights import PaneHeights
from desktop.chart.labels.overlay import Overlay, Patch, changed_region
from desktop.chart.layers.layer import LayerSet
from desktop.chart.layers.live import forming_area
from desktop.chart.layers.stack import LayerStack
from desktop.chart.scales.held_range import HeldRange
from desktop.chart.scales.time_scale import TimeScale
from desktop.chart.style import Style


class Picture:
    """Built when it is asked for, kept until something dirties it."""

    def __init__(
        self, model: ChartModel, scale: TimeScale, held: HeldRange, layers: LayerSet, heights: PaneHeights
    ) -> None:
        self._model, self._layers = model, layers
        self._builder = FrameBuilder(scale, held, layers, heights)
        self._stack = LayerStack(layers)
        self._frame: Frame | None = None
        self._overlay: Overlay | None = None
        self._patches: tuple[Patch, ...] = ()
        self._live = QRect()
        self._ahead: tuple[int | None, bool] = (None, False)

    @property
    def closed_paints(self) -> int:
        """How often the closed candles have been painted."""
        return self._stack.base.paints

    def frame(self, size: QSize, ratio: float, style: Style) -> Frame:
        """The geometry, in device pixels."""
        if self._frame is None or self._frame.ratio != ratio:
            self._frame = self._builder.build(size, ratio, self._model, style)
            self._overlay = None
        return self._frame

    def overlay(self, frame: Frame, cursor: QPointF | None, countdown: str | None) -> Overlay:
        """The labels of this frame."""
        if self._overlay is None:
            cursor_px = None if cursor is None else to_px(cursor, frame)
            self._overlay = Overlay.of(frame, self._model, self._layers, cursor_px, countdown)
            self._patches = self._overlay.patches(frame)
            self._live = forming_area(frame, self._model, has_lines=len(self._layers) > 0)
        return self._overlay

    def forget(self) -> None:
        """Another series, style or font: measure and paint everything anew."""
        self._builder.forget()
        self._stack.forget()
        self.dirty()

    def dirty(self) -> None:
        """Build frame and labels anew; layers keep what still holds."""
        self._frame = self._overlay = None

    def renewed(self, dirty: Dirty, build: Callable[[], Frame], overlay: Callable[[], Overlay]) -> QRegion | None:
        """Bring everything up to date. Returns the logical pixels that changed; None: all of them."""
        former, patches, live = self._frame, self._patches, self._live
        ahead, self._ahead = self._ahead, (self._model.time_at(self._model.count), self._model.forming is not None)
        self._overlay = None
        if dirty & ~Dirty.CURSOR:
            self._frame = None
        frame = build()
        overlay()
        is_new_view = former is None or bool(dirty & (Dirty.VIEW | Dirty.DATA))
        # A candle that forms after a hole takes grid, times and ghosts ahead of the closed ones along; each that begins
        # to form, or is taken away, widens or narrows the frame of its ghost.
        has_moved = ahead != self._ahead
        if former is None or is_new_view or has_moved or former.base_key(0) != frame.base_key(0):
            return None
        ticked = (live, self._live) if dirty & Dirty.TICK else ()
        return changed_region(patches, self._patches, ticked, frame.ratio)

    def paint(self, painter: QPainter, frame: Frame, overlay: Overlay, areas: Iterable[QRect]) -> None:
        """Paint the logical `areas`. The painter's units are logical pixels; those of the picture are not."""
        ratio = frame.ratio
        painter.scale(1 / ratio, 1 / ratio)
        offset = painter.deviceTransform()
        painter.translate(round(offset.dx()) - offset.dx(), round(offset.dy()) - offset.dy())
        self._stack.paint(painter, frame, overlay, self._model, areas)

    def paint_alone(self, painter: QPainter, frame: Frame, area: QRect, countdown: str | None) -> None:
        """Paint everything as if the mouse were elsewhere and nothing selected; nothing of it is kept."""
        with self._layers.at_rest():
            overlay = Overlay.of(frame, self._model, self._layers, None, countdown)
            self.paint(painter, frame, overlay, (area,))


def to_px(position: QPointF, frame: Frame) -> QPoint:
    """The device pixel under a logical position."""
    return QPoint(math.floor(position.x() * frame.ratio), math.floor(position.y() * frame.ratio))
