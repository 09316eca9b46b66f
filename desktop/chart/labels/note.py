"""The sentence beside the forecast: why it is old, or does not come."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QFontMetrics

from desktop.chart.painting.text import Box, Span, box_size
from desktop.chart.panes.frame import Frame
from desktop.plain_text import words_with_whole_figures

_MARGIN_PX = 6


def note_box(frame: Frame, text: str, taken: Iterable[QRect]) -> Box | None:
    """In the top right corner of the prices, below what is `taken` where both have no room. None for an empty text."""
    if not text:
        return None
    margin = frame.scaled(_MARGIN_PX)
    lines = _broken(text, frame.fonts.metrics, frame.layout.plot_right - 6 * margin)
    rows = tuple((Span(line, frame.palette.text),) for line in lines)
    size = box_size(rows, frame.fonts)
    rect = QRect(QPoint(max(frame.layout.plot_right - margin - size.width(), 0), margin), size)
    for other in sorted(taken, key=QRect.top):
        if rect.intersects(other):
            rect.moveTop(other.bottom() + margin)
    return Box(rect, rows, frame.palette.raised, frame.palette.border)


def _broken(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    """Lines of whole words that fit."""
    lines: list[str] = []
    for word in words_with_whole_figures(text):
        if lines and metrics.horizontalAdvance(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
