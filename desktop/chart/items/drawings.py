"""The user's drawings over the candles: lines, rectangles, levels, positions and texts; their geometry and hit testing
in device pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QLineF, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF

from core.domain.drawings import (
    FIBONACCI_LEVELS,
    Anchor,
    Drawing,
    DrawingKind,
    fibonacci_prices,
    reshaped_channel,
    reshaped_position,
)
from desktop.chart.data.anchors import index_at
from desktop.chart.data.model import ChartModel
from desktop.chart.items.placed import Grip, PlacedLayer, row_of
from desktop.chart.labels.axis_labels import price_label_rect
from desktop.chart.labels.chance import chance_tip, short_chance
from desktop.chart.labels.position import position_texts
from desktop.chart.painting.primitives import dashes
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import PlotLabel
from desktop.ui import formatting
from desktop.ui.theme import with_alpha

_AREA_ALPHAS = (22, 36)
_POSITION_ALPHA = 46
"""Of reward and risk, over which candles stay visible."""
_GROUND_ALPHA = 225
"""Of the ground of a level's price, which would be lost among the wicks."""
_HALO_PX = 1.5
"""Outline width around letters, so that text over a candle is readable."""
_AROUND = ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7))
_HANDLE_PX = 4
_DASH_WIDTHS = 4
_BEYOND_PX = _HANDLE_PX + 2
"""How far handles and outlines extend beyond a drawing's lines."""
_LINE_REACH_PX, _HANDLE_REACH_PX = 4, 8
_CUT_BEYOND_PX = 16
"""Lines are cut this far outside the pane, so that their ends are not visible."""
_INSET_PX = 6
_LEVELS_BY_IMPORTANCE = (0.0, 1.0, 0.618, 0.5, 0.382, 0.236, 0.786)
_GROWTH = 0.3
"""Growth of a text's size per width step."""


class DrawingsLayer(PlacedLayer[Drawing]):
    """Each drawing is a plot label: its geometry is computed once per view, and paints of other pixels skip it."""

    def __init__(self) -> None:
        super().__init__()
        self._shapes: tuple[Shape, ...] = ()
        self._labels: tuple[PlotLabel, ...] = ()
        self._tags: tuple[Box, ...] = ()
        self._key: object = None

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        self._place(frame, model)
        return self._labels

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """The prices of visible horizontal lines, away from other price labels."""
        self._place(frame, model)
        tags: list[Box] = []
        for tag in self._tags:
            if not any(tag.rect.intersects(other.rect) for other in (*taken, *tags)):
                tags.append(tag)
        return tags

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The chance of the price of a horizontal line under the mouse, if there is one."""
        hovered = next((each for each in self.shown.things if self.is_hovered(each)), None)
        if hovered is None or hovered.kind is not DrawingKind.HORIZONTAL:
            return None
        price = hovered.anchors[0].price
        return chance_tip(frame, model, price, cursor) if model.chances_of(price) else None

    def grip_at(self, frame: Frame, model: ChartModel, pixel: QPoint) -> Grip[Drawing] | None:
        """The part of the topmost drawing at a device pixel."""
        self._place(frame, model)
        shapes = [shape for shape in reversed(self._shapes) if shape.drawing is not self.shown.preview]
        place = QPointF(pixel) + QPointF(0.5, 0.5)
        return next((grip for shape in shapes if (grip := grip_of(shape, frame, place)) is not None), None)

    def _place(self, frame: Frame, model: ChartModel) -> None:
        # Times ahead of the closed candles continue from the forming one.
        key = (frame, model.version, id(model.series), model.time_at(model.count), self.shown, model.futures.found_for)
        if key == self._key:
            return
        self._key, drawings = key, self.back_to_front()
        self._shapes = tuple(shape_of(frame, model, drawing) for drawing in drawings)
        self._labels = tuple(
            self._label(frame, shape, area) for shape in self._shapes if (area := shape.area) is not None
        )
        tags = (_tag(frame, model, drawing) for drawing in drawings if drawing.kind is DrawingKind.HORIZONTAL)
        self._tags = tuple(tag for tag in tags if tag is not None)

    def _label(self, frame: Frame, shape: Shape, area: QRect) -> PlotLabel:
        drawing, reach = shape.drawing, frame.scaled(_BEYOND_PX + shape.drawing.width_px)
        is_active = drawing is self.shown.preview or self.is_selected(drawing) or self.is_hovered(drawing)
        paint = partial(_paint, frame=frame, shape=shape, is_active=is_active)
        return PlotLabel(area.adjusted(-reach, -reach, reach, reach), (drawing, is_active), paint)


def colour_of(frame: Frame, drawing: Drawing) -> QColor:
    """The drawing's colour, otherwise the theme's."""
    return QColor(drawing.colour) if drawing.colour else QColor(frame.palette.accent)


def _tag(frame: Frame, model: ChartModel, drawing: Drawing) -> Box | None:
    """The tag with the line's price and its chance; None if the price is out of view."""
    price = drawing.anchors[0].price
    row = row_of(frame, price)
    if row is None:
        return None
    rows: tuple[Row, ...] = ((Span(frame.price_text(price), frame.palette.text),),)
    if chance := short_chance(frame, model, price):
        rows += ((Span(chance, frame.palette.muted_text),),)
    ground, edge = frame.palette.background, colour_of(frame, drawing)
    return Box(price_label_rect(frame, row, rows), rows, ground, edge, price=price)


def _paint(painter: QPainter, frame: Frame, shape: Shape, *, is_active: bool) -> None:
    colour = colour_of(frame, shape.drawing)
    for place, area in enumerate(shape.areas):
        tint = shape.tints[place] if shape.tints else with_alpha(colour, _AREA_ALPHAS[place % 2])
        painter.fillRect(area, tint)
    pen = QPen(colour, max(frame.scaled(shape.drawing.width_px), frame.pixel))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    is_slanted = shape.drawing.kind in (DrawingKind.TREND_LINE, DrawingKind.RAY, DrawingKind.CHANNEL)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_slanted)
    painter.drawLines(list(shape.lines))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if shape.guides:
        painter.drawLines([dash for guide in shape.guides for dash in dashes(guide, _DASH_WIDTHS * pen.widthF())])
    if shape.texts:
        _write(painter, frame, shape, colour)
    if is_active:
        _paint_handles(painter, frame, shape, colour)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _write(painter: QPainter, frame: Frame, shape: Shape, colour: QColor) -> None:
    """A text of the user has an outline in the background colour and no box, so that the candles beside it stay
    visible; the price of a level has a ground."""
    painter.setFont(text_font(frame, shape.drawing) if shape.drawing.text else frame.fonts.regular)
    halo = _HALO_PX * frame.ratio
    for words in shape.texts:
        if not shape.drawing.text:
            painter.fillRect(words.ground, with_alpha(frame.palette.background, _GROUND_ALPHA))
        painter.setPen(frame.palette.background)
        for x, y in _AROUND:
            painter.drawText(words.baseline + QPointF(x * halo, y * halo), words.text)
        painter.setPen(colour)
        painter.drawText(words.baseline, words.text)


def _paint_handles(painter: QPainter, frame: Frame, shape: Shape, colour: QColor) -> None:
    painter.setPen(QPen(colour, 2 * frame.pixel))
    painter.setBrush(frame.palette.background)
    size = frame.scaled(_HANDLE_PX)
    for handle in shape.handles:
        if QRect(frame.price_pane.rect).adjusted(-size, -size, size, size).contains(handle.toPoint()):
            painter.drawEllipse(handle, size, size)


@dataclass(frozen=True)
class TextLine:
    """A line of text: its baseline's start and its background."""

    baseline: QPointF
    text: str
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
    texts: tuple[TextLine, ...] = ()
    tints: tuple[QColor, ...] = ()
    """Of the areas; empty: the drawing's colour."""

    @property
    def area(self) -> QRect | None:
        """The device pixels of its parts; None if it is entirely out of view."""
        points = [*self.handles, *(end for line in (*self.lines, *self.guides) for end in (line.p1(), line.p2()))]
        for part in (*self.areas, *(words.ground for words in self.texts)):
            points += [part.topLeft(), part.bottomRight()]
        return QPolygonF(points).boundingRect().toAlignedRect() if points else None


def shape_of(frame: Frame, model: ChartModel, drawing: Drawing) -> Shape:
    """The drawing's shape; empty if it is out of view."""
    points = [_point(frame, model, anchor) for anchor in drawing.anchors]
    return _SHAPES[drawing.kind](frame, drawing, points)


def text_font(frame: Frame, drawing: Drawing) -> QFont:
    font = QFont(frame.fonts.regular)
    font.setPixelSize(round(font.pixelSize() * (1 + _GROWTH * (drawing.width_px - 1))))
    return font


def grip_of(shape: Shape, frame: Frame, place: QPointF) -> Grip[Drawing] | None:
    distances = [QLineF(place, handle).length() for handle in shape.handles]
    if min(distances, default=math.inf) <= frame.scaled(_HANDLE_REACH_PX):
        return Grip(shape.drawing, Qt.CursorShape.SizeAllCursor, distances.index(min(distances)))
    reach = frame.scaled(_LINE_REACH_PX) + frame.scaled(shape.drawing.width_px) / 2
    is_text = shape.drawing.kind is DrawingKind.TEXT
    is_on_text = is_text and any(words.ground.contains(place) for words in shape.texts)
    if is_on_text or any(distance_to(line, place) <= reach for line in (*shape.lines, *shape.guides)):
        return Grip(shape.drawing, Qt.CursorShape.PointingHandCursor)
    return None


def reshaped(drawing: Drawing, handle: int, anchor: Anchor) -> Drawing:
    """The drawing with one handle moved; the third and fourth are the other corners of a rectangle."""
    if drawing.kind.is_position:
        return reshaped_position(drawing, handle, anchor)
    if drawing.kind is DrawingKind.CHANNEL:
        return reshaped_channel(drawing, handle, anchor)
    anchors = list(drawing.anchors)
    if handle < len(anchors):
        anchors[handle] = anchor
    else:
        of_time = handle - len(anchors)
        anchors[of_time] = replace(anchors[of_time], time_ms=anchor.time_ms)
        anchors[1 - of_time] = replace(anchors[1 - of_time], price=anchor.price)
    return replace(drawing, anchors=tuple(anchors))


def distance_to(line: QLineF, place: QPointF) -> float:
    """The distance from a place to the nearest point of a line."""
    along, beside = line.p2() - line.p1(), place - line.p1()
    length = QPointF.dotProduct(along, along)
    share = min(max(QPointF.dotProduct(beside, along) / length, 0.0), 1.0) if length else 0.0
    return QLineF(place, line.p1() + along * share).length()


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
    """The pixel of an anchor, in the middle of its candle; not clamped, so that a line keeps its slope however far its
    ends are."""
    pane = frame.price_pane
    x = frame.exact_x(index_at(model, anchor.time_ms))
    y = pane.inner_bottom - 1 - pane.shown.share(anchor.price) * pane.height
    return QPointF(math.floor(x + 0.5) + 0.5, math.floor(y + 0.5) + 0.5)


def _view(frame: Frame) -> QRectF:
    beyond = frame.scaled(_CUT_BEYOND_PX)
    return QRectF(frame.price_pane.rect).adjusted(-beyond, -beyond, beyond, beyond)


def _line(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    line = cut(points[0], points[1], _view(frame), is_endless=drawing.kind is DrawingKind.RAY)
    return Shape(drawing, () if line is None else (line,), handles=_seen(frame, points))


def _horizontal(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    view, row = _view(frame), points[0].y()
    line = cut(QPointF(view.left(), row), QPointF(view.right(), row), view)
    middle = QPointF(min(max(points[0].x(), 0.0), frame.layout.plot_right), row)
    return Shape(drawing, () if line is None else (line,), handles=_seen(frame, [middle]))


def _vertical(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    view, column = _view(frame), points[0].x()
    line = cut(QPointF(column, view.top()), QPointF(column, view.bottom()), view)
    pane = frame.price_pane
    handle = QPointF(column, min(max(points[0].y(), float(pane.top)), float(pane.inner_bottom)))
    return Shape(drawing, () if line is None else (line,), handles=_seen(frame, [handle]))


def _channel(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    """Its third handle is on its second line, beside or between the ends of the first."""
    start, end, beyond = points
    run = end.x() - start.x()
    share = min(max((beyond.x() - start.x()) / run, 0.0), 1.0) if run else 0.0
    on_first = start + (end - start) * share
    apart = QPointF(0.0, beyond.y() - on_first.y()) if run else QPointF(beyond.x() - start.x(), 0.0)
    first, second, middle = (cut(start + apart * part, end + apart * part, _view(frame)) for part in (0.0, 1.0, 0.5))
    lines = tuple(line for line in (first, second) if line is not None)
    guides = () if middle is None else (middle,)
    return Shape(drawing, lines, guides, handles=_seen(frame, [start, end, on_first + apart]))


def _position(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    view, entry = _view(frame), points[0]
    left, right = sorted((entry.x(), points[1].x()))
    rows = [point.y() for point in points]
    cuts = [cut(QPointF(left, row), QPointF(right, row), view) for row in rows]
    parts = [QRectF(QPointF(left, rows[0]), QPointF(right, row)).normalized().intersected(view) for row in rows[1:]]
    grounds = [with_alpha(colour, _POSITION_ALPHA) for colour in (frame.palette.good, frame.palette.bad)]
    seen = [(part, ground) for part, ground in zip(parts, grounds, strict=True) if part.isValid()]
    return Shape(
        drawing,
        tuple(line for line in cuts if line is not None),
        areas=tuple(part for part, _ in seen),
        tints=tuple(ground for _, ground in seen),
        handles=_seen(frame, points),
        texts=_position_words(frame, drawing, cuts),
    )


def _position_words(frame: Frame, drawing: Drawing, lines: list[QLineF | None]) -> tuple[TextLine, ...]:
    """Above each level its price and its percent from the entry; at the entry the ratio. The entry's comes first where
    levels are too close for all."""
    fonts, inset = frame.fonts, frame.scaled(_INSET_PX)
    words: list[TextLine] = []
    for text, line in zip(position_texts(frame, drawing), lines, strict=True):
        y = 0.0 if line is None else line.y1() - fonts.metrics.descent() - drawing.width_px * frame.ratio
        if line is None or any(abs(other.baseline.y() - y) < fonts.line for other in words):
            continue
        x = max(min(line.x1(), line.x2()), 0.0) + inset
        ground = QRectF(x - inset / 2, y - fonts.metrics.ascent(), fonts.width(text) + inset, fonts.line)
        words.append(TextLine(QPointF(x, y), text, ground))
    return tuple(words)


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


def _level_words(frame: Frame, prices: tuple[float, ...], lines: list[QLineF | None]) -> tuple[TextLine, ...]:
    """Each level's share and price: to its left, or above the lines if any does not fit there. Of overlapping ones the
    level that traders look for first is shown."""
    fonts, inset = frame.fonts, frame.scaled(_INSET_PX)
    texts = [
        f"{share:g}  {formatting.format_price(price, frame.decimals)}"
        for share, price in zip(FIBONACCI_LEVELS, prices, strict=True)
    ]
    ends = [
        min(line.x1(), line.x2()) - fonts.width(text)
        for text, line in zip(texts, lines, strict=True)
        if line is not None
    ]
    is_beside = min(ends, default=0.0) >= inset
    down = (fonts.metrics.ascent() - fonts.metrics.descent()) / 2 if is_beside else -fonts.metrics.descent()
    words: dict[float, TextLine] = {}
    levels = {share: (text, line) for share, text, line in zip(FIBONACCI_LEVELS, texts, lines, strict=True)}
    for share in _LEVELS_BY_IMPORTANCE:
        text, line = levels[share]
        if line is None or any(abs(other.baseline.y() - down - line.y1()) < fonts.line for other in words.values()):
            continue
        left, width = min(line.x1(), line.x2()), fonts.width(text)
        x, y = left - inset - width if is_beside else max(left, 0.0) + inset, line.y1() + down
        ground = QRectF(x - inset / 2, y - fonts.metrics.ascent(), width + inset, fonts.line)
        words[share] = TextLine(QPointF(x, y), text, ground)
    return tuple(words[share] for share in FIBONACCI_LEVELS if share in words)


def _text(frame: Frame, drawing: Drawing, points: list[QPointF]) -> Shape:
    """The text lies above and to the right of its anchor."""
    metrics, inset = QFontMetrics(text_font(frame, drawing)), frame.scaled(_INSET_PX)
    baseline = points[0] + QPointF(inset, -inset - metrics.descent())
    width = metrics.horizontalAdvance(drawing.text)
    ground = QRectF(points[0].x(), baseline.y() - metrics.ascent(), width + 2 * inset, metrics.height())
    if not ground.intersects(_view(frame)):
        return Shape(drawing)
    return Shape(drawing, handles=_seen(frame, points), texts=(TextLine(baseline, drawing.text, ground),))


_SHAPES: dict[DrawingKind, Callable[[Frame, Drawing, list[QPointF]], Shape]] = {
    DrawingKind.TREND_LINE: _line,
    DrawingKind.RAY: _line,
    DrawingKind.HORIZONTAL: _horizontal,
    DrawingKind.RECTANGLE: _rectangle,
    DrawingKind.FIBONACCI: _fibonacci,
    DrawingKind.TEXT: _text,
    DrawingKind.VERTICAL: _vertical,
    DrawingKind.CHANNEL: _channel,
    DrawingKind.LONG_POSITION: _position,
    DrawingKind.SHORT_POSITION: _position,
}


def _seen(frame: Frame, points: list[QPointF]) -> tuple[QPointF, ...]:
    """All handles, or none if all are out of view: their numbers must not change."""
    view = _view(frame)
    return tuple(points) if any(view.contains(point) for point in points) else ()
