from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.chart.painting.primitives import fill_rects, outline
from tests.desktop.chart.test_painting import pixels

SIDE = 24
sizes = st.integers(1, SIDE)


@given(st.integers(-4, SIDE), st.integers(-4, SIDE), sizes, sizes, st.integers(1, 4), st.integers(0, SIDE))
def test_an_outline_paints_each_of_its_pixels_once_however_it_is_clipped(
    left: int, top: int, width: int, height: int, line: int, cut: int
) -> None:
    area = QRect(left, top, width, height)
    wanted = np.zeros((SIDE, SIDE), dtype=bool)
    wanted[max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)] = True
    if width > 2 * line and height > 2 * line:
        inner = slice(max(top + line, 0), max(top + height - line, 0))
        wanted[inner, max(left + line, 0) : max(left + width - line, 0)] = False
    picture = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
    picture.fill(0)
    painter = QPainter(picture)
    for part in (QRect(0, 0, cut, SIDE), QRect(cut, 0, SIDE - cut, SIDE)):
        painter.setClipRect(part)
        fill_rects(painter, outline(area, line), QColor(255, 255, 255, 128))
    painter.end()
    shown = pixels(picture) & 0xFFFFFF
    assert np.array_equal(shown != 0, wanted)
    assert len(np.unique(shown)) <= 2, "no pixel is painted twice"
