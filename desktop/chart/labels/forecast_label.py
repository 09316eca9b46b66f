"""The label over the forecast: its mode and age."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.readout import age_text, has_label
from desktop.chart.painting.text import Box, Fonts, Row, Span, box_size, padding_px
from desktop.chart.panes.frame import Frame
from desktop.ui.formatting import format_clock, format_duration, format_time
from desktop.ui.translation import translate
from desktop.ui.words import word

_FIRST_AND_NEXT = 2
_DAY_MS = 86_400_000
_LONG_INTERVAL_MS = 10 * 60_000
"""At shorter intervals the next forecast arrives before this can be read."""


def mode_text(model: ChartModel) -> str:
    """``forecast (replay)``. The mode is omitted for a live forecast."""
    made = model.forecast
    if made is None or made.mode is ForecastMode.LIVE:
        return translate("Chart", "Forecast")
    if made.is_by_simple_rules:
        return translate("Chart", "Forecast (simple rules, not scored)")
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
    """Mode, age, why it is not live, and why it is dimmed, as far as there is room. The age of an old forecast is
    always included."""
    palette, oddity = frame.palette, model.dimming_reason
    old = _said(age_text(model), palette.warning)
    made = (Span(mode_text(model), palette.ghost_text), *old)
    after = _said(_lateness(frame, model), palette.muted_text)
    unlike = translate("Chart", "dimmed: unusual input ({0})").format(oddity)
    why = _said(unlike if oddity else "", palette.warning)
    dimmed = _said(translate("Chart", "dimmed") if oddity else "", palette.warning)
    rows = (made + after + why, made + after + dimmed, made + why)
    shortest = old or made + dimmed
    return next((row for row in rows if box_size((row,), frame.fonts).width() <= frame.layout.plot_right), shortest)


def _said(text: str, colour: QColor) -> Row:
    return (Span(text, colour),) if text else ()


def usual_width(model: ChartModel, fonts: Fonts) -> int:
    """Width of the label with only mode and age; 0 without a forecast."""
    row = (*_said(mode_text(model), QColor()), *_said(age_text(model), QColor()))
    return box_size((row,), fonts).width() if model.ghosts() else 0


def _lateness(frame: Frame, model: ChartModel) -> str:
    """For a forecast made within its first candle, as after a start: at a long interval it is shown for hours. Empty if
    not applicable."""
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
