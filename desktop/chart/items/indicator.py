"""An indicator over the candles, or in a separate pane below them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QPainter, QPen

from core.indicators.registry import INDICATORS, Drawing, Indicator, Place, Unit
from core.indicators.series import IndicatorSeries
from core.indicators.shown import Look
from core.indicators.spec import IndicatorSpec
from desktop.chart.axes.price_scale import flat_below
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.geometry import Positions
from desktop.chart.painting.primitives import draw_polyline, fill_rects, rects, rects_between
from desktop.chart.painting.text import Fonts, Row, Span, wrapped
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.layer import LIVE_Z, Layer, PaneScale, View
from desktop.chart.style import Style
from desktop.ui import formatting
from desktop.ui.colour_choice import indicator_colours
from desktop.ui.theme import with_alpha
from desktop.ui.translation import translate

_AT_ONCE = 8_192
"""Candles computed within a frame: about a millisecond."""
_FILL_ALPHA = 20
_SAMPLE_VALUE = -88.0
_LARGEST_STEP = 0.001

Values = NDArray[np.float64]


def pane_of(spec: IndicatorSpec, ordinal: int) -> str:
    """The pane of the indicator that is the `ordinal`-th of its kind."""
    return PRICE_PANE if INDICATORS[spec.kind].place is Place.PRICE_PANE else f"{spec.kind} {ordinal}"


class IndicatorLayer(Layer):
    """Follows the shown series. If a computation takes longer than a frame, nothing is painted until all values are
    right."""

    shares_row = True

    def __init__(self, spec: IndicatorSpec, number: int, ordinal: int = 0, look: Look | None = None) -> None:
        """number: chooses the theme's colours; ordinal: distinguishes panes of one kind; look: the user's choices."""
        super().__init__()
        self.spec, self.look = spec, look or Look()
        self.number, self.ordinal = number, ordinal
        self._info: Indicator = INDICATORS[spec.kind]
        self.pane = pane_of(spec, ordinal)
        self._live = _LiveIndicator(self)
        self._series: IndicatorSeries | None = None
        self._series_of: int | None = None
        self._ahead: tuple[float, ...] | None = None
        self._ahead_key: tuple[object, ...] = ()
        self._decimals, self._step = 2, 0.0
        self._units_key: tuple[object, ...] = ()
        self._colours: tuple[QColor, ...] = ()
        self._colours_key: tuple[object, ...] = ()
        self._label = spec.label
        self._rows: Sequence[Row] = ()
        self._rows_key: tuple[object, ...] = ()

    def items(self) -> tuple[ChartItem, ...]:
        return (self, self._live)

    @property
    def pane_scale(self) -> PaneScale:
        fixed = self._info.fixed_range
        if fixed is not None:
            return PaneScale(fixed, self._info.levels, 0)
        return PaneScale(decimals=self._decimals, step=self._step)

    def key(self, model: ChartModel) -> Hashable:
        is_shown = self._follow(model) is not None
        return (self.spec, self.look, self.number, model.version, is_shown)

    def is_waiting(self, model: ChartModel) -> bool:
        series = self._followed(model)
        return series.is_working or series.count_missing() > _AT_ONCE

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        series = self._followed(model)
        return None if series.is_working else series.begin()

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        series = self._follow(model)
        return None if series is None else series.extent(view.first, view.stop)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        series = self._follow(model)
        if series is None or frame.first >= frame.stop:
            return
        indices, across = frame.sampled(len(series))
        warm_up = int(np.searchsorted(indices, series.first_defined))
        if warm_up == indices.size:
            return
        across, values = across[warm_up:], self._without_rounding(series.values[:, indices[warm_up:]])
        heights = pane.ys(values)
        outputs = zip(self._info.outputs, heights, strict=True)
        edges = [row for output, row in outputs if output.drawing is Drawing.BAND_EDGE]
        if edges:
            _paint_band(painter, frame, pane, across, edges, with_alpha(self.colours(frame)[0], _FILL_ALPHA))
        self._paint_outputs(painter, frame, pane, across, heights, values, 0)

    def draw_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Draw the line from the newest closed candle's value to the forming candle's, as if it closed now."""
        if frame.right <= model.count - 1.5 or not pane.has_scale:  # the newest closed candle is out of view
            return
        series = self._follow(model)
        ahead = None if series is None else self._preview(series, model)
        if series is None or ahead is None or len(series) == 0 or not math.isfinite(ahead[0]):
            return
        is_defined = len(series) > series.first_defined
        indices = np.arange(model.count - is_defined, model.count + 1, dtype=np.float64)
        values = np.array(ahead)[:, None]
        if is_defined:
            values = np.concatenate((series.values[:, -1:], values), axis=1)
        values = self._without_rounding(values)
        self._paint_outputs(painter, frame, pane, frame.xs(indices), pane.ys(values), values, int(is_defined))

    def _paint_outputs(
        self,
        painter: QPainter,
        frame: Frame,
        pane: Pane,
        across: Positions,
        heights: Positions,
        values: Values,
        first: int,
    ) -> None:
        """Lines through all places, bars and dots at those from `first` on."""
        width = self.look.width_px * frame.ratio
        xs, ys = across + 0.5, heights + 0.5
        for place, (output, colour) in enumerate(zip(self._info.outputs, self.colours(frame), strict=True)):
            rows = heights[place, first:]
            if output.drawing is Drawing.HISTOGRAM:
                _paint_bars(painter, frame, pane, across[first:], rows, values[place, first:] >= 0)
            elif output.drawing is Drawing.DOTS:
                _paint_dots(painter, across[first:], rows, max(2, round(2.0 * width)), colour)
            else:
                draw_polyline(painter, xs, ys[place], QPen(colour, width))

    def distance(self, frame: Frame, pixel: QPoint, model: ChartModel) -> float:
        """Vertical distance from a pixel of the price pane to the nearest of its lines there, in device pixels."""
        if self.pane != PRICE_PANE:
            return math.inf
        index = frame.exact_index(pixel.x())
        left = math.floor(index)
        here, there = self._values_at(model, left), self._values_at(model, left + 1)
        if here is None or there is None:
            return math.inf
        values = (first + (index - left) * (second - first) for first, second in zip(here, there, strict=True))
        reached = [abs(frame.y(value) - pixel.y()) for value in values if math.isfinite(value)]
        return min(reached, default=math.inf)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        palette = frame.palette
        lacks = self._missing_reason(model)
        if lacks:
            return ((Span(self._label, palette.muted_text), Span(lacks, palette.muted_text)),)
        values = self._values_at(model, index)
        if values is None:
            return ()
        key = (values, self._decimals, self._step, self.number, self.look, palette)
        if key != self._rows_key:  # a pan keeps the candle under the mouse
            self._rows, self._rows_key = (self._row(frame, values),), key
        return self._rows

    def _row(self, frame: Frame, values: tuple[float, ...]) -> Row:
        spans = [Span(self._label, frame.palette.muted_text)]
        for output, value, colour in zip(self._info.outputs, values, self.colours(frame), strict=True):
            is_bar = output.drawing is Drawing.HISTOGRAM
            ink = frame.palette.candle(value >= -flat_below(self._step)) if is_bar else colour
            # A band's edge is fainter than its middle; its number is not.
            spans.append(Span(f" {self._text(value)}", with_alpha(ink, 255), glue=True))
        return tuple(spans)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        """Values are as wide as prices."""
        newest = model.newest
        if newest is None:
            return ()
        return (self._sample(formatting.format_price(newest.close, model.decimals())),)

    def title_lines(self, model: ChartModel, style: Style, fonts: Fonts, width: int) -> int:
        decimals = model.decimals() if self._info.unit is Unit.PRICE else 2
        sample = partial(self._sample, formatting.format_number(_SAMPLE_VALUE, decimals))
        return fonts.cached(("title", self._label, decimals, width), lambda: len(wrapped(sample(), fonts, width)))

    def _text(self, value: float) -> str:
        if self._info.unit is Unit.VOLUME:
            return formatting.format_volume(value)
        return formatting.format_number(value, self._decimals)

    def _sample(self, value: str) -> Row:
        plain = QColor()
        return Span(self._label, plain), *[Span(f" {value}", plain, glue=True)] * len(self._info.outputs)

    def colours(self, frame: Frame) -> tuple[QColor, ...]:
        key = (self.number, self.look, frame.palette)
        if key != self._colours_key:
            self._colours, self._colours_key = indicator_colours(self._info, *key), key
        return self._colours

    def _follow(self, model: ChartModel) -> IndicatorSeries | None:
        """The values over the shown series, up to date; None while they are incomplete."""
        series = self._followed(model)
        if series.is_current and not series.is_working:
            return series
        if self.is_waiting(model):
            return None
        series.sync()
        return series

    def _followed(self, model: ChartModel) -> IndicatorSeries:
        if self._series is None or self._series_of != id(model.series):
            self._series = IndicatorSeries(self.spec, model.series, is_computed=False)
            self._series_of, self._units_key = id(model.series), ()
        units_key = (model.version, model.forming)
        if self._info.unit is Unit.PRICE and units_key != self._units_key:
            self._decimals, self._step, self._units_key = model.decimals(), 0.0, units_key
            if model.newest is not None:  # for prices below the finest decimals, a share of the price
                self._step = min(10.0**-self._decimals, model.newest.close * _LARGEST_STEP)
        return self._series

    def _missing_reason(self, model: ChartModel) -> str:
        """Why there is no value yet, such as too few candles; empty once there is one."""
        series = self._followed(model)
        if self.is_waiting(model):
            return translate("Chart", "computing…")
        if model.count + (model.forming is not None) > series.first_defined:
            return ""
        return translate("Chart", "needs {0}").format(formatting.format_candles(series.first_defined + 1))

    def _without_rounding(self, values: Values) -> Values:
        """Sets rounding noise to zero, which would otherwise flicker in both colours."""
        return np.where(np.abs(values) < flat_below(self._step), 0.0, values) if self._step else values

    def _values_at(self, model: ChartModel, index: int | None) -> tuple[float, ...] | None:
        series = self._follow(model)
        if series is None:
            return None
        wanted = model.count if index is None else index
        ahead = self._preview(series, model) if wanted == model.count else None
        if ahead is not None:
            return ahead
        wanted = len(series) - 1 if index is None else wanted
        return tuple(series.values[:, wanted].tolist()) if 0 <= wanted < len(series) else None

    def _preview(self, series: IndicatorSeries, model: ChartModel) -> tuple[float, ...] | None:
        """The value with the forming candle; None without one, or while a candle that has just closed is still set. The
        readout and the live drawing share it."""
        if model.forming is None:
            return None
        if model.count and model.forming.open_time_ms <= int(model.series.open_time_ms[-1]):
            return None
        key = (id(series), model.version, model.forming)
        if key != self._ahead_key:
            self._ahead, self._ahead_key = series.preview(model.forming), key
        return self._ahead


class _LiveIndicator(ChartItem):
    """The part of an indicator that a tick changes."""

    z = LIVE_Z

    def __init__(self, layer: IndicatorLayer) -> None:
        super().__init__()
        self.pane, self._layer = layer.pane, layer

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        self._layer.draw_live(painter, frame, pane, model)


def _paint_band(
    painter: QPainter, frame: Frame, pane: Pane, across: Positions, edges: Sequence[Positions], fill: QColor
) -> None:
    """edges: the pixel rows of the upper, then of the lower."""
    # The polygon's pixels column by column: Qt takes several times as long for so many corners.
    columns = np.arange(max(int(across[0]), 0), min(int(across[-1]) + 1, frame.layout.plot_right))
    if columns.size == 0 or across.size < 2:
        return
    top, bottom = (np.floor(np.interp(columns, across, edge) + 0.5) for edge in edges)
    top, bottom = np.maximum(top, pane.top), np.minimum(bottom, pane.bottom) - 1
    fill_rects(painter, rects_between(int(columns[0]), 1, top, bottom), fill)


def _paint_bars(
    painter: QPainter, frame: Frame, pane: Pane, across: Positions, rows: Positions, rising: NDArray[np.bool_]
) -> None:
    """Bars from zero, in the market's colours."""
    bars = frame.widths.bodies(across, rows, pane.y(0.0))
    fill_rects(painter, bars[rising], frame.palette.volume_up)
    fill_rects(painter, bars[~rising], frame.palette.volume_down)


def _paint_dots(painter: QPainter, across: Positions, rows: Positions, side: int, colour: QColor) -> None:
    left, top = across - side // 2, rows - side // 2
    fill_rects(painter, rects(left, top, left + side - 1, top + side - 1), colour)
