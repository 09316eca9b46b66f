"""What moves with each tick: the forming candle, the last price, its label and countdown, and the axes' labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPen

from core.market.candle import Candle
from desktop import formatting
from desktop.chart import time_axis
from desktop.chart.base_layer import price_marks, time_marks
from desktop.chart.columns import CandleColumns
from desktop.chart.frame import Frame
from desktop.chart.geometry import candle_rects, volume_rects
from desktop.chart.model import ChartModel
from desktop.chart.primitives import fill_rects
from desktop.chart.text import Box, Row, Span, box_size, paint_box


def paint_forming(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    """The candle that is still open, drawn as the real candle it is."""
    if model.forming is None:
        return
    drawn = _as_columns(model.forming, model.count)
    palette = frame.palette
    if frame.shows_volume:
        bars = volume_rects(drawn, frame.widths, frame.xs, frame.volume_ys, frame.layout.plot_bottom - 1)
        fill_rects(painter, bars[0], palette.volume_up)
        fill_rects(painter, bars[1], palette.volume_down)
    candle = candle_rects(drawn, frame.widths, frame.xs, frame.ys)
    for wicks, bodies, colour in (
        (candle.up_wicks, candle.up_bodies, palette.up),
        (candle.down_wicks, candle.down_bodies, palette.down),
    ):
        fill_rects(painter, wicks, colour)
        fill_rects(painter, bodies, colour)


def _as_columns(candle: Candle, index: int) -> CandleColumns:
    return CandleColumns(
        index=np.array([index], dtype=np.float64),
        open=np.array([candle.open]),
        high=np.array([candle.high]),
        low=np.array([candle.low]),
        close=np.array([candle.close]),
        volume=np.array([candle.volume]),
        group=1,
    )


def forming_area(frame: Frame, model: ChartModel) -> QRect:
    """The columns that change with a tick."""
    if model.forming is None:
        return QRect()
    left = frame.x(model.count) - frame.widths.body // 2 - 1
    return QRect(left, 0, frame.widths.body + 3, frame.layout.plot_bottom).intersected(frame.layout.plot)


def last_price_row(frame: Frame, model: ChartModel) -> int | None:
    """The pixel row of the last price; None where it lies out of view."""
    newest = model.newest
    if newest is None or not frame.prices.low <= newest.close <= frame.prices.high:
        return None
    return frame.y(newest.close)


def paint_last_price_line(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    """A dotted line across the plot."""
    row, newest = last_price_row(frame, model), model.newest
    if row is None or newest is None:
        return
    pen = QPen(frame.palette.candle(newest.close >= newest.open), frame.pixel)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([1.0, 3.0])
    painter.setPen(pen)
    painter.drawLine(0, row, frame.layout.plot_right, row)


def last_price_box(frame: Frame, model: ChartModel, countdown: str | None) -> Box | None:
    """The price on the axis, the time to the candle's close under it while there is one."""
    row, newest = last_price_row(frame, model), model.newest
    if row is None or newest is None:
        return None
    ink = frame.palette.inverse_text
    rows: list[Row] = [(Span(formatting.format_price(newest.close, frame.decimals), ink, bold=True),)]
    if countdown is not None:
        rows.append((Span(countdown, ink),))
    ground = frame.palette.candle(newest.close >= newest.open)
    return Box(price_label_rect(frame, row, rows), tuple(rows), ground)


def price_label_rect(frame: Frame, row: int, rows: Sequence[Row]) -> QRect:
    """A label on the price axis whose first line is level with `row`, kept inside the axis."""
    axis = frame.layout.price_axis
    height = box_size(rows, frame.fonts).height()
    first_line = box_size(rows[:1], frame.fonts).height()
    top = min(max(row - first_line // 2, 0), max(axis.height() - height, 0))
    return QRect(axis.left() + frame.pixel, top, axis.width() - frame.pixel, height)


def paint_axis_labels(painter: QPainter, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> None:
    """Round prices and times; those under a label that is `taken` are left out rather than half hidden."""
    painter.setFont(frame.fonts.regular)
    _paint_price_labels(painter, frame, taken)
    _paint_time_labels(painter, frame, model, taken)


def _paint_price_labels(painter: QPainter, frame: Frame, taken: Sequence[QRect]) -> None:
    line, axis = frame.fonts.line, frame.layout.price_axis
    painter.setPen(frame.palette.muted_text)
    for price in price_marks(frame):
        row = frame.y(price)
        area = QRect(axis.left(), row - line // 2, axis.width(), line)
        if area.top() < 0 or area.bottom() >= frame.layout.price_bottom or _collides(area, taken):
            continue
        _draw_price_label(painter, frame, area, formatting.format_price(price, frame.decimals))
    if frame.shows_volume and frame.top_volume > 0:
        top = frame.layout.price_bottom + frame.scaled(2)
        area = QRect(axis.left(), top, axis.width(), line)
        if not _collides(area, taken):
            _draw_price_label(painter, frame, area, formatting.format_volume(frame.top_volume))


def _draw_price_label(painter: QPainter, frame: Frame, area: QRect, text: str) -> None:
    inset = price_inset(frame)
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(area.adjusted(inset, 0, 0, 0), flags, text)


def price_inset(frame: Frame) -> int:
    """Where the axis' texts begin, to the right of its border: the same as in the boxes on it."""
    return frame.pixel + max(2, frame.fonts.line // 3)


def _paint_time_labels(painter: QPainter, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> None:
    axis, fonts = frame.layout.time_axis, frame.fonts
    seconds = model.series is not None and model.series.interval.duration_ms % 60_000 != 0
    for index, moment in time_marks(frame, model):
        opens_at = model.time_at(index)
        if opens_at is None:
            continue
        is_larger = moment.rank >= time_axis.DAY
        text = time_axis.label(opens_at, moment.rank, frame.time_zone, seconds=seconds)
        width = (fonts.bold_metrics if is_larger else fonts.metrics).horizontalAdvance(text)
        area = QRect(frame.x(index) - width // 2, axis.top(), width + 1, axis.height())
        if area.left() < 0 or area.right() > frame.layout.plot_right or _collides(area, taken):
            continue
        painter.setFont(fonts.bold if is_larger else fonts.regular)
        painter.setPen(frame.palette.text if is_larger else frame.palette.muted_text)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)
    _paint_zone(painter, frame, model, taken)


def _paint_zone(painter: QPainter, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> None:
    """The corner under the price axis says which zone the times are in."""
    newest = model.newest
    corner = QRect(frame.layout.time_axis)
    corner.setLeft(frame.layout.plot_right + price_inset(frame))
    if newest is None or _collides(corner, taken):
        return
    painter.setFont(frame.fonts.regular)
    painter.setPen(frame.palette.muted_text)
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(corner, flags, time_axis.zone_name(newest.open_time_ms, frame.time_zone))


def _collides(area: QRect, taken: Sequence[QRect]) -> bool:
    return any(area.intersects(other) for other in taken)


def paint_boxes(painter: QPainter, frame: Frame, boxes: Sequence[Box | None]) -> None:
    """Labels that lie on the axes, in order."""
    for box in boxes:
        if box is not None:
            paint_box(painter, box, frame.fonts)


def time_label_rect(frame: Frame, column: int, rows: Sequence[Row]) -> QRect:
    """A label on the time axis centred on `column`, kept inside the widget."""
    axis = frame.layout.time_axis
    width = box_size(rows, frame.fonts).width()
    left = min(max(column - width // 2, 0), max(axis.width() - width, 0))
    return QRect(QPoint(left, axis.top() + frame.pixel), QPoint(left + width - 1, axis.bottom()))
