"""Lines at round prices and times, gap marks, and the borders between panes and axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QPainter

from desktop.chart.data.columns import visible_gaps
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import fill_rects, rects
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.layer import LayerSet
from desktop.chart.picture import Picture
from desktop.ui.theme import mixed

_GRID_ON_GROUND = 0.13
_DOTS_EVERY_PX = 8
_DOTS_INK = 0.45
_FEW_GAPS = 4
_CANDLES_A_GAP = 20
"""Full lines with fewer candles than this between two gaps would look like a barcode."""
_TICK_PX = 10


class GridItem(ChartItem):
    """Lines at round prices and times in all panes."""

    z, is_cached = -50.0, True

    surface: Picture

    def __init__(self, layers: LayerSet) -> None:
        super().__init__()
        self._layers = layers

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if not frame.style.shows_grid:
            return
        palette, pixel = frame.palette, frame.pixel
        has_background = self._layers.has_background
        colour = mixed(palette.muted_text, palette.grid, _GRID_ON_GROUND) if has_background else palette.grid
        panes = (pane, *frame.panes)
        marks = ((pane.y(value), pane) for pane in panes for value in self.surface.value_marks(frame, pane))
        across = np.array([row for row, pane in marks if pane.top <= row <= pane.bottom - pixel], dtype=np.int64)
        lines = np.array([frame.x(index) for index, _ in self.surface.time_marks(frame)], dtype=np.int64)
        rows = rects(0, across, pane.right - 1, across + pixel - 1)
        columns = rects(lines, 0, lines + pixel - 1, frame.layout.plot_bottom - 1)
        fill_rects(painter, np.concatenate((rows, columns)), colour)


class BordersItem(ChartItem):
    """Lines between panes, and between panes and axes."""

    z, is_cached = -48.0, True

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        layout, pixel = frame.layout, frame.pixel
        tops = np.array([layout.plot_bottom, *(pane.top for pane in frame.panes)])
        fill_rects(painter, rects(0, tops, layout.width - 1, tops + pixel - 1), frame.palette.border)
        axis = rects(layout.plot_right, 0, layout.plot_right + pixel - 1, layout.height - 1)
        fill_rects(painter, axis, frame.palette.border)


class GapsItem(ChartItem):
    """A thin mark between the candles around a gap, if there is room: a line if the candles can still be loaded, dots
    if the exchange has none. In a thin market with more gaps, only the foot of each mark."""

    pane, z, is_cached = PRICE_PANE, -45.0, True

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if frame.group > 1:
            return
        found = visible_gaps(model.series, frame.first, frame.stop)
        if not found.size:
            return
        columns_px = frame.xs(found.astype(np.float64) - 0.5)
        is_absent = _are_absent(found, model)
        bottom, side = frame.layout.plot_bottom - 1, frame.pixel
        is_thin = found.size > max(_FEW_GAPS, (frame.stop - frame.first) // _CANDLES_A_GAP)
        top_px = bottom - frame.scaled(_TICK_PX) if is_thin else 0
        marks = columns_px[~is_absent]
        fill_rects(painter, rects(marks, top_px, marks + side - 1, bottom), frame.palette.gap)
        left, top = np.meshgrid(columns_px[is_absent], np.arange(top_px, bottom, frame.scaled(_DOTS_EVERY_PX)))
        dots = rects(left, top, left + side - 1, np.minimum(top + 2 * side - 1, bottom))
        fill_rects(painter, dots, mixed(frame.palette.muted_text, frame.palette.background, _DOTS_INK))


def _are_absent(found: NDArray[np.int64], model: ChartModel) -> NDArray[np.bool_]:
    """Whether the exchange has no candle at all in each gap, given by the candle after it."""
    if model.holes is None:
        return np.zeros(found.size, np.bool_)
    times, step_ms = model.series.open_time_ms, model.series.interval.duration_ms
    first_ms, stop_ms = times[found - 1] + step_ms, times[found]
    return np.asarray(model.holes.within_ms(first_ms, stop_ms) == stop_ms - first_ms)
