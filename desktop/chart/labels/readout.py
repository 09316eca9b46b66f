"""The readout of the candle under the cursor, the room that it needs, and the tooltip of the candle's forecast."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor

from core.domain.candle import Candle
from core.domain.events import Ghost
from desktop.chart.data.ghosts import band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.inside import inside_rows, inside_sketch
from desktop.chart.labels.past import past_rows
from desktop.chart.painting.sketch import Sketch
from desktop.chart.painting.text import Box, Fonts, Row, Span, box_size, fitting_row, padding_px, row_width, wrapped
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import LayerSet
from desktop.ui import formatting
from desktop.ui.translation import translate

READOUT_MARGIN_PX = 6
"""Distance between the readout and the edges of its pane."""
_GROUND_ALPHA = 250
"""Slightly transparent; any more, and coloured numbers over a candle fall below a contrast of 4.5:1."""
_REACH_PX = 14
_SPANS_EACH = 2
"""A number consists of its name and its digits."""
_TOOLTIP_PX = 320
_WIDE_DIGITS = str.maketrans(dict.fromkeys("012345679", "8"))
"""Room is reserved for a price of this many digits, so that the layout does not change with each tick."""
_USUAL_CHANGE = 0.001
_VOLUME = 888.8
_MARGIN_PX = 24
_ROW_END = Span("\n", QColor())
_MOST_SHARE = 0.5


def readout_box(frame: Frame, model: ChartModel, layers: LayerSet, index: int | None, cursor: QPoint | None) -> Box:
    """The readout of the candle at `index` (None: the newest), in the top left corner, or in the right one if the
    cursor is near. If the cursor is near both, it is shortened on the side with more room, because there is room above
    the candles but not over them. Empty if there is no room at all."""
    if not frame.style.shows_readout:
        return _box(frame, QRect(), ())
    width = readout_width(frame.layout.plot_right, frame.ratio)
    most = int(_most_height(frame) / frame.fonts.line) - (1 if has_label(frame) else 0)  # the candles keep some room
    lines = _lines(frame, model, layers, index, width, max(most, 0))
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
    return Box(rect.intersected(frame.price_pane.rect) if lines else QRect(), lines, _ground(frame))


def _lines(
    frame: Frame, model: ChartModel, layers: LayerSet, index: int | None, width: int, room: int
) -> tuple[Row, ...]:
    """The text in at most `room` lines of `width` pixels."""
    shown, fonts = model.newest_index if index is None else index, frame.fonts
    candle, before = model.candle(shown), model.candle(shown - 1)
    inks = (frame.palette.text, frame.palette.muted_text)
    title = wrapped(_title_row(model.title, fonts, width, inks, is_manual=frame.is_manual), fonts, width)
    title = _cut(title, _title_room(frame, candle, width, room), fonts, width)
    rows: list[Row] = []
    if candle is not None:
        ways = _candle_rows(frame, candle, None if before is None else before.close)
        rows.append(fitting_row(ways, fonts, width, min(_candle_lines(model, fonts, width), room - len(title))))
    if candle is not None and index is not None:
        rows += _hole_rows(frame, model, index)
    if index is not None:
        rows += _ghost_rows(frame, model, index)
    rows += layers.readout_rows(frame, model, index)
    lines = [*title, *(line for row in rows for line in wrapped(row, fonts, width))]
    return tuple(_cut(lines, room, fonts, width))


def _title_row(title: str, fonts: Fonts, width: int, inks: tuple[QColor, QColor], *, is_manual: bool) -> Row:
    """The market, and that the price scale is manual: as a full sentence if a line has room."""
    market = (Span(title, inks[0], bold=True),) if title else ()
    if not is_manual:
        return market
    words = translate("Chart", "Manual price scale."), translate("Chart", "Alt+A: auto-fit.")
    whole = (*market, *(Span(each, inks[1]) for each in words))
    return whole if row_width(whole, fonts) <= width else (*market, Span(translate("Chart", "Manual: Alt+A"), inks[1]))


def _title_room(frame: Frame, candle: Candle | None, width: int, room: int) -> int:
    """Lines left beside the prices: the market's name is shown above the chart too, the prices only here."""
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
    """Whether it would cover what the cursor points at or is approaching."""
    near = frame.scaled(READOUT_MARGIN_PX)
    far = 4 * near
    return rect.adjusted(-near if is_left else -far, -near, far if is_left else near, far).contains(cursor)


def pane_readouts(frame: Frame, model: ChartModel, layers: LayerSet, index: int | None) -> tuple[Box, ...]:
    """The readout of each pane below the prices for the candle at `index`, in its top left corner."""
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


def _hole_rows(frame: Frame, model: ChartModel, index: int) -> list[Row]:
    """Reports missing candles, and whether they can still be loaded."""
    missing, absent, ink = model.missing_before(index), model.absent_before(index), frame.palette.warning
    if not missing:
        return []
    text = translate("Chart", "1 candle before this one is missing")
    if missing > 1:
        many = translate("Chart", "{0} candles before this one are missing")
        text = many.format(formatting.format_count(missing))
    if model.holes is not None and absent >= missing:
        text, ink = translate("Chart", "{0}: the exchange has none").format(text), frame.palette.muted_text
    elif absent:
        some = translate("Chart", "{0}: the exchange has none of {1}, the others are not stored yet")
        text = some.format(text, formatting.format_count(absent))
    elif model.holes is not None:
        text = translate("Chart", "{0}: not stored yet").format(text)
    return [(Span(text, ink),)]


def _candle_rows(frame: Frame, candle: Candle, close_before: float | None) -> tuple[Row, ...]:
    """The candle's numbers, in ever shorter variants: without room the range is dropped first, then the change in
    price, the volume, the change in percent, and all but the close."""
    base = candle.open if close_before is None else close_before
    colour = frame.palette.candle(candle.close >= candle.open)
    change = candle.close - base
    prices, colour_of_change = _prices(frame, candle, colour), frame.palette.candle(change >= 0)
    in_price = Span(formatting.format_price(change, frame.decimals, signed=True), colour_of_change)
    in_percent = Span(f"({formatting.format_percent(change / base, signed=True)})", colour_of_change)
    in_range = formatting.format_price(candle.high - candle.low, frame.decimals)
    range_row = _named([(translate("Chart", "Range"), in_range)], frame.palette.muted_text, frame.palette.text)
    without_range = (*prices, in_price, in_percent)
    without_volume, close = prices[:-_SPANS_EACH], prices[-2 * _SPANS_EACH : -_SPANS_EACH]
    fewer = ((*prices, in_percent), (*without_volume, in_percent), without_volume, (*close, in_percent), close)
    return (*without_range, *range_row), without_range, *fewer


def _prices(frame: Frame, candle: Candle | Ghost, colour: QColor) -> Row:
    prices = (candle.open, candle.high, candle.low, candle.close)
    texts = (formatting.format_price(price, frame.decimals) for price in prices)
    return _numbers(texts, candle.volume, frame.palette.muted_text, colour)


def _numbers(prices: Iterable[str], volume: float, names: QColor, ink: QColor) -> Row:
    return _named(zip("OHLCV", (*prices, formatting.format_volume(volume)), strict=True), names, ink)


def _named(texts: Iterable[tuple[str, str]], names: QColor, ink: QColor) -> Row:
    """Each text after its name, on the same line."""
    return tuple(span for name, text in texts for span in (Span(name, names), Span(f" {text}", ink, glue=True)))


def _ghost_rows(frame: Frame, model: ChartModel, index: int) -> list[Row]:
    placed, made, palette = model.ghost(index), model.forecast, frame.palette
    if placed is None or made is None:
        return []
    ghost, colour = placed.ghost, palette.ghost(placed.ghost.close >= placed.ghost.open)
    ahead = Span(translate("Chart", "Forecast +{0}").format(placed.ahead), palette.ghost_text, bold=True)
    bands = [
        (
            translate("Chart", "{0} % band").format(percent),
            " – ".join(formatting.format_price(edge, frame.decimals) for edge in edges),
        )
        for percent in (50, 90)
        if (edges := band(ghost, percent)) is not None
    ]
    rows = [(ahead, *_prices(frame, ghost, colour)), _named(bands, palette.muted_text, colour)]
    if age := age_text(model):
        rows.append((Span(translate("Chart", "Old forecast: {0}").format(age), palette.warning),))
    if made.is_by_simple_rules:
        words = translate("Chart", "Simple rules while the model catches up; not scored")
        rows.append((Span(words, palette.muted_text),))
    return [row for row in rows if row]


def age_text(model: ChartModel) -> str:
    """``made 3 candles ago``; empty for a forecast that includes the newest closed candle."""
    age = model.forecast_age
    return translate("Chart", "made {0} ago").format(formatting.format_candles(age)) if age else ""


def tooltip_box(frame: Frame, model: ChartModel, index: int, cursor: QPoint) -> Box | None:
    """Forecast, outcome and inside of the closed candle under or near the cursor; None if neither is known."""
    candle = model.candle(index) if index < model.count else None
    reach = frame.scaled(_REACH_PX)
    if candle is None or not frame.y(candle.high) - reach <= cursor.y() <= frame.y(candle.low) + reach:
        return None
    forecast, known = model.past_forecast(index), model.inside(index)
    rows: list[Row] = []
    if forecast is not None:
        rows += past_rows(forecast, frame, model.regimes.at(forecast.origin_ms), model.past.nearest_kept(forecast))
    if known is None:
        return tip(frame, cursor, rows, is_table=True) if rows else None
    rows += inside_rows(known, frame)
    sketch = inside_sketch(known, candle, model.series.interval.duration_ms, frame)
    return tip(frame, cursor, rows, is_table=True, sketch=sketch)


def text_tip(frame: Frame, cursor: QPoint, text: str) -> Box:
    """The full text of a shortened label."""
    return tip(frame, cursor, wrapped((Span(text, frame.palette.text),), frame.fonts, frame.scaled(_TOOLTIP_PX)))


def tip(
    frame: Frame,
    cursor: QPoint,
    rows: Sequence[Row],
    *,
    is_table: bool = False,
    right: int | None = None,
    sketch: Sketch | None = None,
) -> Box:
    """A box to the lower right of the cursor, or on another side with more room. right: the right end of its room, in
    device pixels; None: the price axis."""
    end = frame.layout.plot_right if right is None else right
    size, away = box_size(rows, frame.fonts, is_table=is_table, sketch=sketch), frame.scaled(16)
    x, y = cursor.x() + away, cursor.y() + away
    if x + size.width() > end:
        x = min(cursor.x(), end) - away - size.width()
    if y + size.height() > frame.layout.plot_bottom:
        y = cursor.y() - away - size.height()
    place = QRect(QPoint(max(x, 0), max(y, 0)), size)
    return Box(place, tuple(rows), frame.palette.raised, frame.palette.border, is_table=is_table, sketch=sketch)


def readout_width(plot_right: int, ratio: float) -> int:
    """Maximum width of its lines, in device pixels."""
    return max(plot_right - round(_MARGIN_PX * ratio), 1)


def readout_lines(model: ChartModel, layers: LayerSet, fonts: Fonts, width: int) -> int:
    """Lines it needs while nothing is pointed at, whatever the current digits: candles and the forecast's label avoid
    them."""
    title = fonts.cached(("title", model.title, width), lambda: _title_lines(model.title, fonts, width))
    samples = layers.readout_samples(model)
    texts = ((span.text, span.bold, span.glue) for row in samples for span in (*row, _ROW_END))
    further = fonts.cached((width, *texts), lambda: sum(len(wrapped(row, fonts, width)) for row in samples))
    return title + further + _candle_lines(model, fonts, width)


def has_label(frame: Frame) -> bool:
    """Whether the forecast's label gets a line of the readout's room: without another free line it moves, or half of it
    would be hidden."""
    return _most_height(frame) >= 2 * frame.fonts.line


def _most_height(frame: Frame) -> float:
    return frame.layout.price_bottom * _MOST_SHARE - frame.scaled(READOUT_MARGIN_PX) - padding_px(frame.fonts)


def _cut(lines: Sequence[Row], most: int, fonts: Fonts, width: int) -> list[Row]:
    """The first lines; omissions are marked at the end of the last."""
    if len(lines) <= most or most < 1:
        return list(lines[:most])
    last = lines[most - 1]
    mark = Span(" …", last[-1].colour, glue=True)
    while len(last) > 1 and row_width((*last, mark), fonts) > width:
        last = last[:-1]
    return [*lines[: most - 1], (*last, mark)]


def _title_lines(title: str, fonts: Fonts, width: int) -> int:
    row = _title_row(title, fonts, width, (QColor(), QColor()), is_manual=True)
    return len(wrapped(row, fonts, width)) if title else 0


def _candle_lines(model: ChartModel, fonts: Fonts, width: int) -> int:
    """Lines reserved for a candle's numbers: enough for the shortest variant; a longer one is used if it fits."""
    newest = model.newest
    if newest is None:
        return 0
    price = formatting.format_price(newest.close, model.decimals()).translate(_WIDE_DIGITS)
    return fonts.cached((price, "", width), lambda: _numbers_lines(price, fonts, width))


def _numbers_lines(price: str, fonts: Fonts, width: int) -> int:
    plain = QColor()
    percent = Span(f"({formatting.format_percent(_USUAL_CHANGE, signed=True)})", plain)
    return len(wrapped((*_numbers([price] * 4, _VOLUME, plain, plain), percent), fonts, width))
