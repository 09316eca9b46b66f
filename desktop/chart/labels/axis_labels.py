"""Axis marks and their labels, the crosshair's labels, and how labels in a column avoid one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QRegion

from desktop.chart.axes.price_scale import ScaleKind, round_prices
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.chance import short_chance
from desktop.chart.painting.text import Box, Row, Span, box_size, padding_px
from desktop.chart.panes.frame import Frame, Pane
from desktop.ui import formatting, round_times

_PRICE_LABEL_LINES = 2.7
_SMALL_AXIS_LABEL_LINES = 2.2
_PANE_LABEL_LINES = 1.8
_TIME_LABEL_CHARACTERS = 13
_AT_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

TimeMark = tuple[int, round_times.RoundTime]


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
    """Paint the labels that touch the `wanted` pixels; those covered by a `taken` one are skipped rather than half
    hidden."""
    for label in labels:
        if not wanted.intersects(label.area) or any(label.area.intersects(other) for other in taken):
            continue
        painter.setPen(label.colour)
        if label.alignment == _AT_LEFT and label.area.height() == frame.fonts.line:  # in a third of the time
            baseline = label.area.top() + frame.fonts.metrics.ascent()
            frame.fonts.draw(painter, label.area.left(), baseline, label.text, bold=label.bold)
        else:
            painter.setFont(frame.fonts.bold if label.bold else frame.fonts.regular)
            painter.drawText(label.area, label.alignment, label.text)


def value_marks(frame: Frame, pane: Pane) -> list[float]:
    """Values of a pane that get a grid line and a label; none without data."""
    if pane is frame.price_pane:
        lines = _SMALL_AXIS_LABEL_LINES if frame.style.has_small_axes else _PRICE_LABEL_LINES
        most = int(frame.layout.price_bottom / (frame.fonts.line * lines))
        top = (frame.layout.price_bottom - 1) / pane.height
        return round_prices(pane.shown.between(0.0, max(top, 1.0)), max(most, 1), frame.decimals)
    if not pane.has_scale:
        return []
    if pane.levels:
        return _with_room(frame, pane)
    most = max(int(pane.height / (frame.fonts.line * _PANE_LABEL_LINES)), 1)
    return round_prices(pane.shown, most, pane.decimals)


def _with_room(frame: Frame, pane: Pane) -> list[float]:
    """The pane's levels except those with overlapping labels: zero takes precedence, then the highest."""
    apart = frame.fonts.metrics.ascent()  # digits have no descenders
    kept: list[float] = []
    for level in sorted(pane.levels, key=lambda level: (level != 0.0, -level)):
        is_in_view = pane.shown.low <= level <= pane.shown.high
        if is_in_view and all(abs(pane.y(level) - pane.y(other)) >= apart for other in kept):
            kept.append(level)
    return sorted(kept)


def time_marks(frame: Frame, model: ChartModel) -> Sequence[TimeMark]:
    """Indices that get a grid line and a label, each with its round moment. If gaps bring moments too close together,
    the larger units win."""
    start, end = model.time_at(max(0, int(frame.left))), model.time_at(max(0, int(frame.right)))
    if start is None or end is None:
        return []
    apart = frame.fonts.metrics.averageCharWidth() * _TIME_LABEL_CHARACTERS
    share = 1.0 if frame.left >= 0 else frame.right / (frame.right - frame.left)
    most = max(1, int(frame.layout.plot_right * share / apart))
    room = 0.8 * (apart / frame.spacing)
    kept: list[TimeMark] = []
    for moment in sorted(round_times.round_times(start, end, most, frame.time_zone), key=lambda moment: -moment.rank):
        index = model.index_from(moment.time_ms)
        if index is not None and all(abs(index - other) >= room for other, _ in kept):
            kept.append((index, moment))
    return sorted(kept, key=lambda mark: mark[0])


def value_labels(frame: Frame, pane: Pane) -> list[Label]:
    """Labels of a pane's values; below the prices, also of the volume."""
    line, axis, colour = frame.fonts.line, frame.layout.price_axis, frame.palette.muted_text
    left, is_price = axis.left() + frame.pixel + padding_px(frame.fonts), pane is frame.price_pane
    first, stop = (0, frame.layout.price_bottom) if is_price else (pane.top + 1, pane.bottom)
    marks = value_marks(frame, pane)
    texts = zip(marks, _mark_texts(frame, pane, marks), strict=True)
    placed = [(pane.y(value) - line // 2, text) for value, text in texts]
    placed = [(top, text) for top, text in placed if first <= top <= stop - line]
    if is_price and frame.style.shows_volume and frame.top_volume > 0:
        placed.append((stop + frame.scaled(2), formatting.format_volume(frame.top_volume)))
    width = axis.right() + 1 - left
    return [Label(QRect(left, top, width, line), text, colour, _AT_LEFT) for top, text in placed]


def time_labels(frame: Frame, model: ChartModel, marks: Sequence[TimeMark]) -> list[Label]:
    """Labels of the candles in view and ahead of them, and the time zone in the corner below the price axis."""
    axis, fonts, palette = frame.layout.time_axis, frame.fonts, frame.palette
    labels = []
    for index, moment in marks:
        opens_at = model.time_at(index)
        if opens_at is None:
            continue
        is_larger = moment.rank >= round_times.DAY
        text = round_times.label(opens_at, moment.rank, frame.time_zone, seconds=model.series.interval.has_seconds)
        width = fonts.width(text, bold=is_larger)
        area = QRect(frame.x(index) - width // 2, axis.top(), width + 1, axis.height())
        if area.left() >= 0 and area.right() <= frame.layout.plot_right:
            colour = palette.text if is_larger else palette.muted_text
            labels.append(Label(area, text, colour, Qt.AlignmentFlag.AlignCenter, is_larger))
    if model.newest is not None and not frame.style.has_small_axes:
        axis.setLeft(frame.layout.plot_right + frame.pixel + padding_px(fonts))
        zone = round_times.zone_name(model.newest.open_time_ms, frame.time_zone)
        labels.append(Label(axis, zone, palette.muted_text, _AT_LEFT))
    return labels


def crosshair_labels(frame: Frame, model: ChartModel, index: int, row: int) -> tuple[Box | None, Box]:
    """The value at a pixel row (None if undefined) and the time. Of the prices that share a row, the close of candle or
    ghost wins: the keyboard crosshair is there, to be read to the last digit."""
    palette, pane, axis = frame.palette, frame.pane_at(row), frame.layout.time_axis
    has_seconds = model.series.interval.has_seconds
    time = formatting.format_time(model.time_at(index), frame.time_zone, seconds=has_seconds, weekday=True)
    rows: tuple[Row, ...] = ((Span(time, palette.text),),)
    width = box_size(rows, frame.fonts).width()
    left = min(max(frame.x(index) - width // 2, 0), max(axis.width() - width, 0))
    area = QRect(QPoint(left, axis.top() + frame.pixel), QPoint(left + width - 1, axis.bottom()))
    time_label = Box(area, rows, palette.raised, palette.border)
    is_price = pane is frame.price_pane
    if not pane.has_scale or row >= pane.inner_bottom or (row < pane.inner_top and not is_price):
        return None, time_label
    close = model.close_at(index) if is_price else None
    value = close if close is not None and pane.y(close) == row else pane.value_at(row)
    rows = ((Span(_value_text(frame, pane, value), palette.text),),)
    if is_price and (chance := short_chance(frame, model, value)):
        rows += ((Span(chance, palette.muted_text),),)
    price = pane.value_at(row) if is_price else None
    return Box(price_label_rect(frame, row, rows), rows, palette.raised, palette.border, price=price), time_label


def price_label_rect(frame: Frame, row: int, rows: Sequence[Row]) -> QRect:
    """A label on the price axis whose first line is level with `row`, kept inside the axis."""
    axis = frame.layout.price_axis
    height = box_size(rows, frame.fonts).height()
    first_line = box_size(rows[:1], frame.fonts).height()
    top = min(max(row - first_line // 2, 0), max(axis.height() - height, 0))
    return QRect(axis.left() + frame.pixel, top, axis.width() - frame.pixel, height)


def _value_text(frame: Frame, pane: Pane, value: float) -> str:
    return frame.price_text(value) if pane is frame.price_pane else formatting.format_level(value, pane.decimals)


def _mark_texts(frame: Frame, pane: Pane, marks: Sequence[float]) -> list[str]:
    """The marks' labels; small axes omit trailing zeros that all of them have."""
    if pane is not frame.price_pane or not frame.style.has_small_axes or frame.prices.kind is ScaleKind.PERCENT:
        return [_value_text(frame, pane, value) for value in marks]
    enough = (decimals for decimals in range(frame.decimals) if all(round(mark, decimals) == mark for mark in marks))
    decimals = next(enough, frame.decimals)
    return [formatting.format_level(value, decimals) for value in marks]


def avoid_overlaps(tags: Sequence[Box], axis_height: int, taken: Sequence[Box]) -> None:
    """Move tags of one height, each with its price, apart and away from `taken`. If a tag has no room on its own side
    of all `taken`, its side of the first one counts."""
    if not tags:
        return
    tags = sorted(tags, key=lambda tag: -_price(tag))
    rows = [(box.rect.top(), box.rect.bottom() + 1) for box in taken]
    above = [None if box.price is None else sum(_price(tag) > box.price for tag in tags) for box in taken]
    tops = spread_around([tag.rect.top() for tag in tags], tags[0].rect.height(), 0, axis_height, rows, above)
    for tag, top in zip(tags, tops, strict=True):
        tag.rect.moveTop(top)


def leaving_room(last_price: Box, tags: Sequence[Box], axis_height: int) -> Box:
    """The last price's label, moved from the axis' end if prices beyond it need the room and there is enough."""
    higher = sum(tag.rect.height() for tag in tags if _price(tag) > _price(last_price))
    lower = sum(tag.rect.height() for tag in tags) - higher
    lowest = axis_height - lower - last_price.rect.height()
    top = max(min(last_price.rect.top(), lowest), higher)
    return last_price if top == last_price.rect.top() or top > lowest else _at(last_price, top)


def clear_of_crosshair(last_price: Box, crosshair: Box, axis_height: int) -> Box:
    """The last price's label, above or below the crosshair's if they overlap, on the side of its price, or on the other
    at the axis' end. It stays if there is room on neither."""
    rect, other = last_price.rect, crosshair.rect
    if not rect.intersects(other):
        return last_price
    above, below = other.top() - rect.height(), other.bottom() + 1
    is_higher = crosshair.price is not None and _price(last_price) > crosshair.price
    tops = (above, below) if is_higher else (below, above)
    found = next((top for top in tops if 0 <= top <= axis_height - rect.height()), None)
    return last_price if found is None else _at(last_price, found)


def _price(tag: Box) -> float:
    assert tag.price is not None, "a label on the price axis has a price"
    return tag.price


def _at(box: Box, top: int) -> Box:
    return replace(box, rect=QRect(box.rect.left(), top, box.rect.width(), box.rect.height()))


def spread(wanted: Sequence[int], height: int, first: int, stop: int) -> list[int]:
    """Tops for boxes whose preferred tops are the `wanted` pixel rows, within rows first..stop - 1.

    Overlapping boxes move by as little as possible in total and keep their order. If there is not enough room for all,
    they overlap evenly.
    """
    count = len(wanted)
    order = sorted(range(count), key=lambda place: wanted[place])
    step = height if count * height <= stop - first else max((stop - first - height) / max(count - 1, 1), 0.0)
    last = max(stop - height - (count - 1) * step, first)
    groups: list[tuple[float, int]] = []  # mean preferred top of the first box, and the number of boxes
    for place, box in enumerate(order):
        mean, size = float(wanted[box] - place * step), 1
        while groups and groups[-1][0] > mean:
            before, more = groups.pop()
            mean, size = (before * more + mean * size) / (more + size), more + size
        groups.append((mean, size))
    starts = [min(max(mean, first), last) for mean, size in groups for _ in range(size)]
    tops = [0] * count
    for place, box in enumerate(order):
        tops[box] = int(starts[place] + place * step)
    return tops


def spread_around(
    wanted: Sequence[int],
    height: int,
    first: int,
    stop: int,
    taken: Sequence[tuple[int, int]],
    above: Sequence[int | None] = (),
) -> list[int]:
    """`spread` that also avoids the `taken` rows, each a pair of the first row and the one after its last.

    above: how many boxes belong above each of the taken, None if that does not matter; earlier entries of `taken` take
    precedence. A box goes to the nearest room on its side of them, or to the next if that is full; without any room,
    `taken` is ignored.
    """
    rooms = [(top, bottom) for top, bottom in _rooms(first, stop, taken) if bottom - top >= height]
    if not rooms:
        return spread(wanted, height, first, stop)
    sides = [(top, count) for (top, _), count in zip(taken, above, strict=bool(above)) if count is not None]
    filled: list[list[int]] = [[] for _ in rooms]
    for rank, box in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        misfits = [_misfit(room, wanted[box], height, rank, sides) for room in rooms]
        filled[misfits.index(min(misfits))].append(box)
    most = [(bottom - top) // height for top, bottom in rooms]
    parting = sum(bottom <= sides[0][0] for _, bottom in rooms) if sides else 0
    for part in (slice(parting), slice(parting, None), slice(None)):  # first within each side
        _even_out(filled[part], most[part])
    tops = [0] * len(wanted)
    for boxes, (top, bottom) in zip(filled, rooms, strict=True):
        for box, found in zip(boxes, spread([wanted[box] for box in boxes], height, top, bottom), strict=True):
            tops[box] = found
    return tops


def _rooms(first: int, stop: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The free parts of first..stop - 1 between the taken rows."""
    rooms, top = [], first
    for taken_top, taken_stop in sorted(taken):
        rooms.append((top, min(taken_top, stop)))
        top = max(top, taken_stop)
    return [*rooms, (top, stop)]


def _misfit(
    room: tuple[int, int], wanted: int, height: int, rank: int, sides: Sequence[tuple[int, int]]
) -> tuple[tuple[bool, ...], int]:
    """How badly a room suits a box below `rank` others: the taken rows that it is on the wrong side of, and its
    distance."""
    wrong = tuple((room[1] <= top) != (rank < count) for top, count in sides)
    return wrong, abs(min(max(wanted, room[0]), room[1] - height) - wanted)


def _even_out(filled: list[list[int]], most: list[int]) -> None:
    """Move surplus boxes downwards, then upwards; the order stays."""
    for place in range(len(filled) - 1):
        filled[place + 1][:0] = filled[place][most[place] :]
        del filled[place][most[place] :]
    for place in range(len(filled) - 1, 0, -1):
        excess = max(len(filled[place]) - most[place], 0)
        filled[place - 1] += filled[place][:excess]
        del filled[place][:excess]
