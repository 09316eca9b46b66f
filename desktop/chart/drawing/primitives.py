"""Many rectangles or lines in one call: QPainter reads them straight out of a numpy buffer.

PySide has no overload of drawRects that takes an array, but its wrapper of the pointer overload takes the address of
the first rectangle and a count; pyqtgraph draws its bars that way.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from shiboken6 import Shiboken

FIELDS = 4
"""A QRect in memory: left, top, right, bottom, each an int32, the last two inclusive."""

Rects = NDArray[np.int32]
"""Shape (n, 4), C-contiguous."""


def rects(left: Any, top: Any, right: Any, bottom: Any) -> Rects:
    """Rectangles from their inclusive device pixels; arguments broadcast against each other."""
    edges = np.broadcast_arrays(left, top, right, bottom)
    return np.ascontiguousarray(np.stack(edges, axis=-1).reshape(-1, FIELDS), dtype=np.int32)


def fill_rects(painter: QPainter, areas: Rects, colour: QColor) -> None:
    """Fill all of `areas`. The painter's transform must map its units to device pixels."""
    if areas.dtype != np.int32 or not areas.flags.c_contiguous or areas.shape[1:] != (FIELDS,):
        raise ValueError("rectangles are C-contiguous int32 of shape (n, 4)")
    if len(areas) == 0:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    # The buffer outlives the wrapper: `areas` is held by the caller's frame until drawRects returns.
    first = cast(Any, Shiboken.wrapInstance(areas.ctypes.data, QRect))
    cast(Any, painter).drawRects(first, len(areas))


def draw_polyline(painter: QPainter, xs: Any, ys: Any) -> None:
    """Join points with the painter's pen. A point whose y is NaN breaks the line. xs, ys: shape (n,)."""
    points = np.stack((xs, ys), axis=-1).astype(np.float64)
    segments = np.concatenate((points[:-1], points[1:]), axis=1)
    segments = np.ascontiguousarray(segments[np.isfinite(segments).all(axis=1)])
    if len(segments) == 0:
        return
    first = cast(Any, Shiboken.wrapInstance(segments.ctypes.data, QLineF))
    cast(Any, painter).drawLines(first, len(segments))
