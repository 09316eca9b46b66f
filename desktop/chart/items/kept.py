"""What only a new view or a closed candle changes: grid, gaps, closed candles, and what layers lay over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from desktop.chart.items.candles import paint_closed
from desktop.chart.items.grid import paint_borders, paint_gaps, paint_grid
from desktop.chart.items.item import ChartItem, Shown
from desktop.chart.labels.overlay import Overlay
from desktop.chart.painting.primitives import draw_parts
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer, Underlay

UNDERLAY_Z, GRID_Z, BORDERS_Z, GAPS_Z, CANDLES_Z, LAYERS_Z = -60.0, -50.0, -48.0, -45.0, -40.0, -30.0
_GROUND_Z = -1e6


class KeptItem(ChartItem):
    """Drawn into a picture that is kept, and by itself only where none is, as in an exported file."""

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if not self.shown.is_kept:
            super().paint(painter, option, widget)

    def area(self, frame: Frame) -> QRect:
        """Where it draws, in device pixels."""
        return QRect(0, 0, frame.layout.width, frame.layout.height)


class Ground(ChartItem):
    """The picture that is kept of all kept items, on the background. Everything else lies over it."""

    def __init__(self, shown: Shown, kept: Callable[[], Sequence[KeptItem]]) -> None:
        super().__init__(shown, _GROUND_Z)
        self._kept = kept
        self._pixmap = QPixmap()
        self._key: object = None
        self.paints = 0
        """How often the closed candles have been painted: tests hold the chart to as few as needed."""

    def forget(self) -> None:
        """Paint anew next time."""
        self._key = None

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        if not self.shown.is_kept:
            painter.fillRect(QRect(0, 0, frame.layout.width, frame.layout.height), frame.palette.background)
            return
        key = self.shown.kept_key
        if key != self._key:
            self._repaint(frame, overlay)
            self._key = key
        draw_parts(painter, self._pixmap, QPoint(0, 0), self.shown.wanted)

    def _repaint(self, frame: Frame, overlay: Overlay) -> None:
        self.paints += 1
        if self._pixmap.width() != frame.layout.width or self._pixmap.height() != frame.layout.height:
            self._pixmap = QPixmap(frame.layout.width, frame.layout.height)
        self._pixmap.fill(frame.palette.background)
        painter = QPainter(self._pixmap)
        for item in self._kept():
            painter.save()
            painter.setClipRect(item.area(frame))
            item.draw(painter, frame, overlay)
            painter.restore()
        painter.end()


class PaneItem(KeptItem):
    """A kept item in a pane."""

    def __init__(self, shown: Shown, z: float, box: PaneBox) -> None:
        super().__init__(shown, z, box)
        self.pane_name = box.pane_name

    def area(self, frame: Frame) -> QRect:
        return frame.pane(self.pane_name).rect


class UnderlayItem(PaneItem):
    """What a layer paints behind the candles and the grid."""

    def __init__(self, shown: Shown, layer: Underlay, box: PaneBox) -> None:
        super().__init__(shown, UNDERLAY_Z, box)
        self._layer = layer

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        self._layer.paint_behind(painter, frame, frame.pane(self.pane_name), self.shown.model)


class GridItem(PaneItem):
    """Lines at round prices and times."""

    def __init__(self, shown: Shown, box: PaneBox, has_ground: Callable[[], bool]) -> None:
        """has_ground: whether something may lie behind it, so that it has to stand out more."""
        super().__init__(shown, GRID_Z, box)
        self._has_ground = has_ground

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        pane = frame.pane(self.pane_name)
        paint_grid(painter, frame, pane, self.shown.model, has_ground=self._has_ground())


class GapsItem(PaneItem):
    """Marks between the candles around a hole."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, GAPS_Z, box)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        paint_gaps(painter, frame, self.shown.model)


class ClosedCandlesItem(PaneItem):
    """The closed candles in view, with their volumes."""

    def __init__(self, shown: Shown, box: PaneBox) -> None:
        super().__init__(shown, CANDLES_Z, box)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        paint_closed(painter, frame, self.shown.model)


class LayerItem(PaneItem):
    """What a layer paints over the closed candles, or into a pane of its own."""

    def __init__(self, shown: Shown, layer: Layer, box: PaneBox) -> None:
        super().__init__(shown, LAYERS_Z, box)
        self._layer = layer

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        self._layer.paint(painter, frame, frame.pane(self.pane_name), self.shown.model)


class BordersItem(KeptItem):
    """The lines between panes and axes."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown, BORDERS_Z)

    def draw(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        paint_borders(painter, frame)
