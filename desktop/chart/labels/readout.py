"""What the chart says about the candle under the cursor: the readout in a corner, and the tooltip of its forecast."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor

from core.events import Ghost
from core.market.candle import Candle
from desktop import formatting
from desktop.chart.data.ghosts import PlacedGhost, band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.forecast_label import age_words
from desktop.chart.labels.past import past_rows
from desktop.chart.labels.room import READOUT_MARGIN_PX, candle_lines, cut, held_words, most_lines, readout_width
from desktop.chart.painting.text import Box, Row, Span, box_size, padding_px, wrapped
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import LayerSet
from desktop.translation import translate

_GROUND_ALPHA = 250
"""Lets a hint of the candles through; any more, and coloured numbers over a candle are below 4.5 to 1."""
_REACH_PX = 14
_SPANS_EACH = 2
"""A number is read out as its name and its digits."""


def readout_box(frame: Frame, model: ChartModel, layers: LayerSet, index: int | None, cursor: QPoint | None) -> Box:
    """The readout of the candle at `index` (None: the newest), in the top left corner, or in the right one while the
    cursor is near. Where both are near it says less, on the side that has more room: above the candles there is some,
    over them there is none. Without rows where there is no room at all."""
    width = readout_width(frame.layout.plot_right, frame.ratio)
    lines = _lines(frame, model, layers, index, width, most_lines(frame.layout.price_bottom, frame.fonts, frame.ratio))
    at_rest = _corner(frame, lines, is_left=True)
    if cursor is None or not _is_near(frame, at_rest, cursor, is_left=True):
        return _box(frame, at_rest, lines)
    opposite = _corner(frame, lines, is_left=False)
    if not _is_near(frame, opposite, cursor, is_left=False):
        return _box(frame, opposite, lines)
    is_left = cursor.x() > frame.layout.plot_right // 2
    free = cursor.x() if is_left else frame.layout.plot_right - cursor.x()
    width = free - 3 * frame.scaled(READOUT_MARGIN_PX) - padding_px(frame.fonts) * 2
    fewer = _lines(frame, model, layers, index, width, len(lines))
    rect = _corner(frame, fewer, is_left=is_left)
    return _box(frame, rect, () if rect.contains(cursor) else fewer)


def _box(frame: Frame, rect: QRect, lines: tuple[Row, ...]) -> Box:
    return Box(rect.intersected(frame.layout.main) if lines else QRect(), lines, _ground(frame))


def _lines(
    frame: Frame, model: ChartModel, layers: LayerSet, index: int | None, width: int, room: int
) -> tuple[Row, ...]:
    """What is read out in at most `room` lines of `width` pixels."""
    title = wrapped(_title_row(frame, model, width), frame.fonts, width)
    title = cut(title, _title_room(frame, model, index, width, room), frame.fonts, width)
    rows = _readout_rows(frame, model, index, width, room - len(title))
    rows += layers.readout_rows(frame, model, index)
    lines = [*title, *(line for row in rows for line in wrapped(row, frame.fonts, width))]
    return tuple(cut(lines, room, frame.fonts, width))


def _title_room(frame: Frame, model: ChartModel, index: int | None, width: int, room: int) -> int:
    """The lines that its prices leave it: the market's name stands over the chart too, they nowhere else."""
    candle = model.candle(_newest_index(model) if index is None else index)
    if candle is None:
        return max(room - 1, 1)
    prices = _prices(frame, candle, frame.palette.text)[:-_SPANS_EACH]
    needed = len(wrapped(prices, frame.fonts, width))
    return room - needed if needed <= room else max(room - 1, 0)


def _corner(frame: Frame, lines: Sequence[Row], *, is_left: bool) -> QRect:
    margin = frame.scaled(READOUT_MARGIN_PX)
    rect = QRect(QPoint(margin, margin), box_size(lines, frame.fonts))
    if not is_left:
        rect.moveRight(max(frame.layout.plot_right - margin, rect.right()))
    return rect


def _is_near(frame: Frame, rect: QRect, cursor: QPoint, *, is_left: bool) -> bool:
    """Whether it would hide what the cursor points at, or is about to point at."""
    near = frame.scaled(READOUT_MARGIN_PX)
    far = 4 * near
    return rect.adjusted(-near if is_left else -far, -near, far if is_left else near, far).contains(cursor)


def pane_readouts(frame: Frame, model: ChartModel, layers: LayerSet, index: int | None) -> tuple[Box, ...]:
    """What each pane below the prices says of the candle at `index`, in its top left corner."""
    boxes = []
    for pane in frame.panes:
        rows = [row for layer in layers.of_pane(pane.name) for row in layer.rows(frame, model, index)]
        line = tuple(span for row in rows for span in row)
        if line:
            lines = tuple(wrapped(line, frame.fonts, readout_width(frame.layout.plot_right, frame.ratio)))
            rect = QRect(QPoint(frame.scaled(6), pane.top + frame.pixel), box_size(lines, frame.fonts))
            boxes.append(Box(rect.intersected(pane.rect), lines, _ground(frame)))
    return tuple(boxes)


def _ground(frame: Frame) -> QColor:
    ground = QColor(frame.palette.background)
    ground.setAlpha(_GROUND_ALPHA)
    return ground


def _readout_rows(frame: Frame, model: ChartModel, index: int | None, width: int, room: int) -> list[Row]:
    """What is said below the title of a candle or a ghost; room: in lines."""
    rows = list[Row]()
    shown = _newest_index(model) if index is None else index
    candle = model.candle(shown)
    if candle is not None:
        ways = _candle_rows(frame, candle, _close_before(model, shown))
        lines = min(candle_lines(model, frame.fonts, width), room)
        rows.append(next((way for way in ways if len(wrapped(way, frame.fonts, width)) <= lines), ways[-1]))
        missing = model.missing_before(shown) if index is not None else 0
        if missing:
            rows.append((_hole_words(frame, model, shown, missing),))
    if index is not None:
        rows.extend(_ghost_rows(frame, model, index))
    return rows


def _hole_words(frame: Frame, model: ChartModel, index: int, missing: int) -> Span:
    """That candles are missing, and whether they are still to be had."""
    text = translate("Chart", "1 candle before this one is missing")
    if missing > 1:
        many = translate("Chart", "{0} candles before this one are missing")
        text = many.format(formatting.format_count(missing))
    if model.holes is None:
        return Span(text, frame.palette.warning)
    absent = model.absent_before(index)
    if absent >= missing:
        return Span(translate("Chart", "{0}: the exchange has none").format(text), frame.palette.muted_text)
    why = translate("Chart", "{0}: not stored yet").format(text)
    if absent:
        some = translate("Chart", "{0}: the exchange has none of {1}, the others are not stored yet")
        why = some.format(text, formatting.format_count(absent))
    return Span(why, frame.palette.warning)


def _title_row(frame: Frame, model: ChartModel, width: int) -> Row:
    palette = frame.palette
    title = (Span(model.title, palette.text, bold=True),) if model.title else ()
    if not frame.is_held:
        return title
    words = held_words(model.title, frame.fonts, width)
    return (*title, *(Span(each, palette.muted_text) for each in words))


def _newest_index(model: ChartModel) -> int:
    return model.count if model.forming is not None else model.count - 1


def _close_before(model: ChartModel, index: int) -> float | None:
    before = model.candle(index - 1)
    return None if before is None else before.close


def _candle_rows(frame: Frame, candle: Candle, close_before: float | None) -> tuple[Row, ...]:
    """Its numbers, and fewer of them: the range is the first to go where there is no room, then the change in price,
    the volume, the change in percent, and all but the close."""
    base = candle.open if close_before is None else close_before
    colour = frame.palette.candle(candle.close >= candle.open)
    change = candle.close - base
    prices, colour_of_change = _prices(frame, candle, colour), frame.palette.candle(change >= 0)
    in_price = Span(formatting.format_price(change, frame.decimals, signed=True), colour_of_change)
    in_percent = Span(f"({formatting.format_percent(change / base, signed=True)})", colour_of_change)
    without_range = (*prices, in_price, in_percent)
    without_volume, close = prices[:-_SPANS_EACH], prices[-2 * _SPANS_EACH : -_SPANS_EACH]
    fewer = ((*prices, in_percent), (*without_volume, in_percent), without_volume, (*close, in_percent), close)
    return (*without_range, *_range(frame, candle)), without_range, *fewer


def _range(frame: Frame, candle: Candle) -> Row:
    text = formatting.format_price(candle.high - candle.low, frame.decimals)
    return Span(translate("Chart", "Range"), frame.palette.muted_text), Span(f" {text}", frame.palette.text, glue=True)


def _prices(frame: Frame, candle: Candle | Ghost, colour: QColor) -> Row:
    muted = frame.palette.muted_text
    named = (("O", candle.open), ("H", candle.high), ("L", candle.low), ("C", candle.close))
    texts = [(name, formatting.format_price(price, frame.decimals)) for name, price in named]
    texts.append(("V", formatting.format_volume(candle.volume)))
    spans: list[Span] = []
    for name, text in texts:
        spans += [Span(name, muted), Span(f" {text}", colour, glue=True)]
    return tuple(spans)


def _ghost_rows(frame: Frame, model: ChartModel, index: int) -> list[Row]:
    placed = next((ghost for ghost in model.ghosts() if ghost.index == index), None)
    if placed is None:
        return []
    palette, ghost = frame.palette, placed.ghost
    colour = palette.ghost(ghost.close >= ghost.open)
    rows = [(Span(_ahead_text(placed), palette.ghost_text, bold=True), *_prices(frame, ghost, colour))]
    ranges = [
        (
            Span(translate("Chart", "{0} % band").format(percent), palette.muted_text),
            Span(f" {_range_text(edges, frame.decimals)}", colour, glue=True),
        )
        for percent in (50, 90)
        if (edges := band(ghost, percent)) is not None
    ]
    if ranges:
        rows.append(tuple(span for pair in ranges for span in pair))
    rows.extend(_made_rows(frame, model))
    conditions = None if model.forecast is None else model.forecast.conditions
    if conditions is not None and conditions.is_odd:
        odd = translate("Chart", "Made of an input unlike any before: {0}").format(conditions.oddity)
        rows.append((Span(odd, palette.warning),))
    return rows


def _made_rows(frame: Frame, model: ChartModel) -> list[Row]:
    """That it is old, and that no model had a part in it."""
    rows: list[Row] = []
    if age := age_words(model):
        rows.append((Span(translate("Chart", "Old forecast: {0}").format(age), frame.palette.warning),))
    if model.forecast is not None and model.forecast.is_by_simple_rules:
        words = translate("Chart", "By the simple rules while the model catches up; not scored")
        rows.append((Span(words, frame.palette.muted_text),))
    return rows


def _ahead_text(placed: PlacedGhost) -> str:
    return translate("Chart", "Forecast +{0}").format(placed.ahead)


def _range_text(edges: tuple[float, float], decimals: int) -> str:
    low, high = (formatting.format_price(edge, decimals) for edge in edges)
    return f"{low} – {high}"


def is_over_candle(frame: Frame, candle: Candle, cursor: QPoint) -> bool:
    """Whether the cursor's row touches the candle, or nearly does."""
    reach = frame.scaled(_REACH_PX)
    return frame.y(candle.high) - reach <= cursor.y() <= frame.y(candle.low) + reach


def tooltip_box(frame: Frame, model: ChartModel, index: int, cursor: QPoint) -> Box | None:
    """What was forecast for the closed candle under the cursor, and how it came out; None where nothing is known."""
    candle = model.candle(index) if index < model.count else None
    if candle is None or not is_over_candle(frame, candle, cursor):
        return None
    forecast = model.past_forecast(index)
    if forecast is None:
        return None
    rows = past_rows(forecast, frame, model.regimes.at(forecast.origin_ms))
    size = box_size(rows, frame.fonts, is_table=True)
    rect = QRect(beside(frame, cursor, size), size)
    return Box(rect, tuple(rows), frame.palette.raised, frame.palette.border, is_table=True)


def beside(frame: Frame, cursor: QPoint, size: QSize) -> QPoint:
    """A corner to the lower right of the cursor, or on whichever side there is room."""
    away = frame.scaled(16)
    x = cursor.x() + away
    if x + size.width() > frame.layout.plot_right:
        x = cursor.x() - away - size.width()
    y = cursor.y() + away
    if y + size.height() > frame.layout.plot_bottom:
        y = cursor.y() - away - size.height()
    return QPoint(max(x, 0), max(y, 0))


def crosshair_rows(frame: Frame, model: ChartModel, index: int, row: int) -> tuple[Sequence[Row], Sequence[Row]]:
    """Texts of the crosshair's labels: the value at a pixel row, and the time. Of the prices that share a row the
    candle's or the ghost's close comes first: keys put the crosshair there, to be read to the last digit."""
    ink = frame.palette.text
    pane = frame.pane_at(row)
    is_price = pane is frame.price_pane
    close = _close_at(model, index) if is_price else None
    value = close if close is not None and pane.y(close) == row else pane.value_at(row)
    price_text = frame.price_text(value) if is_price else formatting.format_level(value, pane.decimals)
    opens_at = model.time_at(index)
    interval_ms = 60_000 if model.series is None else model.series.interval.duration_ms
    seconds = interval_ms % 60_000 != 0
    time_text = formatting.format_time(opens_at, frame.time_zone, seconds=seconds, weekday=True)
    return ((Span(price_text, ink),),), ((Span(time_text, ink),),)


def _close_at(model: ChartModel, index: int) -> float | None:
    candle = model.candle(index)
    if candle is not None:
        return candle.close
    return next((placed.ghost.close for placed in model.ghosts() if placed.index == index), None)
