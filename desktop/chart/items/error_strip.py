"""The strip below the prices: each forecast's error, band coverage and direction, and the text above them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.chart.data.past_forecasts import PastForecast, PastView
from desktop.chart.labels.readout import readout_width
from desktop.chart.painting.primitives import Rects, fill_rects, rects
from desktop.chart.painting.text import Fonts, Row, Span, fitting_row, wrapped
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer, PaneScale, View
from desktop.chart.style import Style
from desktop.ui import formatting
from desktop.ui.theme import Palette, mixed
from desktop.ui.translation import translate
from desktop.ui.words import word

ERROR_PANE = "forecast error"

_LATER_SHARE = 0.65
_MIDDLE_SHARE = 0.72
"""Contrast of 3:1 against the background in the light theme too."""
_ROW_PX = 3
_NO_ERROR = 1e-9
"""In percent: rounding noise."""
_CLASSES = 3
"""Inside the 50 % band, inside the 90 % band, outside."""
_MOST_LINES = 2
"""More would leave no room for the bars."""

Colours = tuple[QColor, QColor, QColor]


class ErrorStripLayer(Layer):
    """A bar for each forecast: the close against the forecast close, in percent. Zoomed out, a bar is the mean error
    size of a group, divided by the shares of its band classes."""

    pane = ERROR_PANE

    def __init__(self) -> None:
        super().__init__()
        self._reach = 0.0

    @property
    def pane_scale(self) -> PaneScale:
        level, decimals = round_level(self._reach)
        return PaneScale(levels=(-level, 0.0, level), decimals=decimals, is_symmetric=True)

    def key(self, model: ChartModel) -> Hashable:
        return (model.past.version, model.past.horizon)

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        found = model.past.view(model.series, view.first, view.stop)
        if not len(found):
            self._reach = 0.0  # drop the levels of the previous view, which an empty range would squeeze
            return None
        sizes = np.abs(found.error) if view.group == 1 else grouped(found, view.group).mean_size
        largest = float(sizes.max())
        self._reach = largest if largest > _NO_ERROR else 0.0
        return -self._reach, self._reach

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        found = model.past.view(model.series, frame.first, frame.stop)
        if not len(found):
            return
        if frame.group > 1:
            _paint_groups(painter, frame, pane, found)
        else:
            _paint_bars(painter, frame, pane, found)
            _paint_directions(painter, frame, pane, found)
        zero = pane.y(0.0)
        line = rects(0, zero, frame.layout.plot_right - 1, zero + frame.pixel - 1)
        fill_rects(painter, line, frame.palette.border)

    def title_lines(self, model: ChartModel, style: Style, fonts: Fonts, width: int) -> int:
        return lines_needed(model, style.palette, fonts, width)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        palette, view = frame.palette, model.past.view(model.series, frame.first, frame.stop)
        is_later = bool(len(view)) and bool(view.is_later.all())
        first, second, third = (_shade(colour, palette, is_later=is_later) for colour in class_colours(palette))
        under = None if index is None else model.past_forecast(index)
        ways = title_variants(model, view, under, palette, (first, second, third))
        width = readout_width(frame.layout.plot_right, frame.ratio)
        return (fitting_row(ways, frame.fonts, width, lines_needed(model, palette, frame.fonts, width)),)


def round_level(reach: float) -> tuple[float, int]:
    """The largest of 1, 2 or 5 times a power of ten below `reach`, and its decimals; 1 for a reach of 0."""
    if not (math.isfinite(reach) and reach > 0.0):
        return 1.0, 2
    power = math.floor(math.log10(reach))
    level = max(step * 10.0**power for step in (1.0, 2.0, 5.0) if step * 10.0**power <= reach or step == 1.0)
    return level, min(max(2, -power), 8)


def class_colours(palette: Palette) -> tuple[QColor, QColor, QColor]:
    """For a close inside the 50 % band, inside the 90 % band, and outside both."""
    return palette.ghost_up, mixed(palette.ghost_up, palette.background, _MIDDLE_SHARE), palette.warning


def _shade(colour: QColor, palette: Palette, *, is_later: bool) -> QColor:
    return mixed(colour, palette.background, _LATER_SHARE) if is_later else colour


def _class_of(view: PastView) -> NDArray[np.int64]:
    return np.where(view.past["inside_50"], 0, np.where(view.past["inside_90"], 1, 2))


def _paint_bars(painter: QPainter, frame: Frame, pane: Pane, view: PastView) -> None:
    bars, kinds = frame.widths.bodies(frame.xs(view.index), pane.ys(view.error), pane.y(0.0)), _class_of(view)
    for kind, colour in enumerate(class_colours(frame.palette)):
        _fill(painter, frame.palette, bars[kinds == kind], view.is_later[kinds == kind], colour)


def _paint_directions(painter: QPainter, frame: Frame, pane: Pane, view: PastView) -> None:
    """A thin row at the bottom: solid for a correct direction, faint for a wrong one."""
    palette = frame.palette
    row = frame.widths.bodies(frame.xs(view.index), pane.bottom - frame.scaled(_ROW_PX), pane.bottom - 1)
    for hit, colour in ((1, palette.good), (0, palette.bad)):
        chosen = view.past["hit"] == hit
        _fill(painter, palette, row[chosen], view.is_later[chosen], colour)


def _fill(painter: QPainter, palette: Palette, areas: Rects, are_later: NDArray[np.bool_], colour: QColor) -> None:
    """Paler for forecasts that were not made live."""
    for is_later in (False, True):
        fill_rects(painter, areas[are_later == is_later], _shade(colour, palette, is_later=is_later))


def _paint_groups(painter: QPainter, frame: Frame, pane: Pane, view: PastView) -> None:
    """From zero outwards on both sides: the share inside the 50 % band, inside the 90 % band, outside."""
    groups = grouped(view, frame.group)
    centre = frame.xs(groups.index)
    inner = np.zeros_like(groups.mean_size)
    for kind, colour in enumerate(class_colours(frame.palette)):
        outer = inner + groups.mean_size * groups.shares[kind]
        for sign in (1.0, -1.0):
            bars = frame.widths.bodies(centre, pane.ys(sign * inner), pane.ys(sign * outer))
            fill_rects(painter, bars[groups.shares[kind] > 0.0], colour)
        inner = outer


@dataclass(frozen=True, eq=False)
class Groups:
    """index, mean_size (of the error, in percent): [n]; shares: [3, n], of the three classes."""

    index: NDArray[np.float64]
    mean_size: NDArray[np.float64]
    shares: NDArray[np.float64]


def grouped(view: PastView, group: int) -> Groups:
    """The view in groups of `group` candles that begin at multiples of it; len(view) > 0."""
    numbers = view.index // group
    starts = np.flatnonzero(np.diff(numbers, prepend=-1.0))
    counts = np.diff(starts, append=len(view)).astype(np.float64)
    kinds = _class_of(view)
    shares = [np.add.reduceat((kinds == kind).astype(np.float64), starts) / counts for kind in range(_CLASSES)]
    sizes = np.add.reduceat(np.abs(view.error), starts) / counts
    return Groups(numbers[starts] * group + (group - 1) / 2.0, sizes, np.array(shares))


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
