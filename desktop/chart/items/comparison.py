"""Another market's closes as a line: both markets are at 0 % at the first visible candle."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter, QPen

from core.domain.candle_series import CandleSeries
from core.market.comparison import Pair, closes_within
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import avoid_overlaps, price_label_rect
from desktop.chart.painting.geometry import Positions
from desktop.chart.painting.primitives import draw_polyline, fill_rects, rects
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer, View
from desktop.ui import formatting
from desktop.ui.theme import Palette
from desktop.ui.translation import translate

_LINE_WIDTH = 2.0
_COLOUR = 3
"""A palette curve that no candle, ghost or indicator uses."""
_SAMPLE_CHANGE = -8.8888


@dataclass(frozen=True)
class Comparison:
    """name: of the other market. series: its candles at the shown interval; None if unavailable, with the reason in
    `words`."""

    name: str
    series: CandleSeries | None
    words: str = ""


class ComparisonLayer(Layer):
    """Compares with the shown candles; the line breaks where the other market has no candle."""

    is_shown_whole = True

    def __init__(self) -> None:
        super().__init__()
        self.shown: Comparison | None = None
        """Set by the controller, which then calls the chart's `layers_changed`."""
        self._pair: Pair | None = None
        self._pair_key: tuple[object, ...] = ()

    def key(self, model: ChartModel) -> Hashable:
        series = self._series()
        return (self.shown, None if series is None else series.version)

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        pair = self._pair_in(view.first, view.stop, model)
        return None if pair is None else pair.extremes(view.first, view.stop)  # includes all closes

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        pair = self._pair_in(frame.first, frame.stop, model)
        if pair is None:
            return
        lasts, across = frame.sampled(len(pair.own))
        times = pair.own.open_time_ms
        closes = closes_within(pair.other, times[lasts - lasts % frame.group], times[lasts])
        _paint_line(painter, frame, pane, across, closes * pair.factor)

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """The change so far, level with the line's end; only on a percent axis, because the other price has no place on
        this one."""
        pair = self._pair_in(frame.first, frame.stop, model)
        close = None if pair is None else pair.close_at(None)
        if pair is None or close is None or frame.prices.kind is not ScaleKind.PERCENT:
            return ()
        price = close * pair.factor
        if not frame.prices.low <= price <= frame.prices.high:
            return ()
        colour = colour_of(frame.palette)
        rows: tuple[Row, ...] = ((Span(_percent_text(pair.change(close)), colour),),)
        rect = price_label_rect(frame, frame.y(price), rows)
        tag = Box(rect, rows, frame.palette.background, colour, price=price)
        avoid_overlaps((tag,), frame.layout.price_axis.height(), taken)
        return (tag,)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        pair = self._pair_in(frame.first, frame.stop, model)
        close = None if pair is None else pair.close_at(index)
        percent = _percent_text(None if pair is None or close is None else pair.change(close))
        return self._rows(percent, model, frame.time_zone, (colour_of(frame.palette), frame.palette.muted_text))

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        return self._rows(_percent_text(_SAMPLE_CHANGE), model, None, (QColor(), QColor()))

    def _rows(self, percent: str, model: ChartModel, zone: tzinfo | None, inks: tuple[QColor, QColor]) -> Sequence[Row]:
        shown = self.shown
        if shown is None:
            return ()
        text = shown.words if shown.series is None else percent
        row: Row = (Span(shown.name, inks[0], bold=True), Span(text, inks[0]))
        until = _until(shown.series, model.series, zone)
        return (row if until is None else (*row, Span(until, inks[1])),)

    def _series(self) -> CandleSeries | None:
        return None if self.shown is None else self.shown.series

    def _pair_in(self, first: int, stop: int, model: ChartModel) -> Pair | None:
        """Computed once per view. None if the two share no visible candle."""
        other, own = self._series(), model.series
        if other is None or own is None or first >= stop:
            return None
        key = (other, other.version, own, own.version, first, stop)
        if key != self._pair_key:
            self._pair, self._pair_key = Pair.of(own, other, first, stop), key
        return self._pair


def colour_of(palette: Palette) -> QColor:
    return palette.curves[_COLOUR]


def _paint_line(painter: QPainter, frame: Frame, pane: Pane, across: Positions, prices: NDArray[np.float64]) -> None:
    known = np.isfinite(prices)
    if not known.any():
        return
    heights = np.full(prices.shape, np.nan)
    heights[known] = pane.ys(prices[known])
    colour = colour_of(frame.palette)
    draw_polyline(painter, across + 0.5, heights + 0.5, QPen(colour, _LINE_WIDTH * frame.ratio))
    padded = np.concatenate(([False], known, [False]))
    alone = known & ~padded[:-2] & ~padded[2:]  # single points, which no line connects
    reach, x, y = frame.pixel, across[alone], heights[alone]
    fill_rects(painter, rects(x - reach, y - reach, x + reach, y + reach), colour)


def _percent_text(change: float | None) -> str:
    return "–" if change is None else f"{formatting.format_level(change * 100.0, 2, signed=True)} %"


def _until(series: CandleSeries | None, own: CandleSeries, zone: tzinfo | None) -> str | None:
    """Opening time of its last candle, if the chart has newer closed ones; without the date on the same day."""
    if series is None or not len(series) or not len(own):
        return None
    last_ms, newest_ms = int(series.open_time_ms[-1]), int(own.open_time_ms[-1])
    if last_ms >= newest_ms:
        return None
    is_today = formatting.format_date(last_ms, zone) == formatting.format_date(newest_ms, zone)
    write = formatting.format_clock if is_today else formatting.format_time
    return translate("Chart", "stored until {0}").format(write(last_ms, zone, seconds=own.interval.has_seconds))
