"""Candles in the selected style, closed and forming."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen

from core.domain.candle import Candle
from desktop.chart.data.columns import CandleColumns, shaped_forming
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.geometry import (
    bar_rects,
    candle_rect,
    candle_rects,
    hollow_rects,
    volume_rect,
    volume_rects,
)
from desktop.chart.painting.primitives import draw_polyline, fill_rects, rects
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.style import CandleStyle

_LINE_WIDTH = 1.5
_NARROWEST_HOLLOW_PX = 3


class ClosedCandlesItem(ChartItem):
    """The visible closed candles with their volumes."""

    pane, z, is_cached = PRICE_PANE, -40.0, True

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if frame.drawn is None:
            return
        _paint_volumes(painter, frame, frame.drawn)
        if frame.style.candles is CandleStyle.LINE:
            _paint_line(painter, frame, frame.drawn)
            return
        before = model.candle(int(frame.drawn.index[0] - (frame.group - 1) / 2.0) - 1)
        _paint_shapes(painter, frame, frame.drawn, None if before is None else before.close)


class FormingCandleItem(ChartItem):
    """The open candle, always drawn in its real prices."""

    pane, z = PRICE_PANE, 20.0

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if model.forming is None:
            return
        if frame.style.candles is CandleStyle.CANDLES:  # the usual case, on every tick: a tenth of the arrays' time
            _paint_plain(painter, frame, model.count, model.forming)
            return
        drawn = shaped_forming(model.series, model.forming, frame.style.candles)
        before = model.candle(model.count - 1)
        _paint_volumes(painter, frame, drawn)
        if frame.style.candles is CandleStyle.LINE:
            _paint_newest_line(painter, frame, model.count, before, model.forming)
            return
        _paint_shapes(painter, frame, drawn, None if before is None else before.close)


def _paint_plain(painter: QPainter, frame: Frame, index: int, candle: Candle) -> None:
    """One candle with its volume, pixel-identical to `_paint_volumes` and `_paint_shapes`."""
    is_rising, palette, column = candle.close >= candle.open, frame.palette, frame.x(index)
    if frame.style.shows_volume and candle.volume > 0:
        colour = palette.volume_up if is_rising else palette.volume_down
        painter.fillRect(
            volume_rect(column, frame.volumes.y(candle.volume), frame.layout.main_bottom - 1, frame.widths), colour
        )
    rows = (frame.y(candle.open), frame.y(candle.high), frame.y(candle.low), frame.y(candle.close))
    for area in candle_rect(column, *rows, frame.widths):
        painter.fillRect(area, palette.candle(is_rising))


def _paint_volumes(painter: QPainter, frame: Frame, drawn: CandleColumns) -> None:
    if not frame.style.shows_volume:
        return
    bars = volume_rects(drawn, frame.widths, frame.xs, frame.volumes.ys, frame.layout.main_bottom - 1)
    fill_rects(painter, bars[0], frame.palette.volume_up)
    fill_rects(painter, bars[1], frame.palette.volume_down)


def _paint_shapes(painter: QPainter, frame: Frame, drawn: CandleColumns, close_before: float | None) -> None:
    palette, style = frame.palette, frame.style.candles
    if style is CandleStyle.BARS:
        up, down = bar_rects(drawn, frame.widths, frame.xs, frame.ys)
    elif style is CandleStyle.HOLLOW and frame.widths.body >= _NARROWEST_HOLLOW_PX * frame.widths.wick:
        up, down = hollow_rects(drawn, frame.widths, frame.xs, frame.ys, close_before)
    else:
        up, down = candle_rects(drawn, frame.widths, frame.xs, frame.ys)
    fill_rects(painter, up, palette.up)
    fill_rects(painter, down, palette.down)


def _paint_line(painter: QPainter, frame: Frame, drawn: CandleColumns) -> None:
    """A line through the closes; if a column holds many candles, also its full range, so that no spike is lost."""
    columns_px = frame.xs(drawn.index)
    if frame.group > 1:
        reach = rects(columns_px, frame.ys(drawn.high), columns_px, frame.ys(drawn.low))
        fill_rects(painter, reach, frame.palette.accent)
    draw_polyline(painter, columns_px + 0.5, frame.ys(drawn.close) + 0.5, _line_pen(frame))


def _paint_newest_line(painter: QPainter, frame: Frame, index: int, before: Candle | None, forming: Candle) -> None:
    """A line from the newest close to the current price, with a dot at its end."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(_line_pen(frame))
    end = QPointF(frame.x(index) + 0.5, frame.y(forming.close) + 0.5)
    if before is not None:
        painter.drawLine(QPointF(frame.x(index - 1) + 0.5, frame.y(before.close) + 0.5), end)
    painter.setBrush(frame.palette.accent)
    painter.drawEllipse(end, frame.scaled(2), frame.scaled(2))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _line_pen(frame: Frame) -> QPen:
    return QPen(frame.palette.accent, _LINE_WIDTH * frame.ratio)
