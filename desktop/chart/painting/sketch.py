"""A small drawing in a box, below its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

Spot = tuple[float, float]
"""Across and down, from 0 to 1."""


@dataclass(frozen=True)
class Bar:
    """A filled rectangle between two corners; at least a pixel wide and high."""

    begin: Spot
    end: Spot
    colour: QColor


@dataclass(frozen=True)
class Stroke:
    """A line through these places; dashed where it is not known how it went between them, and then with dots."""

    spots: tuple[Spot, ...]
    colour: QColor
    is_dashed: bool = False


@dataclass(frozen=True)
class Sketch:
    """Strokes below bars. Its size is in heights of a line of text."""

    bars: tuple[Bar, ...]
    strokes: tuple[Stroke, ...]
    width: float
    height: float


def paint_sketch(painter: QPainter, sketch: Sketch, area: QRect, line: int) -> None:
    """Paint into an area in device pixels. line: the height of a line of text, of which pens and dots are a share."""
    width = max(1, round(line / 16))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for stroke in sketch.strokes:
        _paint_stroke(painter, stroke, area, width)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for bar in sketch.bars:
        left, top, right, bottom = (round(each) for spot in (bar.begin, bar.end) for each in _placed(spot, area))
        painter.fillRect(QRect(left, top, max(right - left, width), max(bottom - top, width)), bar.colour)
    painter.restore()


def _paint_stroke(painter: QPainter, stroke: Stroke, area: QRect, width: int) -> None:
    places = [QPointF(*_placed(spot, area)) for spot in stroke.spots]
    style = Qt.PenStyle.DashLine if stroke.is_dashed else Qt.PenStyle.SolidLine
    painter.setPen(QPen(stroke.colour, width, style))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(places)
    if stroke.is_dashed:
        _paint_dots(painter, places, stroke.colour, 2.0 * width)


def _paint_dots(painter: QPainter, places: Sequence[QPointF], colour: QColor, radius: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for place in places:
        painter.drawEllipse(QRectF(place.x() - radius, place.y() - radius, 2.0 * radius, 2.0 * radius))


def _placed(spot: Spot, area: QRect) -> Spot:
    across, down = spot
    return area.left() + across * (area.width() - 1), area.top() + down * (area.height() - 1)
