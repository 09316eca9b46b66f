"""A page that scrolls down and never across, and a function that scrolls a widget into view."""

from __future__ import annotations

from collections.abc import Iterator

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStyle, QWidget

from desktop.ui.plain_text import Label
from desktop.ui.plots import rows_of_labels

Rows = list[tuple[int, int]]
"""Top and bottom of each, in px; the bottom is exclusive."""
_LARGEST_SHARE_HIDDEN = 0.5


class DownScrolling(QScrollArea):
    """`inside`, as wide as there is room. Half a number, after scrolling across, would be read as another one: the area
    demands its page's least width instead, so its parent cannot be narrower. For the same reason a row of text that the
    lower edge would cut is not shown until it is scrolled to. A widget inside that paints its text itself has a method
    `rows_of_text`, which gives its `Rows`."""

    def __init__(self, inside: QWidget, name: str) -> None:
        """name: what a screen reader calls it."""
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inside)
        for ground in (inside, self.viewport()):
            # An opaque child that covers a panel makes it count as not being on the screen.
            ground.setAutoFillBackground(False)
        self._edge = QWidget(self.viewport(), autoFillBackground=True)
        """Covers the row that the lower edge would cut."""
        self._edge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._edge.hide()
        self._settling = QTimer(self, singleShot=True)  # layouts in layouts take a turn of the loop each
        self._settling.timeout.connect(self._cover_cut_row)
        self.verticalScrollBar().valueChanged.connect(self._cover_cut_row)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        inside = self.widget()
        if inside is None:
            return hint
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self)
        return QSize(max(inside.minimumSizeHint().width(), inside.minimumWidth()) + bar, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settling.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.updateGeometry()  # a number that got longer needs more room
            self._settling.start()
        return is_done

    def _cover_cut_row(self) -> None:
        view, inside = self.viewport(), self.widget()
        top, height = -inside.y(), view.height()
        bottom = cut = top + height
        # A plot's lower labels reach past it; at the end of the page nothing is cut.
        rows = [(first, min(stop, inside.height())) for first, stop in _rows_in(inside) if first < bottom]
        while cutting := [first for first, stop in rows if first < cut < stop]:
            cut = min(cutting)
        hidden = bottom - cut
        self._edge.setGeometry(0, height - hidden, view.width(), hidden)
        self._edge.setVisible(0 < hidden <= _LARGEST_SHARE_HIDDEN * height)
        self._edge.raise_()


def _rows_in(inside: QWidget) -> Iterator[tuple[int, int]]:
    """The rows of text in it that must not be cut."""
    for widget in inside.findChildren(QWidget):
        if not widget.isVisible() or isinstance(widget.parentWidget(), pg.PlotWidget):
            continue
        top = widget.mapTo(inside, QPoint(0, 0)).y()
        yield from ((top + first, top + stop) for first, stop in _rows_of(widget))


def _rows_of(widget: QWidget) -> Rows:
    if isinstance(widget, pg.PlotWidget):
        return rows_of_labels(widget)
    if isinstance(widget, Label):
        return _lines_of(widget)
    if rows := getattr(widget, "rows_of_text", None):
        found: Rows = rows()
        return found
    return [] if widget.findChild(QWidget) else [(0, widget.height())]


def _lines_of(label: Label) -> Rows:
    line, room = label.fontMetrics().lineSpacing(), label.contentsRect()
    count = max(room.height() // line, 1) if label.wordWrap() else 1
    if count == 1:
        return [(0, label.height())] if label.text() else []
    is_at_top = bool(label.alignment() & Qt.AlignmentFlag.AlignTop)
    first = room.top() + (0 if is_at_top else (room.height() - count * line) // 2)
    return [(first + number * line, first + (number + 1) * line) for number in range(count)]


def scroll_to(widget: QWidget) -> None:
    """Bring it into view if it lies in a scroll area."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
