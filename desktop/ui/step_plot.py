"""A plot over steps that shows the numbers under the mouse, and that the user can zoom and move along the steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.formatting import format_count
from desktop.ui.icons import tabular
from desktop.ui.plain_text import Label
from desktop.ui.plots import plot_widget
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_AXIS_ROOM = 60
_FEWEST_IN_VIEW = 5.0
_PADDING = 0.01
_USUAL_SIZE = QSize(256, 144)
_SAME = 1e-6


class _Readout(Label):
    """The numbers of one step, on a background over the curve."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self.setMargin(5)
        self.setFont(tabular(self.font()))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def fit(self, most: int) -> None:
        """Take the size that the text needs, at most `most` wide."""
        self.setWordWrap(False)
        size = self.sizeHint()
        if size.width() > most:
            self.setWordWrap(True)
            size = QSize(most, self.heightForWidth(most))
        self.resize(size)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.raised)
        painter.setPen(self._theme.palette.border)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()
        super().paintEvent(event)


class StepPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Made by `step_plot`. The wheel zooms along x around the mouse, dragging moves the view, and a double click shows
    all again. Until it was zoomed, the view follows the extent."""

    pointed_at = Signal()
    """The mouse has moved, or left."""
    view_changed = Signal()
    """The user has zoomed, moved or reset the view."""

    def __init__(self, theme: Theme, needs_control: bool, **options: object) -> None:
        super().__init__(**options)
        self.is_zoomed = False
        self.pointer: float | None = None
        """The mouse's x."""
        self.readout = _Readout(theme, self)
        self._needs_control = needs_control
        self._extent = (0.0, _FEWEST_IN_VIEW)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self.getViewBox().sigRangeChangedManually.connect(self._on_manual)
        theme.follow(self, self._apply_palette)

    @property
    def view(self) -> tuple[float, float]:
        """The first and last x in view."""
        low, high = self.getViewBox().viewRange()[0]
        return float(low), float(high)

    def sizeHint(self) -> QSize:
        """A usual size: QGraphicsView asks for the size that it has had, so a page that scrolls never got lower."""
        return _USUAL_SIZE

    def set_extent(self, first: float, last: float) -> None:
        """Set the x of all that can be seen."""
        self._extent = first, max(last, first + _FEWEST_IN_VIEW)
        beyond = _PADDING * (self._extent[1] - first)
        bounds = first - beyond, self._extent[1] + beyond
        self.setLimits(xMin=bounds[0], xMax=bounds[1], minXRange=_FEWEST_IN_VIEW)
        if not self.is_zoomed:
            self.setXRange(*bounds, padding=0.0)

    def reset_view(self) -> None:
        self.is_zoomed = False
        self.set_extent(*self._extent)
        self.view_changed.emit()

    def show_readout(self, step: float, lines: Sequence[str]) -> None:
        """Show these lines beside the step, on the side with more room, inside the plot."""
        self._cursor.setPos(step)
        self._cursor.show()
        title = translate("Panels", "Step {0}").format(format_count(int(step)))
        self.readout.setText("\n".join((title, *lines)))
        self.readout.fit(self.width() - _AXIS_ROOM)
        view = self.getViewBox()
        place: QPoint = self.mapFromScene(view.mapViewToScene(pg.Point(step, 0.0)))
        room: QRect = self.mapFromScene(view.sceneBoundingRect()).boundingRect()
        is_right = place.x() < room.center().x()
        left = place.x() + 10 if is_right else place.x() - 10 - self.readout.width()
        left = min(max(left, 0), max(self.width() - self.readout.width(), 0))
        self.readout.move(left, room.top() + 4)
        self.readout.show()

    def hide_readout(self) -> None:
        self._cursor.hide()
        self.readout.hide()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.pointer = float(self.getViewBox().mapSceneToView(event.position()).x())
        self.pointed_at.emit()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointer = None
        self.pointed_at.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        event.accept()  # pyqtgraph leaves it to what lies around the plot, but drags

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_view()
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._needs_control and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        super().wheelEvent(event)
        event.accept()

    def _apply_palette(self, palette: Palette) -> None:
        self._cursor.setPen(pg.mkPen(palette.crosshair, width=1))

    def _on_manual(self, _mask: object) -> None:
        (low, high), (first, last) = self.view, self._extent
        spare = _SAME * (last - first)
        self.is_zoomed = low > first + spare or high < last - spare
        self.view_changed.emit()


def step_plot(name: str, left: type[pg.AxisItem], theme: Theme, *, needs_control: bool = False) -> StepPlot:
    """needs_control: only Ctrl and the wheel zoom, as the wheel alone scrolls what is around the plot."""
    plot: StepPlot = plot_widget(name, left, partial(StepPlot, theme, needs_control))
    plot.setMouseEnabled(x=True, y=False)
    return plot
