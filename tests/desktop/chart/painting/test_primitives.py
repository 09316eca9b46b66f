from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLineF, QRect
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.chart.painting import primitives
from desktop.chart.painting.primitives import fill_rects, outline, rects_between
from tests.desktop.chart.paint_helpers import pixels

SIDE = 24
sizes = st.integers(1, SIDE)
edges = st.tuples(st.integers(0, SIDE - 1), st.integers(-3, SIDE - 1))


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


@given(st.lists(edges, min_size=1, max_size=SIDE // 2), st.integers(1, 2))
def test_columns_side_by_side_are_filled_once_as_rows_or_not(columns: list[tuple[int, int]], width: int) -> None:
    top, bottom = np.array(columns).T
    wanted = np.zeros((SIDE, SIDE), dtype=np.int64)
    for number, (first, last) in enumerate(columns):
        wanted[first : max(last + 1, first), number * width : (number + 1) * width] += 1
    filled = np.zeros_like(wanted)
    for left, first, right, last in rects_between(0, width, top, bottom).tolist():
        filled[first : last + 1, left : right + 1] += 1
    assert np.array_equal(filled, wanted)


def test_a_wide_band_is_as_many_rectangles_as_its_edges_have_steps() -> None:
    top = np.arange(1_000) // 10
    assert len(rects_between(0, 1, top, top + 200)) < 310
    assert len(rects_between(0, 1, top, top)) <= 1_000


def test_memory_for_which_pyside_has_another_object_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter((QLineF(), QRect(1, 2, 3, 4)))
    monkeypatch.setattr(primitives.Shiboken, "wrapInstance", lambda _address, _kind: next(found))
    memory = primitives.Memory(QRect, np.int32)
    assert memory.room(3).shape == (3, 4)
    assert memory.first == QRect(1, 2, 3, 4)
