"""The sentence that stands where there is no candle yet."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from desktop.theme import Palette

_MARGIN_PX = 24


def paint_empty(painter: QPainter, area: QRect, palette: Palette, text: str) -> None:
    """In the middle of an area of logical pixels."""
    painter.fillRect(area, palette.background)
    painter.setPen(palette.muted_text)
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(area.adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX), flags, text)
