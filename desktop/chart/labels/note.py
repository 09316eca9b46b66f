"""The remark beside the forecast: why it is old or missing, and which candles it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.readout import text_tip
from desktop.chart.painting.text import Box, Fonts, Row, Span, box_size, padding_px, row_width, wrapped
from desktop.chart.panes.frame import Frame
from desktop.ui.elided import elided_by_words
from desktop.ui.translation import translate

_MARGIN_PX = 6
_FEWEST_LETTERS = 8
"""Minimum characters of a shortened remark."""


def note_text(model: ChartModel) -> str:
    """The complete remark; may be empty."""
    return " · ".join(words for words in (model.note, _interval_words(model)) if words)


def _interval_words(model: ChartModel) -> str:
    """At an interval other than the run's: why there are no ghosts, or what they are merged from."""
    other = model.other_interval
    if other is None:
        return ""
    if model.ghosts():
        return translate("Chart", "Ghosts built from {0} forecasts; errors only at {0}").format(other)
    return translate("Chart", "Forecasts and their errors are for {0} candles").format(other)


def note_box(frame: Frame, text: str, readout: Box, label: QRect | None) -> Box | None:
    """Above the candles' highest prices, in the row of the forecast's label or above it; beside a readout that has
    grown into these, in the row of its title or in narrower lines; otherwise shortened to one line. It covers no
    candle: None if that line does not fit either, or the text is empty."""
    if not text:
        return None
    main, taken = frame.layout.main, [readout.rect, *([] if label is None else [label])]
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
    """One line of it if most of that fits: beside what is there, and no higher than its letters, which is all that the
    longest readout leaves."""
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
