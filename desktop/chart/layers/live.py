"""What moves with each tick: the forming candle and the last price, with its label and the countdown under it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen

from core.market.candle import Candle
from desktop import formatting
from desktop.chart.data.columns import CandleColumns
from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.geometry import candle_rects, volume_rects
from desktop.chart.drawing.primitives import fill_rects
from desktop.chart.drawing.text import Box, Row, Span
from desktop.chart.framing.frame import Frame
from desktop.chart.layers.axes import price_label_rect


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
