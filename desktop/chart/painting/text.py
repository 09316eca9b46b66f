"""The widget's font in device pixels, and blocks of coloured text: measured, wrapped and painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QPainter, QPen, QStaticText

from desktop.chart.painting.sketch import Sketch, paint_sketch
from desktop.ui.plain_text import words_with_whole_figures

_MOST_CACHED = 2_000
_MOST_LAID_OUT = 500


@dataclass(frozen=True)
class Fonts:
    """The widget's font in device pixels, so that text is drawn without scaling."""

    regular: QFont
    bold: QFont
    metrics: QFontMetrics
    bold_metrics: QFontMetrics
    _cached: dict[tuple[object, ...], int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _laid_out: dict[tuple[str, bool], QStaticText] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, font: QFont, ratio: float) -> Fonts:
        """The fonts for a screen of `ratio` device pixels per logical one."""
        regular, bold = QFont(font), QFont(font)
        size = max(1, round(QFontInfo(font).pixelSize() * ratio))
        regular.setPixelSize(size)
        bold.setPixelSize(size)
        bold.setWeight(QFont.Weight.DemiBold)
        return cls(regular, bold, QFontMetrics(regular), QFontMetrics(bold))

    @cached_property
    def line(self) -> int:
        return self.metrics.height()

    @cached_property
    def gap(self) -> int:
        """The space between two spans of text."""
        return round(self.metrics.averageCharWidth() * 1.2)

    def width(self, text: str, *, bold: bool = False) -> int:
        """The width of a text, cached: measuring is expensive, and most texts were in the previous frame."""
        found = self._cached.get((text, bold))
        if found is not None:
            return found
        metrics = self.bold_metrics if bold else self.metrics
        return self.cached((text, bold), lambda: metrics.horizontalAdvance(text))

    def draw(self, painter: QPainter, x: int, baseline: int, text: str, *, bold: bool = False) -> None:
        """Draw a line of text. Its layout is cached: that takes half of the time."""
        found = self._laid_out.get((text, bold))
        if found is None:
            if len(self._laid_out) >= _MOST_LAID_OUT:
                self._laid_out.clear()
            found = self._laid_out[text, bold] = QStaticText(text)
            found.setTextFormat(Qt.TextFormat.PlainText)
        painter.setFont(self.bold if bold else self.regular)
        painter.drawStaticText(x, baseline - (self.bold_metrics if bold else self.metrics).ascent(), found)

    def cached(self, key: tuple[object, ...], measure: Callable[[], int]) -> int:
        """A measurement with these fonts, cached by key: most are needed with every tick."""
        found = self._cached.get(key)
        if found is None:
            if len(self._cached) >= _MOST_CACHED:
                self._cached.clear()
            found = self._cached[key] = measure()
        return found


@dataclass(frozen=True)
class Span:
    """A run of text in one colour. `glue` keeps it on the line of the previous span, without a gap."""

    text: str
    colour: QColor
    bold: bool = False
    glue: bool = False

    def width(self, fonts: Fonts) -> int:
        return fonts.width(self.text, bold=self.bold)


Row = tuple[Span, ...]


@dataclass(frozen=True)
class Box:
    """Text on a background. `rect` includes the padding. In a table the last span of each row with several is
    right-aligned. `price` is the value of a box on the price axis. `sketch` is below the text."""

    rect: QRect
    rows: tuple[Row, ...]
    ground: QColor
    border: QColor | None = None
    is_table: bool = False
    price: float | None = None
    sketch: Sketch | None = None


def padding_px(fonts: Fonts) -> int:
    """The space between a box's text and its edge."""
    return max(2, fonts.line // 3)


def row_width(row: Sequence[Span], fonts: Fonts) -> int:
    width, gap = -fonts.gap, fonts.gap
    for place, span in enumerate(row):
        width += fonts.width(span.text, bold=span.bold) + (gap if not (place and span.glue) else 0)
    return width if row else 0


def wrapped(row: Sequence[Span], fonts: Fonts, width: int) -> list[Row]:
    """Break a row so that each part fits `width`: before a glued span only if necessary, and between the words of a
    span that is too long by itself."""
    if row_width(row, fonts) <= width:  # the usual case, on every tick
        return [tuple(row)] if row else []
    lines: list[Row] = []
    filled = 0
    for whole in _pieces(row):
        for loose in _loosened(whole, fonts, width):
            for piece in _broken(loose, fonts, width, width - filled - fonts.gap if lines else width):
                needed = row_width(piece, fonts)
                joined = filled + needed + (0 if piece[0].glue else fonts.gap)
                if lines and joined <= width:
                    lines[-1] += piece
                    filled = joined
                else:
                    lines.append(piece)
                    filled = needed
    return lines


def fitting_row(ways: Sequence[Row], fonts: Fonts, width: int, lines: int) -> Row:
    """The first variant that fits into this many lines, otherwise the last."""
    return next((way for way in ways if len(wrapped(way, fonts, width)) <= lines), ways[-1])


def _loosened(piece: Row, fonts: Fonts, width: int) -> list[Row]:
    """The piece, or each of its spans separately if it is too wide."""
    if row_width(piece, fonts) <= width:
        return [piece]
    return [(replace(span, text=span.text.strip(), glue=False),) for span in piece]


def _broken(piece: Row, fonts: Fonts, width: int, left: int) -> list[Row]:
    """The piece, or, of a span that is too wide, parts of whole words; the first part may use the remaining `left`
    pixels."""
    if len(piece) > 1 or row_width(piece, fonts) <= width:
        return [piece]
    parts: list[Span] = []
    for word in words_with_whole_figures(piece[0].text):
        longer = replace(parts[-1], text=f"{parts[-1].text} {word}") if parts else None
        if longer is not None and longer.width(fonts) <= (left if len(parts) == 1 else width):
            parts[-1] = longer
        else:
            parts.append(replace(piece[0], text=word))
    return [(part,) for part in parts]


def _pieces(row: Sequence[Span]) -> list[Row]:
    """Spans with those glued to them."""
    pieces: list[Row] = []
    for span in row:
        if span.glue and pieces:
            pieces[-1] += (span,)
        else:
            pieces.append((span,))
    return pieces


def box_size(rows: Sequence[Row], fonts: Fonts, *, is_table: bool = False, sketch: Sketch | None = None) -> QSize:
    padding = padding_px(fonts)
    widest = max((row_width(row, fonts) for row in rows), default=0)
    height = len(rows) * fonts.line
    if sketch is not None:
        widest = max(widest, round(sketch.width * fonts.line))
        height += _sketch_height(sketch, fonts) + padding
    if is_table:
        return QSize(widest + 4 * padding, height + 3 * padding)
    return QSize(widest + 2 * padding, height + padding)


def paint_box(painter: QPainter, box: Box, fonts: Fonts) -> None:
    painter.fillRect(box.rect, box.ground)
    if box.border is not None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(box.border, 1))
        painter.drawRect(box.rect.adjusted(0, 0, -1, -1))
    padding = padding_px(fonts) * (2 if box.is_table else 1)
    height = len(box.rows) * fonts.line
    under = 0 if box.sketch is None else _sketch_height(box.sketch, fonts) + padding_px(fonts)
    corner = box.rect.topLeft() + QPoint(padding, (box.rect.height() - height - under) // 2)
    right = box.rect.right() + 1 - padding if box.is_table else None
    paint_rows(painter, box.rows, fonts, corner, right)
    if box.sketch is not None:
        top = corner.y() + height + padding_px(fonts)
        area = QRect(corner.x(), top, box.rect.width() - 2 * padding, _sketch_height(box.sketch, fonts))
        paint_sketch(painter, box.sketch, area, fonts.line)


def _sketch_height(sketch: Sketch, fonts: Fonts) -> int:
    return round(sketch.height * fonts.line)


def paint_rows(painter: QPainter, rows: Sequence[Row], fonts: Fonts, corner: QPoint, right: int | None = None) -> None:
    """Paint rows with their top left at `corner`; with `right`, rows of several spans end there."""
    baseline = corner.y() + fonts.metrics.ascent()
    for row in rows:
        x = corner.x()
        for position, span in enumerate(row):
            if position and not span.glue:
                x += fonts.gap
            if right is not None and 0 < position == len(row) - 1:
                x = right - span.width(fonts)
            painter.setPen(span.colour)
            fonts.draw(painter, x, baseline, span.text, bold=span.bold)
            x += span.width(fonts)
        baseline += fonts.line
