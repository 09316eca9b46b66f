"""Hindsight: what had been forecast for the candles in view, laid over what came."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter, QPen

from desktop import formatting
from desktop.chart.data.model import ChartModel
from desktop.chart.data.past import LATER_MODES, Past
from desktop.chart.data.past_forecasts import PastView
from desktop.chart.drawing.primitives import Rects, draw_polyline, fill_rects, fill_ribbon, rects
from desktop.chart.drawing.text import Row, Span
from desktop.chart.framing.frame import Frame
from desktop.chart.framing.pane import PRICE_PANE, Pane
from desktop.chart.labels.past import candles_before
from desktop.chart.layers.layer import PaneScale

_NARROWEST_GHOST_PX = 7
"""Logical pixels between candles below which ghosts would blur: the median line stands in for them."""
_FLATTEST_FRAMED_PX = 3
_NARROWEST_WHISKERS_PX = 14
_NARROWEST_WIDE_LINE_PX = 3
_LATER_SHARE = 0.65
_HALO_ALPHA = 170
_EDGE_ALPHA = 120
_WHISKER_ALPHA = 150


class HindsightLayer:
    """Ghosts of the horizon that is shown, with their bands as a ribbon. Paler where they were not made live."""

    @property
    def pane(self) -> str:
        return PRICE_PANE

    @property
    def pane_scale(self) -> PaneScale:
        return PaneScale()

    def key(self, model: ChartModel) -> Hashable:
        return (model.past.version, model.past.horizon)

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        view = _view(model, frame_first, frame_stop)
        if view is None or not len(view):
            return None
        return float(view.past["low_90"].min()), float(view.past["high_90"].max())

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        view = _view(model, frame.first, frame.stop)
        if view is None or not len(view):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for run in _runs(view, frame.group):
            _paint_band(painter, frame, run)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if frame.spacing >= _NARROWEST_GHOST_PX * frame.ratio:
            _paint_ghosts(painter, frame, view)
        else:
            _paint_medians(painter, frame, view)

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        return

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        if model.other_interval is not None:
            return ()
        palette, view = frame.palette, _view(model, frame.first, frame.stop)
        said = f"forecasts made {candles_before(model.past.horizon)}: close, and 50 % and 90 % band"
        if view is not None and view.is_too_wide:
            said = f"zoom in: at most {formatting.format_count(model.past.most_candles)} candles are compared at once"
        elif view is not None and view.is_complete and not len(view):
            said = f"nothing in view was forecast {candles_before(model.past.horizon)}"
        return ((Span("Hindsight", palette.ghost_text, bold=True), Span(said, palette.muted_text)),)


def _view(model: ChartModel, first: int, stop: int) -> PastView | None:
    return None if model.series is None else model.past.view(model.series, first, stop)


class _Run:
    """Neighbouring forecasts of one kind: the ribbon does not bridge what was not forecast."""

    def __init__(self, index: NDArray[np.float64], past: Past, is_later: bool, group: int) -> None:
        self.is_later = is_later
        starts = np.flatnonzero(np.diff(index // group, prepend=-1.0))
        self.index = index[starts] // group * group + (group - 1) / 2.0
        self.low_90, self.low_50 = (np.minimum.reduceat(past[name], starts) for name in ("low_90", "low_50"))
        self.high_50, self.high_90 = (np.maximum.reduceat(past[name], starts) for name in ("high_50", "high_90"))


def _runs(view: PastView, group: int) -> Iterator[_Run]:
    later = view.is_later
    cuts = np.flatnonzero((np.diff(view.index) > 1.0) | np.diff(later)) + 1
    edges = [0, *cuts.tolist(), len(view)]
    for begin, end in pairwise(edges):
        yield _Run(view.index[begin:end], view.past[begin:end], bool(later[begin]), group)


def _paint_band(painter: QPainter, frame: Frame, run: _Run) -> None:
    half = frame.group / 2.0
    index = np.concatenate(([run.index[0] - half], run.index, [run.index[-1] + half]))
    columns = frame.layout.plot_right - (frame.right - index) * frame.spacing + 0.5
    edge = QColor(frame.palette.ghost_text)
    edge.setAlpha(_EDGE_ALPHA)
    pen = QPen(_paler(edge, is_later=run.is_later), frame.pixel)
    for low, high, colour in (
        (run.low_90, run.high_90, frame.palette.band_90),
        (run.low_50, run.high_50, frame.palette.band_50),
    ):
        lower, upper = (np.pad(frame.ys(each) + 0.5, 1, mode="edge") for each in (low, high))
        fill_ribbon(painter, columns, lower, upper, _paler(colour, is_later=run.is_later))
        painter.setPen(pen)
        for line in (lower, upper) if low is run.low_90 else ():
            draw_polyline(painter, columns, line)


def _paint_ghosts(painter: QPainter, frame: Frame, view: PastView) -> None:
    """Frames around the real bodies, so that both can be read; a flat ghost is a dash. A halo parts them from what
    they lie on."""
    falling = view.past["close"] < view.past["open"]
    later = np.isin(view.past["mode"], LATER_MODES)
    halos, lines = _ghost_rects(frame, view)
    ground = QColor(frame.palette.background)
    ground.setAlpha(_HALO_ALPHA)
    fill_rects(painter, _flat(halos), ground)
    for is_rising in (True, False):
        for is_later in (False, True):
            chosen = (falling != is_rising) & (later == is_later)
            colour = _paler(frame.palette.ghost(is_rising), is_later=is_later)
            fill_rects(painter, _flat(lines[chosen]), colour)
            if frame.spacing >= _NARROWEST_WHISKERS_PX * frame.ratio:
                _paint_whiskers(painter, frame, lines[chosen], view.past[chosen], colour)


def _ghost_rects(frame: Frame, view: PastView) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Halos [n, 4, 4] and lines [n, 4, 4]: the four edges of each frame; those of a flat ghost lie on each other."""
    pixel = frame.pixel
    width = _ghost_width(frame)
    left = frame.xs(view.index) - frame.widths.wick // 2 - (width - frame.widths.wick) // 2
    right = left + width - 1
    opens, closes = frame.ys(view.past["open"]), frame.ys(view.past["close"])
    top, bottom = np.minimum(opens, closes), np.maximum(opens, closes)
    is_flat = bottom - top < _FLATTEST_FRAMED_PX * pixel
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
    """From the frame's left edge to high and low: in the middle they would lie on the real wick."""
    left = lines[:, 0, 0].astype(np.int64)
    top, bottom = lines[:, 0, 1], lines[:, 1, 3]
    right = left + frame.pixel - 1
    shade = QColor(colour)
    shade.setAlpha(min(colour.alpha(), _WHISKER_ALPHA))
    up, down = frame.ys(ghosts["high"]), frame.ys(ghosts["low"])
    whiskers = np.concatenate((rects(left, up, right, top - 1), rects(left, bottom + 1, right, down)))
    fill_rects(painter, np.ascontiguousarray(whiskers[whiskers[:, 3] >= whiskers[:, 1]]), shade)


def _ghost_width(frame: Frame) -> int:
    """A little wider than a candle's body, with a pixel left between neighbours."""
    body, wick = frame.widths.body, frame.widths.wick
    most = max(int(frame.spacing) - frame.pixel, body)
    width = min(body + 2 * max(frame.pixel, body // 6), most)
    return width - (width - wick) % 2


def _paint_medians(painter: QPainter, frame: Frame, view: PastView) -> None:
    """The forecast closes as a line, broken where there is none; of a group its last."""
    group = frame.group
    ends = np.flatnonzero(np.diff(view.index // group, append=np.inf))
    index, close = view.index[ends] // group * group + (group - 1) / 2.0, view.past["close"][ends]
    rows = frame.ys(close) + 0.5
    gaps = np.flatnonzero(np.diff(index) > group) + 1
    xs = np.insert(frame.xs(index) + 0.5, gaps, np.nan)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    width = 1.5 if frame.spacing >= _NARROWEST_WIDE_LINE_PX * frame.ratio else 1.0
    painter.setPen(QPen(frame.palette.ghost_text, width * frame.ratio))
    draw_polyline(painter, xs, np.insert(rows, gaps, np.nan))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _flat(shapes: NDArray[np.int32]) -> Rects:
    return np.ascontiguousarray(shapes.reshape(-1, 4))


def _paler(colour: QColor, *, is_later: bool) -> QColor:
    if not is_later:
        return colour
    shade = QColor(colour)
    shade.setAlpha(round(shade.alpha() * _LATER_SHARE))
    return shade
