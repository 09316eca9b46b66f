"""The text above the error strip: the candle under the mouse and statistics of the view, as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QColor

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.chart.data.past import PastForecast
from desktop.chart.data.past_forecasts import PastView
from desktop.chart.painting.text import Fonts, Row, Span, wrapped
from desktop.ui import formatting
from desktop.ui.theme import Palette
from desktop.ui.translation import translate
from desktop.ui.words import word

_MOST_LINES = 2
"""More would leave no room for the bars."""

Colours = tuple[QColor, QColor, QColor]


@dataclass(frozen=True)
class _Numbers:
    """Statistics of the visible forecasts."""

    count: int
    later: int
    in_50: int
    in_90: int
    hits: int
    counted: int
    mean_size: float

    @classmethod
    def of(cls, view: PastView) -> _Numbers:
        return cls(
            count=len(view),
            later=int(view.is_later.sum()),
            in_50=int(view.past["inside_50"].sum()),
            in_90=int(view.past["inside_90"].sum()),
            hits=int((view.past["hit"] == 1).sum()),
            counted=int((view.past["hit"] >= 0).sum()),
            mean_size=float(np.abs(view.error).mean()),
        )


_WIDEST = _Numbers(888, 88, 888, 888, 888, 888, 0.888)


def title(model: ChartModel, palette: Palette) -> Row:
    """The strip's title."""
    ahead = translate("Chart", "{0} ahead").format(formatting.format_candles(model.past.horizon))
    return Span(translate("Chart", "Forecast error"), palette.ghost_text, bold=True), Span(ahead, palette.muted_text)


def lines_needed(model: ChartModel, palette: Palette, fonts: Fonts, width: int) -> int:
    """Lines to reserve: for the longest text in so few lines, whatever the current digits."""
    ink = palette.muted_text
    rows = ((*title(model, palette), *way) for way in _ways(_WIDEST, (ink, ink, ink), ink))
    found = (len(wrapped(row, fonts, width)) for row in rows)
    return next((lines for lines in found if lines <= _MOST_LINES), _MOST_LINES)


def title_variants(
    model: ChartModel, view: PastView, under: PastForecast | None, palette: Palette, colours: Colours
) -> list[Row]:
    """The full text, then ever shorter variants. The squares explain the bars' `colours` and all three are always
    present; if even that does not fit, the candle under the mouse is dropped first."""
    head, candle = title(model, palette), _of_candle(under, palette)
    ways: list[Row] = [(*head, *candle, *spans) for spans in _in_view(view, palette, colours, model.past.most_candles)]
    if candle:
        return [*ways, (*head, *candle), candle, candle[:2]]
    return [*ways, *(way[len(head) :] for way in ways[1:])]


def _of_candle(forecast: PastForecast | None, palette: Palette) -> Row:
    if forecast is None:
        return ()
    where = Span(translate("Chart", "outside 90 %"), palette.warning)
    if forecast.inside_50 or forecast.inside_90:
        inside = translate("Chart", "inside 50 %") if forecast.inside_50 else translate("Chart", "inside 90 %")
        where = Span(inside, palette.ghost_up)
    spans = [Span(formatting.format_percent(forecast.error, 3, signed=True), palette.text, bold=True), where]
    if forecast.direction_hit is not None:
        missed = Span(translate("Chart", "direction missed"), palette.bad)
        hit = Span(translate("Chart", "direction hit"), palette.good)
        spans.append(hit if forecast.direction_hit else missed)
    if forecast.mode is not ForecastMode.LIVE:
        spans.append(Span(f"({word(forecast.mode)})", palette.muted_text))
    return tuple(spans)


def _in_view(view: PastView, palette: Palette, colours: Colours, most: int) -> list[Row]:
    muted, reading = palette.muted_text, translate("Chart", "reading…")
    if view.is_too_wide:
        zoom_in = translate("Chart", "zoom in to compare at most {0} candles")
        return [(Span(zoom_in.format(formatting.format_count(most)), muted),)]
    if not len(view):
        return [(Span(translate("Chart", "none in view") if view.is_complete else reading, muted),)]
    ways = _ways(_Numbers.of(view), colours, muted)
    return ways if view.is_complete else [(*way, Span(reading, muted)) for way in ways]


def _ways(numbers: _Numbers, colours: Colours, muted: QColor) -> list[Row]:
    """From the full text with the counts to no more than the colours' meaning."""
    counted = f"n {formatting.format_count(numbers.count)}{_how_made(numbers.later, numbers.count)}"
    mean, count = formatting.format_number(numbers.mean_size, 3), Span(counted, muted)
    hits = Span(translate("Chart", "direction hit: {0}").format(_of(numbers.hits, numbers.counted)), muted)
    found = (numbers.in_50, numbers.in_90, numbers.count - numbers.in_90)
    alone = [formatting.format_count(each) for each in found]
    of_all = [_of(each, numbers.count) for each in found]
    names = translate("Chart", "in 50 %: "), translate("Chart", "in 90 %: "), translate("Chart", "outside: ")
    legend = _legend(names, alone, colours, muted)
    return [
        (
            Span(translate("Chart", "in view: {0}").format(counted), muted),
            Span(translate("Chart", "mean |error| {0} %").format(mean), muted),
            *_legend(names, of_all, colours, muted),
            hits,
        ),
        (count, Span(translate("Chart", "mean {0} %").format(mean), muted), *legend, hits),
        (count, *legend),
        legend,
        _legend(("50 % ", "90 % ", translate("Chart", "out ")), alone, colours, muted),
    ]


def _legend(names: Sequence[str], texts: Sequence[str], colours: Colours, muted: QColor) -> Row:
    entries = zip(names, texts, colours, strict=True)
    spans = ((Span("■", colour), Span(f" {name}{text}", muted, glue=True)) for name, text, colour in entries)
    return tuple(span for pair in spans for span in pair)


def _how_made(later: int, count: int) -> str:
    if later == count:
        return translate("Chart", ", none made live")
    return translate("Chart", ", {0} not made live (paler)").format(formatting.format_count(later)) if later else ""


def _of(count: int, total: int) -> str:
    return translate("Chart", "{0} of {1}").format(formatting.format_count(count), formatting.format_count(total))
