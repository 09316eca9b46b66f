"""Many rectangles or lines in one call: QPainter reads them directly from a numpy buffer.

PySide has no overload of drawRects that takes an array, but its wrapper of the pointer overload takes the address of
the first rectangle and a count; pyqtgraph draws its bars that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QRegion
from shiboken6 import Shiboken

FIELDS = 4
"""A QRect in memory: left, top, right, bottom, each an int32, the last two inclusive."""

Rects = NDArray[np.int32]
"""Shape (n, 4), or (n, parts, 4)."""

Rows = NDArray[np.int64] | NDArray[np.float64]
"""Pixel coordinates, one per column; whole numbers."""

_PIXELS_A_ROW = 8
"""With fewer columns than this per row, filling columns is cheaper."""


def rects(left: Any, top: Any, right: Any, bottom: Any) -> Rects:
    """Rectangles from their inclusive device pixels; arguments broadcast against each other."""
    areas = np.empty((*np.broadcast(left, top, right, bottom).shape, FIELDS), dtype=np.int32)
    areas[..., 0], areas[..., 1], areas[..., 2], areas[..., 3] = left, top, right, bottom
    return areas.reshape(-1, FIELDS)


def fill_rects(painter: QPainter, areas: Rects, colour: QColor) -> None:
    """Fill all of `areas`. The painter's transform must map its units to device pixels."""
    if areas.size == 0:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    # The buffer outlives the wrapper: this stack frame references it until drawRects returns.
    held = np.ascontiguousarray(areas, dtype=np.int32)
    first = cast(Any, Shiboken.wrapInstance(held.ctypes.data, QRect))
    cast(Any, painter).drawRects(first, held.size // FIELDS)


def rects_between(left: int, width: int, top: Rows, bottom: Rows) -> Rects:
    """The pixels of adjacent columns, `width` wide each, from `top` to `bottom`, both inclusive. As rows if few are
    enough: translucent colours are blended several times faster along rows than down columns."""
    heights = np.maximum(bottom - top + 1, 0)
    rows_needed = (np.abs(np.diff(top)).sum() + np.abs(np.diff(bottom)).sum()) / 2
    if heights.sum() >= rows_needed * _PIXELS_A_ROW:
        return _rows_between(left, width, top, bottom)
    lefts = left + np.arange(top.size) * width
    return rects(lefts, top, lefts + width - 1, bottom)[heights > 0]


def _rows_between(left: int, width: int, top: Rows, bottom: Rows) -> Rects:
    low, high = int(np.min(top)), int(np.max(bottom))
    rows = np.arange(low, high + 1, dtype=np.int32)[:, None]
    is_filled = np.zeros((rows.size + 1, len(top) + 1), np.bool_)  # the first column stays empty, to end each row
    np.logical_and(rows >= top.astype(np.int32), rows <= bottom.astype(np.int32), out=is_filled[:-1, 1:])
    flat = is_filled.ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    row, first = np.divmod(edges[::2], len(top) + 1)
    stop = first + edges[1::2] - edges[::2]
    return rects(left + first * width, low + row, left + stop * width - 1, low + row)


def outline(area: QRect, width: int) -> Rects:
    """The four sides of a rectangle, `width` pixels inwards, each pixel once: a translucent pen draws corners twice, or
    not, depending on clipping."""
    left, top, right, bottom = area.left(), area.top(), area.right(), area.bottom()
    if min(area.width(), area.height()) <= 2 * width:
        return rects(left, top, right, bottom)
    sides = (
        (left, top, right, top + width - 1),
        (left, bottom - width + 1, right, bottom),
        (left, top + width, left + width - 1, bottom - width),
        (right - width + 1, top + width, right, bottom - width),
    )
    return np.array(sides, dtype=np.int32)


def draw_polyline(painter: QPainter, xs: Any, ys: Any, pen: QPen) -> None:
    """Join points by a smooth line. A point whose y is NaN breaks it. xs, ys: shape (n,)."""
    points = np.stack((xs, ys), axis=-1).astype(np.float64)
    segments = np.concatenate((points[:-1], points[1:]), axis=1)
    segments = np.ascontiguousarray(segments[np.isfinite(segments).all(axis=1)])
    if len(segments) == 0:
        return
    painter.setPen(pen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    first = cast(Any, Shiboken.wrapInstance(segments.ctypes.data, QLineF))
    cast(Any, painter).drawLines(first, len(segments))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def dashed_pen(colour: QColor, width: float, pattern: Sequence[float]) -> QPen:
    """A pen whose dashes have exact ends."""
    pen = QPen(colour, width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern(pattern)
    return pen


def dashes(line: QLineF, length: float) -> list[QLineF]:
    """Dashes of this length with gaps as long. Qt starts its own dashes at the device's edge if a line begins outside,
    so they would differ between a window, a file, and another dock layout."""
    whole = line.length()
    starts = np.arange(0.0, whole, 2.0 * length).tolist()
    return [QLineF(line.pointAt(start / whole), line.pointAt(min(start + length, whole) / whole)) for start in starts]


class CachedPixels:
    """Painted once, and drawn until its key changes."""

    def __init__(self) -> None:
        self._pixmap, self._corner = QPixmap(), QPoint()
        self._key: object = None

    def is_of(self, key: object) -> bool:
        return self._key is not None and self._key == key

    def renew(self, key: object, area: QRect, ground: QColor, paint: Callable[[QPainter], None]) -> None:
        """Paint this area for `key`, on a `ground` background."""
        self._key, self._corner = key, area.topLeft()
        if self._pixmap.size() != area.size():
            self._pixmap = QPixmap(area.size())
        if area.isEmpty():
            return
        self._pixmap.fill(ground)
        painter = QPainter(self._pixmap)
        painter.translate(-self._corner)
        paint(painter)
        painter.end()

    def draw(self, painter: QPainter, wanted: QRegion) -> None:
        """Draw the parts in `wanted`, each clipped to itself: with a single clip rectangle Qt copies rows of pixels,
        with a region it goes span by span at several times the cost. Leaves the painter without a clip."""
        covered = QRect(self._corner, self._pixmap.size())
        for part in cast("Iterable[QRect]", wanted.intersected(covered)):
            painter.setClipRect(part)
            painter.drawPixmap(part, self._pixmap, part.translated(-self._corner))
        painter.setClipping(False)
