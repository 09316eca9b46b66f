"""What only a new view or a closed candle changes: grid, closed candles, and what other layers lay over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QPainter, QPixmap

from desktop.chart.data.columns import visible_gaps
from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.primitives import fill_rects, rects
from desktop.chart.framing.frame import Frame
from desktop.chart.layers.axes import pane_marks, price_marks, time_marks
from desktop.chart.layers.candles import paint_closed
from desktop.chart.layers.layer import LayerSet
from desktop.theme import mixed

_GRID_ON_GROUND = 0.13
_DOTS_EVERY_PX = 8
_DOTS_INK = 0.45
_FEW_GAPS = 4
_CANDLES_A_GAP = 20
"""Fewer candles than this between two gaps: whole lines would cover them like a barcode."""
_TICK_PX = 10


class BaseLayer:
    """Paints into a pixmap when its key changed, and hands that out."""

    def __init__(self, layers: LayerSet) -> None:
        self._layers = layers
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] | None = None
        self.paints = 0
        """How often it has been painted: tests hold the chart to as few as needed."""

    def pixmap(self, frame: Frame, model: ChartModel) -> QPixmap:
        """The picture for this frame, in device pixels."""
        # Grid lines ahead of the closed candles go on from the forming one.
        ahead_ms = model.time_at(model.count)
        key = (*frame.base_key(model.version), id(model.series), model.holes, ahead_ms, self._layers.key(model))
        if key != self._key:
            self._paint(frame, model)
            self._key = key
        return self._pixmap

    def forget(self) -> None:
        """Paint anew next time."""
        self._key = None

    def _paint(self, frame: Frame, model: ChartModel) -> None:
        self.paints += 1
        if self._pixmap.width() != frame.layout.width or self._pixmap.height() != frame.layout.height:
            self._pixmap = QPixmap(frame.layout.width, frame.layout.height)
        self._pixmap.fill(frame.palette.background)
        painter = QPainter(self._pixmap)
        for underlay in self._layers.underlays:
            pane = frame.pane(underlay.pane)
            painter.setClipRect(pane.rect)
            underlay.paint_behind(painter, frame, pane, model)
        painter.setClipping(False)
        _paint_grid(painter, frame, model, has_ground=bool(self._layers.underlays))
        painter.setClipRect(frame.layout.plot)
        _paint_gaps(painter, frame, model)
        painter.setClipRect(frame.layout.main)
        paint_closed(painter, frame, model)
        for layer in self._layers:
            pane = frame.pane(layer.pane)
            painter.setClipRect(pane.rect)
            painter.save()
            layer.paint(painter, frame, pane, model)
            painter.restore()
        painter.end()


def _paint_grid(painter: QPainter, frame: Frame, model: ChartModel, *, has_ground: bool) -> None:
    """has_ground: something may lie behind it, so it stands out more."""
    palette = frame.palette
    colour = mixed(palette.muted_text, palette.grid, _GRID_ON_GROUND) if has_ground else palette.grid
    layout, pixel = frame.layout, frame.pixel
    rows = [frame.ys(np.array(price_marks(frame), dtype=np.float64))]
    rows += [pane.ys(np.array(pane_marks(frame, pane), dtype=np.float64)) for pane in frame.panes]
    across = np.concatenate(rows)
    indices = np.array([index for index, _ in time_marks(frame, model)], dtype=np.float64)
    lines = frame.xs(indices)
    fill_rects(painter, rects(0, across, layout.plot_right - 1, across + pixel - 1), colour)
    fill_rects(painter, rects(lines, 0, lines + pixel - 1, layout.plot_bottom - 1), colour)
    tops = np.array([layout.plot_bottom, *(pane.top for pane in frame.panes)])
    fill_rects(painter, rects(0, tops, layout.width - 1, tops + pixel - 1), frame.palette.border)
    axis = rects(layout.plot_right, 0, layout.plot_right + pixel - 1, layout.height - 1)
    fill_rects(painter, axis, frame.palette.border)


def _paint_gaps(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    """A thin mark between the candles around a hole, while there is room between them: a line where candles are still
    to be had, dots where the exchange has none. In a thin market, which has more holes than that, only their feet."""
    if model.series is None or frame.group > 1:
        return
    found = visible_gaps(model.series, frame.first, frame.stop)
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
    """Of which gaps, by the candle after each, the exchange has no candle at all."""
    assert model.series is not None, "gaps are found in it"
    if model.holes is None:
        return np.zeros(found.size, np.bool_)
    times, step_ms = model.series.open_time_ms, model.series.interval.duration_ms
    first_ms, stop_ms = times[found - 1] + step_ms, times[found]
    return np.asarray(model.holes.within_ms(first_ms, stop_ms) == stop_ms - first_ms)
