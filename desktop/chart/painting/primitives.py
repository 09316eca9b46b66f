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
"""A QRect in memory: left, top, right, bottom, each an int32, the last two inclusive. A QLineF: x, y, x, y, doubles."""

Rects = NDArray[np.int32]
"""Shape (n, 4), or (n, parts, 4)."""

Rows = NDArray[np.int64] | NDArray[np.float64]
"""Pixel coordinates, one per column; whole numbers."""

FLATTEST_FRAMED_PX = 3
"""A ghost's body is painted without a frame up to this height, in hairlines."""
_PIXELS_A_ROW = 8
"""Below this many columns per row, filling columns is cheaper."""


class Memory:
    """Memory that Qt reads as an array of `kind`, at one address for as long as possible. PySide may still have a
    wrapper of an object that C++ has deleted, such as a list's item, and then returns it for an array at that
    address."""

    def __init__(self, kind: type, dtype: type) -> None:
        self._kind = kind
        self._rows: NDArray[Any] = np.empty((0, FIELDS), dtype=dtype)
        self.first: Any = None
        """The first object."""

    def room(self, count: int) -> NDArray[Any]:
        """Rows to write in, until the next call; shape (count, 4)."""
        refused = []
        while count > len(self._rows):
            rows = np.empty((2 * count, FIELDS), dtype=self._rows.dtype)
            first = Shiboken.wrapInstance(rows.ctypes.data, self._kind)
            if isinstance(first, self._kind):
                self._rows, self.first = rows, first
            else:
                refused.append(rows)  # kept until now, so that the next is elsewhere
        return self._rows[:count]


_RECTS, _LINES = Memory(QRect, np.int32), Memory(QLineF, np.float64)


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
    rows = areas.reshape(-1, FIELDS)
    _RECTS.room(len(rows))[:] = rows
    cast(Any, painter).drawRects(_RECTS.first, len(rows))


def rects_between(left: int, width: int, top: Rows, bottom: Rows) -> Rects:
    """The pixels of adjacent columns, `width` wide each, from `top` to `bottom`, both inclusive. As rows if few are
    enough: translucent colours are blended several times faster along rows than down columns."""
    heights = np.maximum(bottom - top + 1, 0)
    rows_needed = (np.abs(top[1:] - top[:-1]).sum() + np.abs(bottom[1:] - bottom[:-1]).sum()) / 2
    if heights.sum() >= rows_needed * _PIXELS_A_ROW:
        return _rows_between(left, width, top, bottom)
    lefts = left + np.arange(top.size) * width
    return rects(lefts, top, lefts + width - 1, bottom)[heights > 0]


def _rows_between(left: int, width: int, top: Rows, bottom: Rows) -> Rects:
    """Numbered row by row, the columns where runs of pixels begin and those where they end pair up in order."""
    top = top.astype(np.int64)
    stop = np.maximum(bottom.astype(np.int64) + 1, top)
    columns, across = np.arange(top.size), top.size + 1
    begins = np.sort(_not_in_neighbour(columns, across, top, stop, slice(None, -1), slice(1, None)))
    ends = np.sort(_not_in_neighbour(columns + 1, across, top, stop, slice(1, None), slice(None, -1)))
    row, first = np.divmod(begins, across)
    return rects(left + first * width, row, left + (first + ends - begins) * width - 1, row)


def _not_in_neighbour(
    columns: NDArray[np.int64],
    across: int,
    top: NDArray[np.int64],
    stop: NDArray[np.int64],
    neighbours: slice,
    having: slice,
) -> NDArray[np.int64]:
    """`row * across + column` of the pixels of each column, rows top..stop - 1, that its neighbour lacks: those above
    the neighbour's top, and those from its stop on."""
    other_top, other_stop = top.copy(), top.copy()  # the outermost column has no neighbour: an empty one
    other_top[having], other_stop[having] = top[neighbours], stop[neighbours]
    firsts = np.concatenate((top, np.minimum(np.maximum(other_stop, top), stop)))
    counts = np.concatenate((np.minimum(np.maximum(other_top, top), stop), stop)) - firsts
    before = np.cumsum(counts) - counts
    numbers = (firsts - before) * across + np.concatenate((columns, columns))
    return np.repeat(numbers, counts) + np.arange(int(counts.sum())) * across


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
    is_known = np.isfinite(ys)
    is_drawn = slice(None) if is_known.all() else is_known[:-1] & is_known[1:]
    ends = [end[is_drawn] for end in (xs[:-1], ys[:-1], xs[1:], ys[1:])]
    count = len(ends[0])
    if count == 0:
        return
    segments = _LINES.room(count)
    for place, end in enumerate(ends):
        segments[:, place] = end
    painter.setPen(pen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    cast(Any, painter).drawLines(_LINES.first, count)
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

    def update(
        self, key: object, area_of: Callable[[], QRect], ground: QColor, paint: Callable[[QPainter], None]
    ) -> bool:
        """Paint an area on a `ground` background, unless that was done for this key. Returns whether it was painted
        now. area_of: called only then."""
        if self._key is not None and self._key == key:
            return False
        area = area_of()
        self._key, self._corner = key, area.topLeft()
        if self._pixmap.size() != area.size():
            self._pixmap = QPixmap(area.size())
        if area.isEmpty():
            return True
        self._pixmap.fill(ground)
        painter = QPainter(self._pixmap)
        painter.translate(-self._corner)
        paint(painter)
        painter.end()
        return True

    def draw(self, painter: QPainter, wanted: QRegion) -> None:
        """Draw the parts in `wanted`, each clipped to itself: with a single clip rectangle Qt copies rows of pixels,
        with a region it goes span by span at several times the cost. Leaves the painter without a clip."""
        covered = QRect(self._corner, self._pixmap.size())
        for part in cast("Iterable[QRect]", wanted.intersected(covered)):
            painter.setClipRect(part)
            painter.drawPixmap(part, self._pixmap, part.translated(-self._corner))
        painter.setClipping(False)
