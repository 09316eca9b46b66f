"""What moves with each tick: the forming candle and the last price, with its label and the countdown under it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor

from core.market.candle import Candle
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import price_label_rect
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.style import CandleStyle

_LINE_REACH_PX = 4


@dataclass(frozen=True)
class LastPriceLine:
    """Laid out with the labels: a paint between two frames must not draw it where the next does not look for it."""

    row: int
    colour: QColor


def forming_area(frame: Frame, model: ChartModel, *, has_lines: bool = False) -> QRect:
    """The columns that change with a tick. has_lines: something is joined to the candle before."""
    if model.forming is None:
        return QRect()
    left = frame.x(model.count) - frame.widths.body // 2 - 1
    right = left + frame.widths.body + 3
    if has_lines or frame.style.candles is CandleStyle.LINE:  # the newest stretch of a line, and the dot at its end
        reach = frame.scaled(_LINE_REACH_PX)
        left, right = min(left, frame.x(model.count - 1) - reach), max(right, frame.x(model.count) + reach)
    return QRect(left, 0, right - left, frame.layout.plot_bottom).intersected(frame.layout.plot)


def last_price_row(frame: Frame, model: ChartModel) -> int | None:
    """The pixel row of the last price; None where it lies out of view."""
    newest = model.newest
    if newest is None or not frame.prices.low <= newest.close <= frame.prices.high:
        return None
    return frame.y(newest.close)


def last_price_colour(frame: Frame, newest: Candle) -> QColor:
    """Of the newest candle, as it stands now."""
    return frame.palette.candle(newest.close >= newest.open)


def last_price_line(frame: Frame, model: ChartModel) -> LastPriceLine | None:
    """Where the last price is now; None where it lies out of view."""
    row, newest = last_price_row(frame, model), model.newest
    return None if row is None or newest is None else LastPriceLine(row, last_price_colour(frame, newest))


def last_price_box(frame: Frame, model: ChartModel, countdown: str | None) -> Box | None:
    """The price on the axis, the time to the candle's close under it while there is one."""
    row, newest = last_price_row(frame, model), model.newest
    if row is None or newest is None:
        return None
    ink = frame.palette.inverse_text
    rows: list[Row] = [(Span(frame.price_text(newest.close), ink, bold=True),)]
    if countdown is not None:
        rows.append((Span(countdown, ink),))
    ground = last_price_colour(frame, newest)
    return Box(price_label_rect(frame, row, rows), tuple(rows), ground, price=newest.close)
