"""Hindsight: past forecasts of the visible candles, drawn over the outcome."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter, QPen

from desktop.chart.data.model import ChartModel
from desktop.chart.data.past_forecasts import Past, PastView
from desktop.chart.labels.past import candles_before
from desktop.chart.painting.primitives import FLATTEST_FRAMED_PX, draw_polyline, fill_rects, rects, rects_between
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer, View
from desktop.ui import formatting
from desktop.ui.theme import with_alpha
from desktop.ui.translation import translate

_NARROWEST_GHOST_PX = 7
"""Logical pixels between candles below which ghosts would blur; the median line replaces them."""
_NARROWEST_WHISKERS_PX = 14
_NARROWEST_EDGES_PX = 3
_RETROSPECTIVE_SHARE = 0.65
_HALO_ALPHA = 170
_EDGE_ALPHA = 120
_WHISKER_ALPHA = 150


class HindsightLayer(Layer):
    """Ghosts of the shown horizon, with their bands as a ribbon. Paler if not made live."""

    def key(self, model: ChartModel) -> Hashable:
        return (model.past.version, model.past.horizon)

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        found = model.past.view(model.series, view.first, view.stop)
        if not len(found):
            return None
        return float(found.past["low_90"].min()), float(found.past["high_90"].max())

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        found = model.past.view(model.series, frame.first, frame.stop)
        if not len(found):
            return
        _paint_bands(painter, frame, _Ribbon(found, frame.group), pane)
        if frame.spacing >= _NARROWEST_GHOST_PX * frame.ratio:
            _paint_ghosts(painter, frame, found)
        else:
            _paint_medians(painter, frame, found)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        if model.other_interval is not None:
            return ()
        palette, view = frame.palette, model.past.view(model.series, frame.first, frame.stop)
        legend, too_wide, nothing = _messages(model)
        text = too_wide if view.is_too_wide else nothing if view.is_complete and not len(view) else legend
        return ((Span(translate("Chart", "Hindsight"), palette.ghost_text, bold=True), Span(text, palette.muted_text)),)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        if model.other_interval is not None:
            return ()
        name = Span(translate("Chart", "Hindsight"), QColor(), bold=True)
        return ((name, Span(max(_messages(model), key=len), QColor())),)


def _messages(model: ChartModel) -> tuple[str, str, str]:
    """The legend; the message for too wide a view; the message for no forecast in view."""
    before = candles_before(model.past.horizon)
    most = formatting.format_count(model.past.most_candles)
    return (
        translate("Chart", "forecasts made {0}: close, and 50 % and 90 % band").format(before),
        translate("Chart", "zoom in to compare at most {0} candles").format(most),
        translate("Chart", "nothing in view was forecast {0}").format(before),
    )


class _Ribbon:
    """The bands as points, one per group of candles; each run of neighbours is extended by half a group at both ends,
    so that the ribbon is as wide as the candles and bridges no missing forecast."""

    def __init__(self, view: PastView, group: int) -> None:
        numbers = view.index // group
        starts = np.flatnonzero(np.diff(numbers, prepend=-1.0))
        centres = numbers[starts]
        cuts = np.flatnonzero(np.diff(centres) > 1.0) + 1
        begins, ends = np.concatenate(([0], cuts)), np.concatenate((cuts, [len(centres)])) - 1
        self._order = np.sort(np.concatenate((np.arange(len(centres)), begins, ends)))
        shift = np.zeros(len(self._order))
        shift[np.searchsorted(self._order, begins)] = -0.5
        shift[np.searchsorted(self._order, ends, side="right") - 1] = 0.5
        self.index = (centres[self._order] + shift) * group + (group - 1) / 2.0
        self.breaks = np.searchsorted(self._order, cuts)
        self.numbers, self.is_retrospective = centres, view.is_retrospective[starts]
        past = view.past
        self.low_90, self.low_50 = (self._points(np.minimum, past[name], starts) for name in ("low_90", "low_50"))
        self.high_50, self.high_90 = (self._points(np.maximum, past[name], starts) for name in ("high_50", "high_90"))

    def _points(self, extreme: np.ufunc, values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(extreme.reduceat(values, starts)[self._order], dtype=np.float64)


def _paint_bands(painter: QPainter, frame: Frame, ribbon: _Ribbon, pane: Pane) -> None:
    """Fill the bands by narrow columns, however often the ribbon breaks. A polygon costs twenty times as much."""
    step = max(min(int(frame.spacing) // 4, 2 * frame.pixel), 1)
    columns = np.arange(0, frame.layout.plot_right, step, dtype=np.float64)
    index = frame.exact_index(columns + (step - 1) / 2.0)
    numbers = np.floor((index + 0.5) / frame.group)
    place = np.minimum(np.searchsorted(ribbon.numbers, numbers), len(ribbon.numbers) - 1)
    is_there, is_retrospective = ribbon.numbers[place] == numbers, ribbon.is_retrospective[place]
    kinds = [(value, is_there & (is_retrospective == value)) for value in (False, True)]
    kinds = [(value, is_wanted) for value, is_wanted in kinds if is_wanted.any()]
    edges = (ribbon.high_90, ribbon.low_90, ribbon.high_50, ribbon.low_50)
    rows = frame.ys(np.stack([np.interp(index, ribbon.index, edge) for edge in edges]))
    tops, bottoms = np.maximum(rows[::2], pane.top), np.minimum(rows[1::2], pane.bottom)
    for top, bottom, colour in zip(tops, bottoms, (frame.palette.band_90, frame.palette.band_50), strict=True):
        for value, is_wanted in kinds:
            filled = rects_between(0, step, top, np.where(is_wanted, bottom, top - 1))
            fill_rects(painter, filled, _paler(colour, is_retrospective=value))
    if frame.spacing >= _NARROWEST_EDGES_PX * frame.ratio:
        _paint_edges(painter, frame, ribbon)


def _paint_edges(painter: QPainter, frame: Frame, ribbon: _Ribbon) -> None:
    alpha = round(_EDGE_ALPHA * (_RETROSPECTIVE_SHARE if ribbon.is_retrospective.all() else 1.0))
    pen = QPen(with_alpha(frame.palette.ghost_text, alpha), frame.pixel)
    columns = frame.exact_x(ribbon.index) + 0.5
    for edge in (ribbon.low_90, ribbon.high_90):
        rows = np.insert(frame.ys(edge) + 0.5, ribbon.breaks, np.nan)
        draw_polyline(painter, np.insert(columns, ribbon.breaks, np.nan), rows, pen)


def _paint_ghosts(painter: QPainter, frame: Frame, view: PastView) -> None:
    """Frames around the real bodies, so that both can be read; a flat ghost is a dash. A halo separates them from the
    candles."""
    falling = view.past["close"] < view.past["open"]
    later = view.is_retrospective
    halos, lines = _ghost_rects(frame, view)
    fill_rects(painter, halos, with_alpha(frame.palette.background, _HALO_ALPHA))
    for is_rising in (True, False):
        for is_retrospective in (False, True):
            chosen = (falling != is_rising) & (later == is_retrospective)
            colour = _paler(frame.palette.ghost(is_rising), is_retrospective=is_retrospective)
            fill_rects(painter, lines[chosen], colour)
            if frame.spacing >= _NARROWEST_WHISKERS_PX * frame.ratio:
                _paint_whiskers(painter, frame, lines[chosen], view.past[chosen], colour)


def _ghost_rects(frame: Frame, view: PastView) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Halos [n, 4, 4] and lines [n, 4, 4]: the four edges of each frame; a flat ghost's coincide."""
    pixel = frame.pixel
    widths = frame.widths_around(max(pixel, frame.widths.body // 6))
    left = widths.body_left(frame.xs(view.index))
    right = left + widths.body - 1
    opens, closes = frame.ys(view.past["open"]), frame.ys(view.past["close"])
    top, bottom = np.minimum(opens, closes), np.maximum(opens, closes)
    is_flat = bottom - top < FLATTEST_FRAMED_PX * pixel
    bottom = np.where(is_flat, closes + pixel, bottom)
    top = np.where(is_flat, closes, top)
    edges = (
        (left, top, right, np.where(is_flat, bottom, top + pixel - 1)),
        (left, np.where(is_flat, top, bottom - pixel + 1), right, bottom),
        (left, top, np.where(is_flat, right, left + pixel - 1), bottom),
        (np.where(is_flat, left, right - pixel + 1), top, right, bottom),
    )
    lines = np.stack([rects(*edge) for edge in edges], axis=1)
    grown = np.array([-pixel, -pixel, pixel, pixel], dtype=np.int32)
    return (lines + grown).astype(np.int32), lines


def _paint_whiskers(painter: QPainter, frame: Frame, lines: NDArray[np.int32], ghosts: Past, colour: QColor) -> None:
    """Whiskers are at the frame's left edge: in the middle they would cover the real wick."""
    left = lines[:, 0, 0].astype(np.int64)
    top, bottom = lines[:, 0, 1], lines[:, 1, 3]
    right = left + frame.pixel - 1
    up, down = frame.ys(ghosts["high"]), frame.ys(ghosts["low"])
    whiskers = np.concatenate((rects(left, up, right, top - 1), rects(left, bottom + 1, right, down)))
    shade = with_alpha(colour, min(colour.alpha(), _WHISKER_ALPHA))
    fill_rects(painter, whiskers[whiskers[:, 3] >= whiskers[:, 1]], shade)


def _paint_medians(painter: QPainter, frame: Frame, view: PastView) -> None:
    """The forecast closes as a line, broken at missing forecasts; the last of each group."""
    group = frame.group
    ends = np.flatnonzero(np.diff(view.index // group, append=np.inf))
    index, close = view.index[ends] // group * group + (group - 1) / 2.0, view.past["close"][ends]
    rows = frame.ys(close) + 0.5
    gaps = np.flatnonzero(np.diff(index) > group) + 1
    xs = np.insert(frame.xs(index) + 0.5, gaps, np.nan)
    width = 1.5 if frame.spacing >= _NARROWEST_EDGES_PX * frame.ratio else 1.0
    pen = QPen(frame.palette.ghost_text, width * frame.ratio)
    draw_polyline(painter, xs, np.insert(rows, gaps, np.nan), pen)


def _paler(colour: QColor, *, is_retrospective: bool) -> QColor:
    return with_alpha(colour, round(colour.alpha() * _RETROSPECTIVE_SHARE)) if is_retrospective else colour
