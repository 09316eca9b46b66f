"""Geometry of a drawing in a frame: lines, areas, text and handles in device pixels, and hit testing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF
from PySide6.QtGui import QFont, QFontMetrics, QPolygonF

from core.domain.drawings import FIBONACCI_LEVELS, Anchor, Drawing, DrawingKind, fibonacci_prices
from desktop.chart.data.anchors import index_at
from desktop.chart.data.model import ChartModel
from desktop.chart.items.placed import Grip
from desktop.chart.panes.frame import Frame
from desktop.ui import formatting

_LINE_REACH_PX, _HANDLE_REACH_PX = 4, 8
_BEYOND_PX = 16
"""Lines are cut this far outside the pane, so that their ends are not visible."""
_INSET_PX = 6
_LEVELS_BY_IMPORTANCE = (0.0, 1.0, 0.618, 0.5, 0.382, 0.236, 0.786)
_GROWTH = 0.3
"""Growth of a text's size per width step."""


@dataclass(frozen=True)
class Words:
    """A line of text: its baseline's start and its background."""

    baseline: QPointF
    said: str
    ground: QRectF


@dataclass(frozen=True)
class Shape:
    """The geometry of a drawing."""

    drawing: Drawing
    lines: tuple[QLineF, ...] = ()
    guides: tuple[QLineF, ...] = ()
    """Dashed lines."""
    areas: tuple[QRectF, ...] = ()
    handles: tuple[QPointF, ...] = ()
    words: tuple[Words, ...] = ()

    @property
    def area(self) -> QRect | None:
        """The device pixels of its parts; None if it is entirely out of view."""
        points = [*self.handles, *(end for line in (*self.lines, *self.guides) for end in (line.p1(), line.p2()))]
        for part in (*self.areas, *(words.ground for words in self.words)):
            points += [part.topLeft(), part.bottomRight()]
        return QPolygonF(points).boundingRect().toAlignedRect() if points else None


def shape_of(frame: Frame, model: ChartModel, drawing: Drawing) -> Shape:
    """Empty if the drawing is out of view."""
    points = [_point(frame, model, anchor) for anchor in drawing.anchors]
    return _SHAPES[drawing.kind](frame, drawing, points)


def text_font(frame: Frame, drawing: Drawing) -> QFont:
    font = QFont(frame.fonts.regular)
    font.setPixelSize(round(font.pixelSize() * (1 + _GROWTH * (drawing.width_px - 1))))
    return font


def grip_of(shape: Shape, frame: Frame, place: QPointF) -> Grip[Drawing] | None:
    """The part of a shape at this device pixel."""
    near = min(range(len(shape.handles)), key=lambda handle: _distance(place, shape.handles[handle]), default=None)
    if near is not None and _distance(place, shape.handles[near]) <= frame.scaled(_HANDLE_REACH_PX):
        return Grip(shape.drawing, near)
    reach = frame.scaled(_LINE_REACH_PX) + frame.scaled(shape.drawing.width_px) / 2
    is_text = shape.drawing.kind is DrawingKind.TEXT
    is_on_text = is_text and any(words.ground.contains(place) for words in shape.words)
    if is_on_text or any(distance_to(line, place) <= reach for line in (*shape.lines, *shape.guides)):
        return Grip(shape.drawing)
    return None


def reshaped(drawing: Drawing, handle: int, anchor: Anchor) -> Drawing:
    """The drawing with one handle moved; the third and fourth are the other corners of a rectangle."""
    anchors = list(drawing.anchors)
    if handle < len(anchors):
        anchors[handle] = anchor
    else:
        of_time = handle - len(anchors)
        anchors[of_time] = replace(anchors[of_time], time_ms=anchor.time_ms)
        anchors[1 - of_time] = replace(anchors[1 - of_time], price=anchor.price)
    return replace(drawing, anchors=tuple(anchors))


def distance_to(line: QLineF, place: QPointF) -> float:
    """From a place to the nearest point of a line."""
    along, beside = line.p2() - line.p1(), place - line.p1()
    length = QPointF.dotProduct(along, along)
    share = min(max(QPointF.dotProduct(beside, along) / length, 0.0), 1.0) if length else 0.0
    return _distance(place, line.p1() + along * share)


def cut(start: QPointF, end: QPointF, area: QRectF, *, is_endless: bool = False) -> QLineF | None:
    """The part of a line inside an area; is_endless: the line continues beyond its end. None if none is inside.

    Cut here, because the painters cannot handle ends this many pixels away.
    """
    along = end - start
    first, last = 0.0, math.inf if is_endless and not along.isNull() else 1.0
    for begin, step, low, high in (
        (start.x(), along.x(), area.left(), area.right()),
        (start.y(), along.y(), area.top(), area.bottom()),
    ):
        if step == 0.0:
            if not low <= begin <= high:
                return None
            continue
        near, far = sorted(((low - begin) / step, (high - begin) / step))
        first, last = max(first, near), min(last, far)
    if first > last or math.isinf(last):
        return None
    return QLineF(start + along * first, start + along * last)


def _point(frame: Frame, model: ChartModel, anchor: Anchor) -> QPointF:
    """The middle of its candle; not clamped, so that a line keeps its slope however far its ends are."""
    pane = frame.price_pane
    x = frame.exact_x(index_at(model, anchor.time_ms))
    y = pane.inner_bottom - 1 - pane.shown.share(anchor.price) * pane.height
    return QPointF(math.floor(x + 0.5) + 0.5, math.floor(y + 0.5) + 0.5)


def _view(frame: Frame) -> QRectF:
    beyond = frame.scaled(_BEYOND_PX)
    return QRectF(frame.price_pane.rect).adjusted(-beyond, -beyond, beyond, beyond)


def _line(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    line = cut(points[0], points[1], _view(frame), is_endless=drawing.kind is DrawingKind.RAY)
    return Shape(drawing, () if line is None else (line,), handles=_seen(frame, points))


def _horizontal(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    view, row = _view(frame), points[0].y()
    line = cut(QPointF(view.left(), row), QPointF(view.right(), row), view)
    middle = QPointF(min(max(points[0].x(), 0.0), frame.layout.plot_right), row)
    return Shape(drawing, () if line is None else (line,), handles=_seen(frame, [middle]))


def _rectangle(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    start, end = points
    corners = [start, end, QPointF(start.x(), end.y()), QPointF(end.x(), start.y())]
    sides = [cut(corners[a], corners[b], _view(frame)) for a, b in ((0, 2), (2, 1), (1, 3), (3, 0))]
    area = QRectF(start, end).normalized().intersected(_view(frame))
    lines = tuple(side for side in sides if side is not None)
    return Shape(drawing, lines, areas=(area,) if area.isValid() else (), handles=_seen(frame, corners))


def _fibonacci(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    view = _view(frame)
    left, right = sorted(point.x() for point in points)
    pane, prices = frame.price_pane, fibonacci_prices(drawing)
    # Rounding can put a level at or below zero, which a logarithmic scale cannot show.
    rows = [math.floor(pane.inner_bottom - 1 - pane.shown.share(price) * pane.height + 0.5) + 0.5 for price in prices]
    cuts = [cut(QPointF(left, row), QPointF(right, row), view) for row in rows]
    lines = tuple(line for line in cuts if line is not None)
    way = cut(points[0], points[1], view)
    areas = [
        QRectF(QPointF(left, upper), QPointF(right, lower)).normalized().intersected(view)
        for upper, lower in pairwise(rows)
    ]
    seen = tuple(area for area in areas if area.isValid() and area.height() >= 1)
    words = _level_words(frame, prices, cuts)
    return Shape(drawing, lines, () if way is None else (way,), seen, _seen(frame, points), words)


def _level_words(frame: Frame, prices: tuple[float, ...], lines: list[QLineF | None]) -> tuple[Words, ...]:
    """Each level's share and price: to its left, or above the lines if there is no room for one of them. Of overlapping
    ones the level that traders look for first is shown."""
    fonts, inset = frame.fonts, frame.scaled(_INSET_PX)
    said = [
        f"{share:g}  {formatting.format_price(price, frame.decimals)}"
        for share, price in zip(FIBONACCI_LEVELS, prices, strict=True)
    ]
    ends = [
        min(line.x1(), line.x2()) - fonts.width(text)
        for text, line in zip(said, lines, strict=True)
        if line is not None
    ]
    is_beside = min(ends, default=0.0) >= inset
    down = (fonts.metrics.ascent() - fonts.metrics.descent()) / 2 if is_beside else -fonts.metrics.descent()
    words: dict[float, Words] = {}
    levels = {share: (text, line) for share, text, line in zip(FIBONACCI_LEVELS, said, lines, strict=True)}
    for share in _LEVELS_BY_IMPORTANCE:
        text, line = levels[share]
        if line is None or any(abs(other.baseline.y() - down - line.y1()) < fonts.line for other in words.values()):
            continue
        left, width = min(line.x1(), line.x2()), fonts.width(text)
        x, y = left - inset - width if is_beside else max(left, 0.0) + inset, line.y1() + down
        ground = QRectF(x - inset / 2, y - fonts.metrics.ascent(), width + inset, fonts.line)
        words[share] = Words(QPointF(x, y), text, ground)
    return tuple(words[share] for share in FIBONACCI_LEVELS if share in words)


def _text(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    """Above and to the right of its anchor."""
    metrics, inset = QFontMetrics(text_font(frame, drawing)), frame.scaled(_INSET_PX)
    baseline = points[0] + QPointF(inset, -inset - metrics.descent())
    width = metrics.horizontalAdvance(drawing.text)
    ground = QRectF(points[0].x(), baseline.y() - metrics.ascent(), width + 2 * inset, metrics.height())
    if not ground.intersects(_view(frame)):
        return Shape(drawing)
    return Shape(drawing, handles=_seen(frame, points), words=(Words(baseline, drawing.text, ground),))


_SHAPES: dict[DrawingKind, Callable[[Frame, Drawing, list[QPointF]], Shape]] = {
    DrawingKind.TREND_LINE: _line,
    DrawingKind.RAY: _line,
    DrawingKind.HORIZONTAL: _horizontal,
    DrawingKind.RECTANGLE: _rectangle,
    DrawingKind.FIBONACCI: _fibonacci,
    DrawingKind.TEXT: _text,
}


def _seen(frame: Frame, points: list[QPointF]) -> tuple[QPointF, ...]:
    """All handles, or none if all are out of view: their numbers must not change."""
    view = _view(frame)
    return tuple(points) if any(view.contains(point) for point in points) else ()


def _distance(one: QPointF, other: QPointF) -> float:
    between = one - other
    return math.hypot(between.x(), between.y())
