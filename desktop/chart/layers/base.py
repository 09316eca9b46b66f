"""The layer that rarely changes: grid, gaps, volume and closed candles, kept as one picture."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QPainter, QPixmap

from desktop.chart.data.columns import columns, visible_gaps
from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.geometry import candle_rects, volume_rects
from desktop.chart.drawing.primitives import fill_rects, rects
from desktop.chart.framing.frame import Frame
from desktop.chart.layers.axes import price_marks, time_marks


class BaseLayer:
    """Paints into a pixmap when its key changed, and hands that out."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] | None = None
        self.paints = 0
        """How often it has been painted: tests hold the chart to as few as needed."""

    def pixmap(self, frame: Frame, model: ChartModel) -> QPixmap:
        """The picture for this frame, in device pixels."""
        key = (*frame.base_key(model.version), id(model.series))
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
        _paint_grid(painter, frame, model)
        painter.setClipRect(frame.layout.plot)
        _paint_candles(painter, frame, model)
        painter.end()


def _paint_grid(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    layout, pixel = frame.layout, frame.pixel
    rows = frame.ys(np.array(price_marks(frame), dtype=np.float64))
    indices = np.array([index for index, _ in time_marks(frame, model)], dtype=np.float64)
    lines = frame.xs(indices)
    fill_rects(painter, rects(0, rows, layout.plot_right - 1, rows + pixel - 1), frame.palette.grid)
    fill_rects(painter, rects(lines, 0, lines + pixel - 1, layout.plot_bottom - 1), frame.palette.grid)
    borders = rects(
        np.array([layout.plot_right, 0]),
        np.array([0, layout.plot_bottom]),
        np.array([layout.plot_right + pixel - 1, layout.width - 1]),
        np.array([layout.height - 1, layout.plot_bottom + pixel - 1]),
    )
    fill_rects(painter, borders, frame.palette.border)


def _paint_candles(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    if model.series is None or frame.first >= frame.stop:
        return
    palette = frame.palette
    drawn = columns(model.series, frame.first, frame.stop, frame.group)
    if frame.shows_volume:
        bars = volume_rects(drawn, frame.widths, frame.xs, frame.volume_ys, frame.layout.plot_bottom - 1)
        fill_rects(painter, bars[0], palette.volume_up)
        fill_rects(painter, bars[1], palette.volume_down)
    _paint_gaps(painter, frame, model)
    candles = candle_rects(drawn, frame.widths, frame.xs, frame.ys)
    fill_rects(painter, candles.up_wicks, palette.up)
    fill_rects(painter, candles.down_wicks, palette.down)
    fill_rects(painter, candles.up_bodies, palette.up)
    fill_rects(painter, candles.down_bodies, palette.down)


def _paint_gaps(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    """A thin mark between the candles around a hole, while there is room between them."""
    if model.series is None or frame.group > 1:
        return
    found = visible_gaps(model.series, frame.first, frame.stop)
    columns_px = frame.xs(found.astype(np.float64) - 0.5)
    marks = rects(columns_px, 0, columns_px + frame.pixel - 1, frame.layout.plot_bottom - 1)
    fill_rects(painter, marks, frame.palette.gap)
