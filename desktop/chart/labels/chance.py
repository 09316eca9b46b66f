"""The chance of a price in words: at the crosshair, on the price axis and on horizontal lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.readout import age_text, tip
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.ui.formatting import MISSING, format_candles, format_percent
from desktop.ui.translation import translate

_LEAST = 0.01
"""Chances closer than this to 0 or 1 are shown as below or above it, without a figure."""


def short_chance(frame: Frame, model: ChartModel, price: float) -> str:
    """``23 % in 8``: the chance of a touch within the most candles shown; a dash without a chance, empty if chances are
    hidden."""
    if not frame.style.shows_chance:
        return ""
    found = model.chances_of(price)
    return translate("Chart", "{0} in {1}").format(percent(found[-1].touched), found[-1].within) if found else MISSING


def chance_tip(frame: Frame, model: ChartModel, price: float, cursor: QPoint) -> Box | None:
    """All chances of a price, or why there is none; None if chances are hidden."""
    if not frame.style.shows_chance:
        return None
    # Left of the forecast, which the table is about and must not cover, if it begins in view.
    ghosts, end = model.ghosts(), frame.layout.plot_right
    begins = frame.x(ghosts[0].index) - round(frame.spacing / 2) if ghosts else end
    right = begins if 0 < begins < end else end
    return tip(frame, cursor, chance_rows(frame, model, price), is_table=True, right=right)


def axis_tip(frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
    """The chances of the price under a cursor on the price axis; None elsewhere."""
    is_beside = frame.layout.price_axis.contains(cursor) and cursor.y() < frame.layout.price_bottom
    edge = QPoint(frame.layout.plot_right, cursor.y())
    return chance_tip(frame, model, frame.price_pane.value_at(cursor.y()), edge) if is_beside else None


def chance_rows(frame: Frame, model: ChartModel, price: float) -> Sequence[Row]:
    """A heading, a row for each number of candles, and the age of an old forecast."""
    palette, found = frame.palette, model.chances_of(price)
    heading = translate("Chart", "Chance of {0}").format(frame.price_text(price))
    if not found:
        why = Span(why_no_chance(model), palette.muted_text)
        return (Span(heading, palette.text, bold=True), Span(MISSING, palette.text)), (why,)
    rows: list[Row] = [(Span(heading, palette.text, bold=True),)]
    text = translate("Chart", "touched {0}, closed beyond {1}")
    for chance in found:
        name = translate("Chart", "within {0}").format(format_candles(chance.within))
        words = text.format(percent(chance.touched), percent(chance.closed_beyond))
        rows.append((Span(name, palette.muted_text), Span(words, palette.text)))
    age = age_text(model)
    return [*rows, (Span(age, palette.warning),)] if age else rows


def percent(chance: float) -> str:
    """The chance in percent, without digits that the number of paths does not support."""
    if chance < _LEAST:
        return translate("Chart", "<{0}").format(format_percent(_LEAST, 0))
    if chance > 1.0 - _LEAST:
        return translate("Chart", ">{0}").format(format_percent(1.0 - _LEAST, 0))
    return format_percent(chance, 0)


def why_no_chance(model: ChartModel) -> str:
    made = model.forecast
    if made is None:
        return translate("Chart", "no forecast")
    if made.is_by_simple_rules:
        return translate("Chart", "none while the ghosts are of the baselines alone")
    if model.other_interval is not None:
        return translate("Chart", "only at the market's own interval")
    if model.is_forecast_over:
        return translate("Chart", "all candles of this forecast are over")
    if made.quantiles is None:
        return translate("Chart", "the details of this old forecast are not kept")
    if model.futures.is_waiting(made, model.series):
        return translate("Chart", "being computed")
    return translate("Chart", "too few candles before this forecast")
