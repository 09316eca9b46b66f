"""A measurement: a shaded box with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from core.domain.drawings import Anchor
from desktop.chart.data.model import ChartModel
from desktop.chart.items.placed import PlacedLayer
from desktop.chart.painting.primitives import fill_rects, outline
from desktop.chart.painting.text import Box, Row, Span, box_size, paint_box
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import LIVE_Z, PlotLabel
from desktop.ui import formatting
from desktop.ui.theme import with_alpha
from desktop.ui.translation import translate

_SHADE_ALPHA = 34
_EDGE_ALPHA = 150
_ARROW_PX = 5
_AWAY_PX = 8


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement from one place to another."""

    start: Anchor
    end: Anchor
    number: ClassVar[int | None] = None
    """A measurement cannot be selected."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Differences between the two places, over the candles from one to the other."""

    change: float
    share: float
    """The change as a share of the start's price."""
    candles: int
    """Candles from start to end; 0 within one candle or for less than a candle's duration."""
    duration_ms: int
    volume: float | None
    """Volume of all touched candles, including both ends. None for less than a candle's duration, such as a measurement
    made on a shorter interval: a whole candle's volume would be wrong."""

    @property
    def is_within_candle(self) -> bool:
        """Whether it spans time, but less than one candle."""
        return self.volume is None


def measured(measurement: Measurement, model: ChartModel) -> Measured:
    """The numbers of a measurement. There is no volume ahead of the newest candle."""
    start, end = measurement.start, measurement.end
    change = end.price - start.price
    first, last = sorted((model.index_around(start.time_ms) or 0, model.index_around(end.time_ms) or 0))
    duration_ms = abs(end.time_ms - start.time_ms)
    is_short = 0 < duration_ms < model.series.interval.duration_ms
    volume = None
    if not is_short:
        volume = float(model.series.volume[first : last + 1].sum())
        if model.forming is not None and first <= model.count <= last:
            volume += model.forming.volume
    return Measured(
        change=change,
        share=change / start.price,
        candles=0 if is_short else last - first,
        duration_ms=duration_ms,
        volume=volume,
    )


class MeasureLayer(PlacedLayer[Measurement]):
    """Drawn with each paint, as there is at most one."""

    z, is_cached = LIVE_Z, False

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        for measurement in self.back_to_front():
            start, end = _ends_px(frame, model, measurement)
            colour = frame.palette.candle(measurement.end.price >= measurement.start.price)
            area = QRect(start, end).normalized()
            painter.fillRect(area, with_alpha(colour, _SHADE_ALPHA))
            fill_rects(painter, outline(area, frame.pixel), with_alpha(colour, _EDGE_ALPHA))
            _paint_arrows(painter, frame, start, end, colour)

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        """The numbers; none while the measurement is out of view."""
        labels = []
        for measurement in self.back_to_front():
            start, end = _ends_px(frame, model, measurement)
            area, found = QRect(start, end).normalized(), measured(measurement, model)
            if area.intersects(frame.price_pane.rect):
                box = _box(frame, area, taken, is_rising=end.y() <= start.y(), found=found)
                labels.append(PlotLabel(box.rect, box, partial(paint_box, box=box, fonts=frame.fonts)))
        return labels


def _ends_px(frame: Frame, model: ChartModel, shown: Measurement) -> tuple[QPoint, QPoint]:
    points = []
    for mark in (shown.start, shown.end):
        index = model.index_around(mark.time_ms)
        points.append(QPoint(frame.x(0 if index is None else index), frame.y(mark.price)))
    return points[0], points[1]


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
    """Level or upright."""
    along = tip - tail
    length = along.manhattanLength()
    if length < 3 * size:
        return
    painter.drawLine(tail, tip)
    unit = QPointF(along.x() / length, along.y() / length)
    back, side = tip - unit * 1.6 * size, QPointF(-unit.y(), unit.x()) * 0.8 * size
    painter.drawPolygon(QPolygonF([tip, back + side, back - side]))


def _box(frame: Frame, area: QRect, taken: Sequence[QRect], *, is_rising: bool, found: Measured) -> Box:
    """The numbers beyond the end, or on another side if there is no room or the readout is there."""
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
    """The box, moved into the price pane."""
    left = min(max(box.left(), away), max(frame.layout.plot_right - box.width() - away, 0))
    top = min(max(box.top(), away), max(frame.price_pane.bottom - box.height() - away, 0))
    return QRect(QPoint(left, top), box.size())


def _overlap(place: QRect, taken: Sequence[QRect]) -> int:
    """The number of the box's pixels that are taken."""
    return sum(both.width() * both.height() for each in taken if not (both := place.intersected(each)).isEmpty())


def _rows(frame: Frame, found: Measured) -> tuple[Row, ...]:
    palette = frame.palette
    colour = palette.candle(found.change >= 0)
    change = formatting.format_price(found.change, frame.decimals, signed=True)
    percent = formatting.format_percent(found.share, signed=True)
    time = formatting.format_duration(found.duration_ms / 1000.0) if found.duration_ms else formatting.MISSING
    candles = formatting.format_candles(found.candles)
    if found.is_within_candle:
        candles = translate("Chart", "less than 1 candle")
    rows: tuple[Row, ...] = (
        (Span(change, colour, bold=True), Span(percent, colour, bold=True)),
        (Span(candles, palette.text), Span(time, palette.text)),
    )
    if found.is_within_candle:
        return rows
    volume = formatting.format_volume(found.volume)
    return (*rows, (Span(translate("Chart", "Volume"), palette.muted_text), Span(volume, palette.text)))
