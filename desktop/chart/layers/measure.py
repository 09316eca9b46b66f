"""What is measured: a shaded box with its numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from desktop import formatting
from desktop.chart.data.measurement import Measured, Measurement, measured
from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.text import Box, Row, Span, box_size, paint_box
from desktop.chart.framing.frame import Frame
from desktop.chart.framing.pane import PRICE_PANE, Pane
from desktop.chart.layers.layer import PaneScale

_SHADE_ALPHA = 34
_EDGE_ALPHA = 150
_ARROW_PX = 5
_AWAY_PX = 8


class MeasureLayer:
    """Drawn with each paint: there is one box at most."""

    pane = PRICE_PANE
    pane_scale = PaneScale()

    def __init__(self) -> None:
        self.shown: Measurement | None = None
        self.hint = ""
        """What the readout says while one is being made."""

    def key(self, model: ChartModel) -> Hashable:
        return None

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        return None

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Nothing: all of it lies over the forming candle."""

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if self.shown is None:
            return
        start, end = _place(frame, model, self.shown)
        colour = frame.palette.candle(self.shown.end.price >= self.shown.start.price)
        area = QRect(start, end).normalized()
        _paint_shade(painter, frame, area, colour)
        _paint_arrows(painter, frame, start, end, colour)
        box = _label(frame, area, is_rising=end.y() <= start.y(), found=measured(self.shown, model))
        paint_box(painter, box, frame.fonts)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.hint, frame.palette.accent),),) if self.hint else ()


def _place(frame: Frame, model: ChartModel, shown: Measurement) -> tuple[QPoint, QPoint]:
    """Both ends in device pixels."""
    points = []
    for mark in (shown.start, shown.end):
        index = model.index_from(mark.time_ms)
        points.append(QPoint(frame.x(0 if index is None else index), frame.y(mark.price)))
    return points[0], points[1]


def _paint_shade(painter: QPainter, frame: Frame, area: QRect, colour: QColor) -> None:
    shade, edge = QColor(colour), QColor(colour)
    shade.setAlpha(_SHADE_ALPHA)
    edge.setAlpha(_EDGE_ALPHA)
    painter.fillRect(area, shade)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(edge, frame.pixel))
    painter.drawRect(area.adjusted(0, 0, -1, -1))


def _paint_arrows(painter: QPainter, frame: Frame, start: QPoint, end: QPoint, colour: QColor) -> None:
    """Through the middle, from the start's price to the end's and from its time to the end's."""
    middle = QPointF((start.x() + end.x()) / 2, (start.y() + end.y()) / 2)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(colour, frame.pixel))
    painter.setBrush(colour)
    _arrow(painter, QPointF(middle.x(), start.y()), QPointF(middle.x(), end.y()), frame.scaled(_ARROW_PX))
    _arrow(painter, QPointF(start.x(), middle.y()), QPointF(end.x(), middle.y()), frame.scaled(_ARROW_PX))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _arrow(painter: QPainter, tail: QPointF, tip: QPointF, size: float) -> None:
    along = tip - tail
    length = abs(along.x()) + abs(along.y())
    if length < 3 * size:
        return
    painter.drawLine(tail, tip)
    unit = QPointF(along.x() / length, along.y() / length)
    across = QPointF(-unit.y(), unit.x())
    back = QPointF(tip.x() - unit.x() * 1.6 * size, tip.y() - unit.y() * 1.6 * size)
    side = QPointF(across.x() * 0.8 * size, across.y() * 0.8 * size)
    painter.drawPolygon(QPolygonF([tip, back + side, back - side]))


def _label(frame: Frame, area: QRect, *, is_rising: bool, found: Measured) -> Box:
    """The numbers beyond the end, or on the other side where there is no room for them."""
    rows = _rows(frame, found)
    size, away = box_size(rows, frame.fonts, is_table=True), frame.scaled(_AWAY_PX)
    above, below = area.top() - away - size.height(), area.bottom() + away
    lowest = frame.price_pane.bottom - size.height() - away
    top = above if (is_rising and above >= 0) or below > lowest else below
    left = area.center().x() - size.width() // 2
    left = min(max(left, away), max(frame.layout.plot_right - size.width() - away, 0))
    place = QPoint(left, min(max(top, away), max(lowest, 0)))
    return Box(QRect(place, size), rows, frame.palette.raised, frame.palette.border, is_table=True)


def _rows(frame: Frame, found: Measured) -> tuple[Row, ...]:
    palette = frame.palette
    colour = palette.candle(found.change >= 0)
    change = formatting.format_price(found.change, frame.decimals, signed=True)
    percent = formatting.format_percent(found.share, signed=True)
    noun = "candle" if found.candles == 1 else "candles"
    time = formatting.format_duration(found.duration_ms / 1000.0) if found.duration_ms else formatting.MISSING
    return (
        (Span(change, colour, bold=True), Span(percent, colour, bold=True)),
        (Span(f"{formatting.format_count(found.candles)} {noun}", palette.text), Span(time, palette.text)),
        (Span("Volume", palette.muted_text), Span(formatting.format_volume(found.volume), palette.text)),
    )
