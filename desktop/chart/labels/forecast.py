"""The label over the forecast (its mode and age), and the remark beside it: why it is old or missing, and which candles
it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.readout import age_text, has_label, text_tip
from desktop.chart.painting.text import Box, Fonts, Row, Span, box_size, padding_px, row_width, wrapped
from desktop.chart.panes.frame import Frame
from desktop.chart.style import Style
from desktop.ui.formatting import format_clock, format_duration, format_time
from desktop.ui.plain_text import elided_by_words
from desktop.ui.translation import translate
from desktop.ui.words import word

_FIRST_AND_NEXT = 2
_DAY_MS = 86_400_000
_LONG_INTERVAL_MS = 10 * 60_000
"""At shorter intervals the next forecast arrives before this can be read."""
_MARGIN_PX = 6
_FEWEST_LETTERS = 8
"""Minimum characters of a shortened remark."""


def mode_text(model: ChartModel) -> str:
    """``forecast (replay)``. The mode is omitted for a live forecast."""
    made = model.forecast
    if made is None or made.mode is ForecastMode.LIVE:
        return translate("Chart", "Forecast")
    if made.is_by_simple_rules:
        return translate("Chart", "Forecast (baselines only, not scored)")
    return translate("Chart", "Forecast ({0})").format(word(made.mode))


def divider_x(frame: Frame, model: ChartModel) -> int:
    """The pixel column between the newest closed candle and the first one ahead."""
    return (frame.x(model.count - 1) + frame.x(model.count)) // 2


def forecast_label(frame: Frame, model: ChartModel) -> Box | None:
    """The ghosts' label at the divider; None without ghosts or room."""
    x = divider_x(frame, model)
    if not model.ghosts() or not 0 <= x < frame.layout.plot_right or not has_label(frame):
        return None
    row = divider_row(frame, model)
    size = box_size((row,), frame.fonts)
    # Over the candles before the divider rather than cut: the mode must be readable.
    column = min(x + frame.scaled(4), frame.layout.plot_right - size.width())
    corner = QPoint(max(column, 0), frame.layout.price_top - size.height())
    return Box(QRect(corner, size), (row,), frame.palette.background)


def clear_of(frame: Frame, label: Box | None, readout: QRect) -> Box | None:
    """The label in its place, or below a readout that has grown into it. Their edges may overlap, their text may
    not."""
    if label is None:
        return None
    rect = QRect(label.rect)
    rect.moveTop(frame.layout.price_top - rect.height())
    if rect.left() <= readout.right() and rect.top() + padding_px(frame.fonts) <= readout.bottom():
        rect.moveTop(readout.bottom() + 1)
    return label if rect == label.rect else replace(label, rect=rect)


def divider_row(frame: Frame, model: ChartModel) -> Row:
    """Mode, age, and why it is not live, if there is room. The age of an old forecast is always included."""
    palette = frame.palette
    old = _said(_shown_age(model), palette.warning if model.is_forecast_old else palette.muted_text)
    made = (Span(mode_text(model), palette.ghost_text), *old)
    after = _said(_lateness(frame, model), palette.muted_text)
    rows = (made + after, made)
    return next((row for row in rows if box_size((row,), frame.fonts).width() <= frame.layout.plot_right), old or made)


def _shown_age(model: ChartModel) -> str:
    """Empty for one candle if that is usual: the next forecast is on its way, and the label would flicker."""
    return age_text(model) if model.is_forecast_old or model.forecast_age > 1 else ""


def _said(text: str, colour: QColor) -> Row:
    return (Span(text, colour),) if text else ()


def usual_width(model: ChartModel, fonts: Fonts) -> int:
    """Width of the label with only mode and age; 0 without a forecast."""
    row = (*_said(mode_text(model), QColor()), *_said(_shown_age(model), QColor()))
    return box_size((row,), fonts).width() if model.ghosts() else 0


def _lateness(frame: Frame, model: ChartModel) -> str:
    """The delay of a forecast made within its first candle, as after a start: at a long interval it is shown for hours.
    Empty if there is none."""
    made, series = model.forecast, model.series
    if made is None or made.mode is not ForecastMode.CATCH_UP or len(made.ghosts) < _FIRST_AND_NEXT:
        return ""
    first_ms, next_ms = (ghost.open_time_ms for ghost in made.ghosts[:_FIRST_AND_NEXT])
    is_past = len(series) > 0 and int(series.open_time_ms[-1]) >= first_ms
    if is_past or not first_ms < made.made_at_ms < next_ms or next_ms - first_ms < _LONG_INTERVAL_MS:
        return ""
    late = format_duration((made.made_at_ms - first_ms) / 1_000)
    form = format_clock if next_ms - first_ms < _DAY_MS else format_time
    words = translate("Chart", "made {0} into its first candle; a live one is due at {1}")
    return words.format(late, form(next_ms, frame.time_zone))


def legend_text(model: ChartModel, style: Style) -> str:
    """What the ghosts' dashes and bands mean. The cross at its end says that a click closes it."""
    ghosts = translate("Chart", "Dashes: median close, no trend to show")
    central = model.drawn_path(along_path=style.shows_paths)
    if central is not None and central.has_trend:
        ghosts = translate("Chart", "Candles: the most central path, the trend")
    elif central is not None:
        ghosts = translate("Chart", "Candles: the most central of the sample paths, no trend to show")
    bands = translate("Chart", "bands: where 50 % and 90 % of closes should be")
    return " · ".join((ghosts, bands) if style.shows_bands else (ghosts,)) + "  ×"


def note_text(model: ChartModel) -> str:
    """The complete remark; may be empty. At an interval other than the run's it says why there are no ghosts, or what
    they are merged from."""
    other, about_interval = model.other_interval, ""
    if other is not None and model.ghosts():
        about_interval = translate("Chart", "Ghosts built from {0} forecasts; errors only at {0}").format(other)
    elif other is not None:
        about_interval = translate("Chart", "Forecasts and their errors are for {0} candles").format(other)
    return " · ".join(words for words in (model.note, about_interval) if words)


def note_box(frame: Frame, text: str, readout: Box, label: QRect | None) -> Box | None:
    """Above the candles' highest prices, in the row of the forecast's label or above it; beside a readout that has
    grown into these, in the row of its title or in narrower lines; otherwise shortened to one line. It covers no
    candle: None if that line does not fit either, or the text is empty."""
    if not text:
        return None
    main, taken = frame.price_pane.rect, [readout.rect, *([] if label is None else [label])]
    for width in (main.width(), main.width() - readout.rect.right()):
        rows = _rows(text, frame.fonts, frame.ratio, width, frame.palette.text)
        size = box_size(rows, frame.fonts)
        places = (QRect(corner, size) for corner in _corners(frame, size, label))
        free = (place for place in places if main.contains(place) and not any(map(place.intersects, taken)))
        if (rect := next(free, None) or _beside_title(frame, size, readout, label)) is not None:
            return Box(rect, rows, frame.palette.raised, frame.palette.border)
    return _in_short(frame, text, taken, label)


def note_tooltip(frame: Frame, text: str, note: Box | None, cursor: QPoint) -> Box | None:
    """The full text of a shortened remark under the cursor."""
    if note is None or not note.rect.contains(cursor):
        return None
    shown = " ".join(span.text for row in note.rows for span in row)
    return None if shown.split() == text.split() else text_tip(frame, cursor, text)


def note_room(text: str, label_width: int, fonts: Fonts, ratio: float, plot_right: int) -> int:
    """Height needed above the candles besides the row of the forecast's label, whose width is given: almost none if
    both fit that row. All in device pixels."""
    if not text:
        return 0
    rows, margin = _rows(text, fonts, ratio, plot_right, QColor()), round(_MARGIN_PX * ratio)
    size = box_size(rows, fonts)
    is_in_row = len(rows) == 1 and size.width() + label_width + 3 * margin <= plot_right
    return padding_px(fonts) if is_in_row else size.height() + margin


def _corners(frame: Frame, size: QSize, label: QRect | None) -> Iterator[QPoint]:
    """Places that cover no candle: to the right of the label, to its left, above it."""
    margin, top = frame.scaled(_MARGIN_PX), frame.layout.price_top - size.height()
    right = frame.layout.plot_right - margin - size.width()
    yield QPoint(right, top)
    if label is not None:
        yield QPoint(label.left() - margin - size.width(), top)
        yield QPoint(max(right, 0), label.top() - frame.pixel - size.height())


def _beside_title(frame: Frame, size: QSize, readout: Box, label: QRect | None) -> QRect | None:
    """Above the readout's second line, if the first leaves enough room."""
    if len(readout.rows) < 2:
        return None
    second = readout.rect.top() + (readout.rect.height() - (len(readout.rows) - 2) * frame.fonts.line) // 2
    right = frame.layout.plot_right - frame.scaled(_MARGIN_PX)
    rect = QRect(QPoint(right - size.width(), second - size.height()), size)
    title = readout.rect.left() + row_width(readout.rows[0], frame.fonts) + 3 * padding_px(frame.fonts)
    is_free = rect.left() > title and rect.top() >= 0 and (label is None or not rect.intersects(label))
    return rect if is_free else None


def _in_short(frame: Frame, text: str, taken: Sequence[QRect], label: QRect | None) -> Box | None:
    """One line of the remark if most of it fits beside the other labels, and no higher than its letters: the longest
    readout leaves no more."""
    fonts, margin = frame.fonts, frame.scaled(_MARGIN_PX)
    gap = max(_gaps(frame, taken, label), key=QRect.width, default=QRect())
    room = gap.width() - 2 * margin - 2 * padding_px(fonts)
    words = elided_by_words(text, fonts.metrics, max(room, 0))
    if len(words) < _FEWEST_LETTERS:
        return None
    rows = ((Span(words, frame.palette.text),),)
    rect = QRect(0, 0, box_size(rows, fonts).width(), gap.height())
    rect.moveBottomRight(gap.bottomRight() - QPoint(margin, 0))
    return Box(rect, rows, frame.palette.raised, frame.palette.border)


def _gaps(frame: Frame, taken: Sequence[QRect], label: QRect | None) -> Iterator[QRect]:
    """The free parts of the row above the candles and of the one above the label."""
    height = frame.fonts.line
    bottoms = [frame.layout.price_top, *([] if label is None else [label.top() - frame.pixel])]
    for row in (QRect(0, bottom - height, frame.layout.plot_right, height) for bottom in bottoms):
        if row.top() < 0 or row.bottom() >= frame.layout.price_top:
            continue
        left = 0
        for other in sorted(filter(row.intersects, taken), key=QRect.left):
            yield QRect(left, row.top(), other.left() - left, height)
            left = max(left, other.right() + 1)
        yield QRect(left, row.top(), frame.layout.plot_right - left, height)


def _rows(text: str, fonts: Fonts, ratio: float, plot_right: int, colour: QColor) -> tuple[Row, ...]:
    return tuple(wrapped((Span(text, colour),), fonts, plot_right - 6 * round(_MARGIN_PX * ratio)))
