"""Another market's closes as a line that starts with the candles: both at 0 % at the first candle in view."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter, QPen

from core.market.alignment import closes_within, first_shared
from core.market.series import CandleSeries
from desktop import formatting
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.data.model import ChartModel
from desktop.chart.items.study import sampled
from desktop.chart.labels.axis_labels import price_label_rect
from desktop.chart.labels.axis_tags import stand_aside
from desktop.chart.painting.geometry import Positions
from desktop.chart.painting.primitives import draw_polyline, fill_rects, rects
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import PriceLayer
from desktop.chart.panes.pane import Pane
from desktop.theme import Palette
from desktop.translation import translate

_LINE_WIDTH = 2.0
_COLOUR = 3
"""Of the palette's curves: one that no candle, ghost or indicator has."""
_SCANNED_AT_MOST = 16_384
_SAMPLE_PERCENT = -888.88
_MINUTE_MS = 60_000


@dataclass(frozen=True)
class Comparison:
    """name: of the other market. series: its candles, at the interval that is shown; None while there are none, and
    `words` say why."""

    name: str
    series: CandleSeries | None
    words: str = ""


@dataclass(frozen=True)
class _Start:
    """own, other: the closes at which both are at 0 %."""

    own: float
    other: float

    @property
    def factor(self) -> float:
        return self.own / self.other


class ComparisonLayer(PriceLayer):
    """Follows whatever candles the chart shows; one that the other market lacks breaks the line."""

    shares_row = False
    is_shown_whole = True

    def __init__(self) -> None:
        self.shown: Comparison | None = None
        self._shows = 0
        self._start: _Start | None = None
        self._start_key: tuple[object, ...] = ()

    def show(self, shown: Comparison | None) -> None:
        """This from now on; the chart has to be told."""
        self.shown = shown
        self._shows += 1

    def key(self, model: ChartModel) -> Hashable:
        series = self._series()
        return (self._shows, None if series is None else series.version)

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        start, series, own = self._start_in(frame_first, frame_stop, model), self._series(), model.series
        if start is None or series is None or own is None:
            return None
        first = series.insertion_index(int(own.open_time_ms[frame_first]))
        stop = series.insertion_index(int(own.open_time_ms[frame_stop - 1]) + 1)
        if stop - first > _SCANNED_AT_MOST:
            edges = series.extremes(first, stop)  # of lows and highs: with room for all closes
            return None if edges is None else (edges[0] * start.factor, edges[1] * start.factor)
        closes = series.close[first:stop]
        return float(closes.min()) * start.factor, float(closes.max()) * start.factor

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        start, series, own = self._start_in(frame.first, frame.stop, model), self._series(), model.series
        if start is None or series is None or own is None:
            return
        lasts = sampled(frame, len(own))
        times = own.open_time_ms
        firsts = lasts - lasts % frame.group
        closes = closes_within(series, times[firsts], times[lasts])
        _paint_line(painter, frame, pane, frame.xs(lasts.astype(np.float64)), closes * start.factor)

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """How far it has come, level with the line's end; on the axis of percents alone, as it has no price here."""
        start, close = self._start_in(frame.first, frame.stop, model), self._last_close(model)
        if start is None or close is None or frame.prices.kind is not ScaleKind.PERCENT:
            return ()
        price = close * start.factor
        if not frame.prices.low <= price <= frame.prices.high:
            return ()
        colour = colour_of(frame.palette)
        rows: tuple[Row, ...] = ((Span(_percent_text((close / start.other - 1.0) * 100.0), colour),),)
        rect = price_label_rect(frame, frame.y(price), rows)
        tag = Box(rect, rows, frame.palette.background, colour, price=price)
        stand_aside((tag,), frame.layout.price_axis.height(), taken)
        return (tag,)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        shown = self.shown
        if shown is None:
            return ()
        said, until_ms = shown.words, self._ended_ms(model)
        if shown.series is not None:
            start = self._start_in(frame.first, frame.stop, model)
            said = _percent_text(None if start is None else self._percent(start, model, index))
        until = () if until_ms is None else (_until(until_ms, model, frame.time_zone, frame.palette.muted_text),)
        return (_row(shown.name, said, colour_of(frame.palette)) + until,)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        if self.shown is None:
            return ()
        said = self.shown.words if self.shown.series is None else _percent_text(_SAMPLE_PERCENT)
        until_ms = self._ended_ms(model)
        until = () if until_ms is None else (_until(until_ms, model, None, QColor()),)
        return (_row(self.shown.name, said, QColor()) + until,)

    def _ended_ms(self, model: ChartModel) -> int | None:
        """When the other market's last candle opened, where newer ones of the chart have closed; else None."""
        series, own = self._series(), model.series
        if series is None or own is None or not len(series) or not len(own):
            return None
        last_ms = int(series.open_time_ms[-1])
        return last_ms if last_ms < int(own.open_time_ms[-1]) else None

    def _series(self) -> CandleSeries | None:
        return None if self.shown is None else self.shown.series

    def _last_close(self, model: ChartModel) -> float | None:
        """Of its last candle that is no newer than the chart's newest closed one."""
        series, own = self._series(), model.series
        if series is None or own is None or not len(own):
            return None
        place = series.insertion_index(int(own.open_time_ms[-1]) + 1) - 1
        return float(series.close[place]) if place >= 0 else None

    def _percent(self, start: _Start, model: ChartModel, index: int | None) -> float | None:
        """At a candle of the chart; at its newest, where the other market ended before, at that one's last."""
        wanted = model.count - 1 if index is None else index
        series, own = self._series(), model.series
        if series is None or own is None or not 0 <= wanted < model.count:
            return None
        has_ended = index is None and self._ended_ms(model) is not None
        found = len(series) - 1 if has_ended else series.index_at(int(own.open_time_ms[wanted]))
        return None if found is None else (float(series.close[found]) / start.other - 1.0) * 100.0

    def _start_in(self, first: int, stop: int, model: ChartModel) -> _Start | None:
        """Found once a view. None where the two share no candle in it."""
        series, own = self._series(), model.series
        if series is None or own is None or first >= stop:
            return None
        key = (self._shows, series.version, id(own), own.version, first, stop)
        if key != self._start_key:
            other = first_shared(own, series, first, stop)
            self._start = None if other is None else _Start(float(own.close[first]), other)
            self._start_key = key
        return self._start


def colour_of(palette: Palette) -> QColor:
    """The line's own."""
    return palette.curves[_COLOUR]


def _paint_line(painter: QPainter, frame: Frame, pane: Pane, across: Positions, prices: NDArray[np.float64]) -> None:
    known = np.isfinite(prices)
    if not known.any():
        return
    heights = np.full(prices.shape, np.nan)
    heights[known] = pane.ys(prices[known])
    colour = colour_of(frame.palette)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(colour, _LINE_WIDTH * frame.ratio))
    draw_polyline(painter, across + 0.5, heights + 0.5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    padded = np.concatenate(([False], known, [False]))
    alone = known & ~padded[:-2] & ~padded[2:]  # no line goes through them
    reach, x, y = frame.pixel, across[alone], heights[alone]
    fill_rects(painter, rects(x - reach, y - reach, x + reach, y + reach), colour)


def _percent_text(percent: float | None) -> str:
    return "–" if percent is None else f"{formatting.format_level(percent, 2, signed=True)} %"


def _row(name: str, said: str, colour: QColor) -> Row:
    return Span(name, colour, bold=True), Span(said, colour)


def _until(until_ms: int, model: ChartModel, zone: tzinfo | None, colour: QColor) -> Span:
    """By the clock alone on the newest candle's day."""
    newest_ms = until_ms if model.series is None else int(model.series.open_time_ms[-1])
    is_today = formatting.format_date(until_ms, zone) == formatting.format_date(newest_ms, zone)
    seconds = model.series is not None and model.series.interval.duration_ms % _MINUTE_MS != 0
    write = formatting.format_clock if is_today else formatting.format_time
    return Span(translate("Chart", "stored until {0}").format(write(until_ms, zone, seconds=seconds)), colour)
