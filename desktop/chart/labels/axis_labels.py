"""The axes: which prices and times get a mark, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QRegion

from desktop import formatting
from desktop.chart.axes import time_marks as time_axis
from desktop.chart.axes.price_scale import round_prices
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.text import Row, box_size, padding_px
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane import Pane

_PRICE_LABEL_LINES = 2.7
_PANE_LABEL_LINES = 1.8
_TIME_LABEL_CHARACTERS = 13
_AT_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Label:
    """A text on an axis, in device pixels."""

    area: QRect
    text: str
    colour: QColor
    alignment: Qt.AlignmentFlag
    bold: bool = False


def paint_labels(
    painter: QPainter, frame: Frame, labels: Sequence[Label], taken: Sequence[QRect], wanted: QRegion
) -> None:
    """Paint those that touch the `wanted` pixels; one under a label that is `taken` is left out rather than half
    hidden."""
    for label in labels:
        if not wanted.intersects(label.area) or any(label.area.intersects(other) for other in taken):
            continue
        painter.setFont(frame.fonts.bold if label.bold else frame.fonts.regular)
        painter.setPen(label.colour)
        painter.drawText(label.area, label.alignment, label.text)


def price_marks(frame: Frame) -> list[float]:
    """Prices that get a grid line and a label."""
    most = int(frame.layout.price_bottom / (frame.fonts.line * _PRICE_LABEL_LINES))
    top = (frame.layout.price_bottom - 1) / frame.price_pane.height
    shown = frame.prices.between(0.0, max(top, 1.0))
    return round_prices(shown, max(most, 1), frame.decimals)


def pane_marks(frame: Frame, pane: Pane) -> list[float]:
    """Values of a lower pane that get a grid line and a label; none while it shows no value."""
    if not pane.has_scale:
        return []
    if pane.levels:
        return _with_room(frame, pane)
    most = max(int(pane.height / (frame.fonts.line * _PANE_LABEL_LINES)), 1)
    return round_prices(pane.shown, most, pane.decimals)


def _with_room(frame: Frame, pane: Pane) -> list[float]:
    """Its levels, without those whose label would stand in another's: zero has the first right, then the highest."""
    apart = frame.fonts.metrics.ascent()  # digits have nothing below their line
    kept: list[float] = []
    for level in sorted(pane.levels, key=lambda level: (level != 0.0, -level)):
        is_in_view = pane.shown.low <= level <= pane.shown.high
        if is_in_view and all(abs(pane.y(level) - pane.y(other)) >= apart for other in kept):
            kept.append(level)
    return sorted(kept)


def time_marks(frame: Frame, model: ChartModel) -> list[tuple[int, time_axis.RoundTime]]:
    """Indices that get a grid line and a label, with the round moment each stands for; ranks fall from first to last
    where two would overlap."""
    start, end = model.time_at(max(0, int(frame.left))), model.time_at(max(0, int(frame.right)))
    if start is None or end is None:
        return []
    apart = frame.fonts.metrics.averageCharWidth() * _TIME_LABEL_CHARACTERS
    share = 1.0 if frame.left >= 0 else frame.right / (frame.right - frame.left)
    most = max(1, int(frame.layout.plot_right * share / apart))
    placed = []
    for moment in time_axis.round_times(start, end, most, frame.time_zone):
        index = model.index_from(moment.time_ms)
        if index is not None:
            placed.append((index, moment))
    return _without_overlaps(placed, apart / frame.spacing)


def _without_overlaps(
    placed: list[tuple[int, time_axis.RoundTime]], apart: float
) -> list[tuple[int, time_axis.RoundTime]]:
    """Where gaps press moments together, the larger ones stay."""
    kept: list[tuple[int, time_axis.RoundTime]] = []
    for index, moment in sorted(placed, key=lambda mark: -mark[1].rank):
        if all(abs(index - other) >= 0.8 * apart for other, _ in kept):
            kept.append((index, moment))
    return sorted(kept, key=lambda mark: mark[0])


def price_labels(frame: Frame) -> list[Label]:
    """Of the prices, and of the volume under them."""
    line, axis = frame.fonts.line, frame.layout.price_axis
    inset = frame.pixel + padding_px(frame.fonts)
    colour = frame.palette.muted_text
    labels = []
    for price in price_marks(frame):
        area = QRect(axis.left() + inset, frame.y(price) - line // 2, axis.width() - inset, line)
        if area.top() >= 0 and area.bottom() < frame.layout.price_bottom:
            labels.append(Label(area, frame.price_text(price), colour, _AT_LEFT))
    if frame.style.shows_volume and frame.top_volume > 0:
        top = frame.layout.price_bottom + frame.scaled(2)
        area = QRect(axis.left() + inset, top, axis.width() - inset, line)
        labels.append(Label(area, formatting.format_volume(frame.top_volume), colour, _AT_LEFT))
    return labels


def pane_labels(frame: Frame, pane: Pane) -> list[Label]:
    """Of a pane below the prices."""
    line, axis = frame.fonts.line, frame.layout.price_axis
    inset = frame.pixel + padding_px(frame.fonts)
    labels = []
    for value in pane_marks(frame, pane):
        area = QRect(axis.left() + inset, pane.y(value) - line // 2, axis.width() - inset, line)
        if area.top() > pane.top and area.bottom() < pane.bottom:
            text = formatting.format_level(value, pane.decimals)
            labels.append(Label(area, text, frame.palette.muted_text, _AT_LEFT))
    return labels


def time_labels(frame: Frame, model: ChartModel) -> list[Label]:
    """Of the candles in view and ahead of them."""
    axis, fonts, palette = frame.layout.time_axis, frame.fonts, frame.palette
    seconds = model.series is not None and model.series.interval.duration_ms % 60_000 != 0
    labels = []
    for index, moment in time_marks(frame, model):
        opens_at = model.time_at(index)
        if opens_at is None:
            continue
        is_larger = moment.rank >= time_axis.DAY
        text = time_axis.label(opens_at, moment.rank, frame.time_zone, seconds=seconds)
        width = (fonts.bold_metrics if is_larger else fonts.metrics).horizontalAdvance(text)
        area = QRect(frame.x(index) - width // 2, axis.top(), width + 1, axis.height())
        if area.left() >= 0 and area.right() <= frame.layout.plot_right:
            colour = palette.text if is_larger else palette.muted_text
            labels.append(Label(area, text, colour, Qt.AlignmentFlag.AlignCenter, is_larger))
    return labels


def zone_label(frame: Frame, model: ChartModel) -> list[Label]:
    """The corner under the price axis says which zone the times are in."""
    newest = model.newest
    if newest is None:
        return []
    corner = QRect(frame.layout.time_axis)
    corner.setLeft(frame.layout.plot_right + frame.pixel + padding_px(frame.fonts))
    text = time_axis.zone_name(newest.open_time_ms, frame.time_zone)
    return [Label(corner, text, frame.palette.muted_text, _AT_LEFT)]


def price_label_rect(frame: Frame, row: int, rows: Sequence[Row]) -> QRect:
    """A label on the price axis whose first line is level with `row`, kept inside the axis."""
    axis = frame.layout.price_axis
    height = box_size(rows, frame.fonts).height()
    first_line = box_size(rows[:1], frame.fonts).height()
    top = min(max(row - first_line // 2, 0), max(axis.height() - height, 0))
    return QRect(axis.left() + frame.pixel, top, axis.width() - frame.pixel, height)


def time_label_rect(frame: Frame, column: int, rows: Sequence[Row]) -> QRect:
    """A label on the time axis centred on `column`, kept inside the widget."""
    axis = frame.layout.time_axis
    width = box_size(rows, frame.fonts).width()
    left = min(max(column - width // 2, 0), max(axis.width() - width, 0))
    return QRect(QPoint(left, axis.top() + frame.pixel), QPoint(left + width - 1, axis.bottom()))
