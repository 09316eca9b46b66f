"""What is measured: a shaded box with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from desktop import formatting
from desktop.chart.data.measurement import Measured, Measurement, measured
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import fill_rects, outline
from desktop.chart.painting.text import Box, Row, Span, box_size, paint_box
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import PlotLabel, PriceLayer
from desktop.chart.panes.pane import Pane
from desktop.translation import translate

_SHADE_ALPHA = 34
_EDGE_ALPHA = 150
_ARROW_PX = 5
_AWAY_PX = 8


class MeasureLayer(PriceLayer):
    """Drawn with each paint: there is one box at most."""

    def __init__(self) -> None:
        self.shown: Measurement | None = None
        self.hint = ""
        """What the readout says while one is being made."""

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if self.shown is None:
            return
        start, end = _place(frame, model, self.shown)
        colour = frame.palette.candle(self.shown.end.price >= self.shown.start.price)
        _paint_shade(painter, frame, QRect(start, end).normalized(), colour)
        _paint_arrows(painter, frame, start, end, colour)

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        box = self._numbers(frame, model, taken)
        return () if box is None else (PlotLabel(box.rect, box, partial(paint_box, box=box, fonts=frame.fonts)),)

    def _numbers(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Box | None:
        """None while what was measured is out of view."""
        if self.shown is None:
            return None
        start, end = _place(frame, model, self.shown)
        area = QRect(start, end).normalized()
        if not area.intersects(frame.price_pane.rect):
            return None
        return _box(frame, area, taken, is_rising=end.y() <= start.y(), found=measured(self.shown, model))

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.hint, frame.palette.accent),),) if self.hint else ()


def _place(frame: Frame, model: ChartModel, shown: Measurement) -> tuple[QPoint, QPoint]:
    """Both ends in device pixels."""
    points = []
    for mark in (shown.start, shown.end):
        index = model.index_around(mark.time_ms)
        points.append(QPoint(frame.x(0 if index is None else index), frame.y(mark.price)))
    return points[0], points[1]


def _paint_shade(painter: QPainter, frame: Frame, area: QRect, colour: QColor) -> None:
    shade, edge = QColor(colour), QColor(colour)
    shade.setAlpha(_SHADE_ALPHA)
    edge.setAlpha(_EDGE_ALPHA)
    painter.fillRect(area, shade)
    fill_rects(painter, outline(area, frame.pixel), edge)


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


def _box(frame: Frame, area: QRect, taken: Sequence[QRect], *, is_rising: bool, found: Measured) -> Box:
    """The numbers beyond the end; where there is no room for them, or the readout stands there, on another side."""
    rows = _rows(frame, found)
    size, away = box_size(rows, frame.fonts, is_table=True), frame.scaled(_AWAY_PX)
    middle = area.center() - QPoint(size.width() // 2, size.height() // 2)
    above, below = area.top() - away - size.height(), area.bottom() + away
    beyond, behind = (above, below) if is_rising else (below, above)
    wanted = (
        QPoint(middle.x(), beyond),
        QPoint(middle.x(), behind),
        QPoint(area.right() + away, middle.y()),
        QPoint(area.left() - away - size.width(), middle.y()),
    )
    places = [_inside(frame, QRect(corner, size), away) for corner in wanted]

    def cost(choice: tuple[QRect, QPoint]) -> tuple[int, int]:
        place, corner = choice
        return _overlap(place, taken), (place.topLeft() - corner).manhattanLength() if _overlap(place, (area,)) else 0

    best = min(zip(places, wanted, strict=True), key=cost)[0]
    return Box(best, rows, frame.palette.raised, frame.palette.border, is_table=True)


def _inside(frame: Frame, box: QRect, away: int) -> QRect:
    """The box, moved into the prices' pane."""
    left = min(max(box.left(), away), max(frame.layout.plot_right - box.width() - away, 0))
    top = min(max(box.top(), away), max(frame.price_pane.bottom - box.height() - away, 0))
    return QRect(QPoint(left, top), box.size())


def _overlap(place: QRect, taken: Sequence[QRect]) -> int:
    """How many pixels of it are taken."""
    return sum(both.width() * both.height() for each in taken if not (both := place.intersected(each)).isEmpty())


def _rows(frame: Frame, found: Measured) -> tuple[Row, ...]:
    palette = frame.palette
    colour = palette.candle(found.change >= 0)
    change = formatting.format_price(found.change, frame.decimals, signed=True)
    percent = formatting.format_percent(found.share, signed=True)
    time = formatting.format_duration(found.duration_ms / 1000.0) if found.duration_ms else formatting.MISSING
    rows: tuple[Row, ...] = (
        (Span(change, colour, bold=True), Span(percent, colour, bold=True)),
        (Span(_candles(found), palette.text), Span(time, palette.text)),
    )
    if found.is_within_candle:
        return rows
    volume = formatting.format_volume(found.volume)
    return (*rows, (Span(translate("Chart", "Volume"), palette.muted_text), Span(volume, palette.text)))


def _candles(found: Measured) -> str:
    if found.is_within_candle:
        return translate("Chart", "less than 1 candle")
    return formatting.format_candles(found.candles)
