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
from desktop.chart.panes.layer import Layer
from desktop.chart.panes.pane import Pane
from desktop.theme import Palette
from desktop.translation import translate

_LINE_WIDTH = 2.0
_COLOUR = 3
"""Of the palette's curves: one that no candle, ghost or indicator has."""
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
    """Both markets, and the closes at which they are at 0 %."""

    own: CandleSeries
    other: CandleSeries
    own_close: float
    other_close: float

    @property
    def factor(self) -> float:
        return self.own_close / self.other_close

    def close_at(self, index: int | None) -> float | None:
        """The other's close at a candle of the chart; None: its last that is no newer than the chart's newest."""
        if index is None:
            found: int | None = self.other.insertion_index(int(self.own.open_time_ms[-1]) + 1) - 1
        else:
            found = self.other.index_at(int(self.own.open_time_ms[index])) if 0 <= index < len(self.own) else None
        return None if found is None or found < 0 else float(self.other.close[found])

    def percent(self, close: float) -> str:
        return _percent_text((close / self.other_close - 1.0) * 100.0)


class ComparisonLayer(Layer):
    """Follows whatever candles the chart shows; one that the other market lacks breaks the line."""

    is_shown_whole = True

    def __init__(self) -> None:
        super().__init__()
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
        start = self._start_in(frame_first, frame_stop, model)
        if start is None:
            return None
        first = start.other.insertion_index(int(start.own.open_time_ms[frame_first]))
        stop = start.other.insertion_index(int(start.own.open_time_ms[frame_stop - 1]) + 1)
        edges = start.other.extremes(first, stop)  # of lows and highs: with room for all closes
        return None if edges is None else (edges[0] * start.factor, edges[1] * start.factor)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        start = self._start_in(frame.first, frame.stop, model)
        if start is None:
            return
        lasts = sampled(frame, len(start.own))
        times = start.own.open_time_ms
        closes = closes_within(start.other, times[lasts - lasts % frame.group], times[lasts])
        _paint_line(painter, frame, pane, frame.xs(lasts.astype(np.float64)), closes * start.factor)

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """How far it has come, level with the line's end; on the axis of percents alone, as it has no price here."""
        start = self._start_in(frame.first, frame.stop, model)
        close = None if start is None else start.close_at(None)
        if start is None or close is None or frame.prices.kind is not ScaleKind.PERCENT:
            return ()
        price = close * start.factor
        if not frame.prices.low <= price <= frame.prices.high:
            return ()
        colour = colour_of(frame.palette)
        rows: tuple[Row, ...] = ((Span(start.percent(close), colour),),)
        rect = price_label_rect(frame, frame.y(price), rows)
        tag = Box(rect, rows, frame.palette.background, colour, price=price)
        stand_aside((tag,), frame.layout.price_axis.height(), taken)
        return (tag,)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        start = self._start_in(frame.first, frame.stop, model)
        close = None if start is None else start.close_at(index)
        percent = _percent_text(None) if start is None or close is None else start.percent(close)
        return self._rows(percent, model, frame.time_zone, (colour_of(frame.palette), frame.palette.muted_text))

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        return self._rows(_percent_text(_SAMPLE_PERCENT), model, None, (QColor(), QColor()))

    def _rows(self, percent: str, model: ChartModel, zone: tzinfo | None, inks: tuple[QColor, QColor]) -> Sequence[Row]:
        shown = self.shown
        if shown is None:
            return ()
        said = shown.words if shown.series is None else percent
        row: Row = (Span(shown.name, inks[0], bold=True), Span(said, inks[0]))
        until = _until(shown.series, model.series, zone)
        return (row if until is None else (*row, Span(until, inks[1])),)

    def _series(self) -> CandleSeries | None:
        return None if self.shown is None else self.shown.series

    def _start_in(self, first: int, stop: int, model: ChartModel) -> _Start | None:
        """Found once a view. None where the two share no candle in it."""
        other, own = self._series(), model.series
        if other is None or first >= stop:
            return None
        key = (self._shows, other.version, id(own), own.version, first, stop)
        if key != self._start_key:
            close = first_shared(own, other, first, stop)
            self._start = None if close is None else _Start(own, other, float(own.close[first]), close)
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
    draw_polyline(painter, across + 0.5, heights + 0.5, QPen(colour, _LINE_WIDTH * frame.ratio))
    padded = np.concatenate(([False], known, [False]))
    alone = known & ~padded[:-2] & ~padded[2:]  # no line goes through them
    reach, x, y = frame.pixel, across[alone], heights[alone]
    fill_rects(painter, rects(x - reach, y - reach, x + reach, y + reach), colour)


def _percent_text(percent: float | None) -> str:
    return "–" if percent is None else f"{formatting.format_level(percent, 2, signed=True)} %"


def _until(series: CandleSeries | None, own: CandleSeries, zone: tzinfo | None) -> str | None:
    """When its last candle opened, where newer ones of the chart have closed; by the clock alone on the same day."""
    if series is None or not len(series) or not len(own):
        return None
    last_ms, newest_ms = int(series.open_time_ms[-1]), int(own.open_time_ms[-1])
    if last_ms >= newest_ms:
        return None
    is_today = formatting.format_date(last_ms, zone) == formatting.format_date(newest_ms, zone)
    write = formatting.format_clock if is_today else formatting.format_time
    seconds = own.interval.duration_ms % _MINUTE_MS != 0
    return translate("Chart", "stored until {0}").format(write(last_ms, zone, seconds=seconds))
