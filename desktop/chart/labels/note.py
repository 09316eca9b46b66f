"""The sentence beside the forecast: why it is old, or does not come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor, QFontMetrics

from desktop.chart.painting.fonts import Fonts
from desktop.chart.painting.text import Box, Row, Span, box_size, padding_px
from desktop.chart.panes.frame import Frame
from desktop.plain_text import words_with_whole_figures

_MARGIN_PX = 6


def note_box(frame: Frame, text: str, readout: QRect, label: QRect | None) -> Box | None:
    """Over the candles' highest prices, in the row of the forecast's label or above it; where neither has room, below
    what is there already. None for an empty text."""
    if not text:
        return None
    rows = _rows(text, frame.fonts, frame.ratio, frame.layout.plot_right, frame.palette.text)
    size, taken = box_size(rows, frame.fonts), [readout, *([] if label is None else [label])]
    places = (QRect(corner, size) for corner in _corners(frame, size, label))
    free = (place for place in places if place.left() >= 0 and not any(map(place.intersects, taken)))
    rect = next(free, None) or _below(frame, size, taken)
    return Box(rect, rows, frame.palette.raised, frame.palette.border)


def note_room(text: str, label_width: int, fonts: Fonts, ratio: float, plot_right: int) -> int:
    """The height that it needs above the candles besides the row of the forecast's label, which is so wide: hardly any
    where both fit into that. All in device pixels."""
    if not text:
        return 0
    rows, margin = _rows(text, fonts, ratio, plot_right, QColor()), round(_MARGIN_PX * ratio)
    size = box_size(rows, fonts)
    is_in_row = len(rows) == 1 and size.width() + label_width + 3 * margin <= plot_right
    return padding_px(fonts) if is_in_row else size.height() + margin


def _corners(frame: Frame, size: QSize, label: QRect | None) -> Iterator[QPoint]:
    """Of the places where it hides no candle: to the right of the label, to its left, above it."""
    margin, top = frame.scaled(_MARGIN_PX), frame.layout.price_top - size.height()
    right = frame.layout.plot_right - margin - size.width()
    yield QPoint(right, top)
    if label is not None:
        yield QPoint(label.left() - margin - size.width(), top)
        yield QPoint(max(right, 0), label.top() - frame.pixel - size.height())


def _below(frame: Frame, size: QSize, taken: Sequence[QRect]) -> QRect:
    margin = frame.scaled(_MARGIN_PX)
    rect = QRect(QPoint(max(frame.layout.plot_right - margin - size.width(), 0), margin), size)
    for other in sorted(taken, key=QRect.top):
        if rect.intersects(other):
            rect.moveTop(other.bottom() + margin)
    return rect


def _rows(text: str, fonts: Fonts, ratio: float, plot_right: int, colour: QColor) -> tuple[Row, ...]:
    lines = _broken(text, fonts.metrics, plot_right - 6 * round(_MARGIN_PX * ratio))
    return tuple((Span(line, colour),) for line in lines)


def _broken(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    """Lines of whole words that fit."""
    lines: list[str] = []
    for word in words_with_whole_figures(text):
        if lines and metrics.horizontalAdvance(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
