"""The colours of texts and of their actual backgrounds."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTableView,
    QWidget,
)

from desktop.chart.labels.overlay import Overlay
from desktop.chart.painting.text import Box
from desktop.ui.theme import Palette
from tests.desktop.accessibility.controls import described
from tests.desktop.chart.paint_helpers import pixels
from tests.support.contrast import TEXT, contrast, over

_IN_RICH_TEXT = re.compile(r"color:\s*(#[0-9a-fA-F]{6})[^>]*>(.*?)</span>")
_GLYPH = re.compile(r"^(&#\d+;|[^\w%]{1,3})$")
"""A mark of a legend rather than a text: a shape, for which 3 to 1 is enough. Checked with the palette."""
_ROLES = QPalette.ColorRole
_MOST_ROWS = 40


def faint_texts(root: QWidget) -> Iterator[str]:
    """Texts of Qt's widgets with too little contrast."""
    picture = root.window().grab().toImage()
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or widget.visibleRegion().isEmpty() or not widget.isEnabled():
            continue
        for ink, ground in _inks(widget, picture):
            found = contrast(over(ink, ground), ground)
            if found < TEXT:
                yield f"{found:.2f} {ink.name()} on {ground.name()}: {described(widget)}"


def _inks(widget: QWidget, picture: QImage) -> Iterator[tuple[QColor, QColor]]:
    palette = widget.palette()
    if isinstance(widget, QLabel) and widget.text():
        ground = ground_of(widget, picture)
        inks = [QColor(name) for name, text in _IN_RICH_TEXT.findall(widget.text()) if not _GLYPH.match(text.strip())]
        yield from ((ink, ground) for ink in [palette.color(widget.foregroundRole()), *inks])
    elif (isinstance(widget, QAbstractButton) and widget.text()) or isinstance(widget, QComboBox):
        yield palette.color(_ROLES.ButtonText), palette.color(_ROLES.Button)
    elif isinstance(widget, QTabBar):
        yield palette.color(_ROLES.WindowText), ground_of(widget, picture)
    elif isinstance(widget, QLineEdit | QPlainTextEdit | QAbstractSpinBox):
        for role in (_ROLES.Text, _ROLES.PlaceholderText):
            yield palette.color(role), palette.color(_ROLES.Base)
        yield palette.color(_ROLES.HighlightedText), palette.color(_ROLES.Highlight)
    elif isinstance(widget, QAbstractItemView):
        yield from _cells(widget)


def _cells(view: QAbstractItemView) -> Iterator[tuple[QColor, QColor]]:
    palette, model = view.palette(), view.model()
    yield palette.color(_ROLES.HighlightedText), palette.color(_ROLES.Highlight)
    grounds = [palette.color(_ROLES.Base)]
    if view.alternatingRowColors():
        grounds.append(palette.color(_ROLES.AlternateBase))
    inks = {palette.color(_ROLES.Text).rgb()}
    for row in range(min(model.rowCount(), _MOST_ROWS) if model is not None else 0):
        for column in range(_columns(view)):
            drawn = model.index(row, column).data(Qt.ItemDataRole.ForegroundRole)
            if isinstance(drawn, QBrush | QColor):
                inks.add((drawn.color() if isinstance(drawn, QBrush) else drawn).rgb())
    yield from ((QColor.fromRgb(ink), ground) for ink in inks for ground in grounds)


def _columns(view: QAbstractItemView) -> int:
    return view.model().columnCount() if isinstance(view, QTableView) else 1


def ground_of(widget: QWidget, picture: QImage) -> QColor:
    """The background of its text: the most frequent colour of its area in the window's picture."""
    place, ratio = widget.mapTo(widget.window(), QPoint()), picture.devicePixelRatio()
    area = QRect(place * ratio, widget.size() * ratio).intersected(picture.rect())
    rows, columns = slice(area.top(), area.bottom() + 1, 3), slice(area.left(), area.right() + 1, 3)
    colours, counts = np.unique(pixels(picture)[rows, columns], return_counts=True)
    return QColor.fromRgb(int(colours[counts.argmax()]))


def faint_spans(shown: Overlay, palette: Palette) -> Iterator[str]:
    """Texts of the chart's boxes with too little contrast, whatever is behind a translucent one."""
    boxes = (shown.last_price, shown.price_label, shown.time_label, shown.readout, shown.tooltip, shown.note)
    for box in (*boxes, *shown.pane_readouts, *shown.axis_tags):
        if box is not None:
            yield from _faint(box, palette)


def _faint(box: Box, palette: Palette) -> Iterator[str]:
    behind = (palette.background, palette.up, palette.down, palette.ghost_up, palette.ghost_down)
    for span in (span for row in box.rows for span in row if not _GLYPH.match(span.text)):
        grounds = [over(box.ground, each) for each in behind]
        worst = min(contrast(over(span.colour, ground), ground) for ground in grounds)
        if worst < TEXT:
            yield f"{worst:.2f} {span.colour.name()} on {box.ground.name()}, chart: {span.text!r}"
