"""What lies over the candles at one moment: where each label stands, and which pixels that touches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QRegion

from desktop.chart.data.model import ChartModel
from desktop.chart.drawing.text import Box
from desktop.chart.framing.frame import Frame
from desktop.chart.labels.note import note_box
from desktop.chart.labels.readout import crosshair_rows, pane_readouts, readout_box, tooltip_box
from desktop.chart.layers.axes import price_label_rect, time_label_rect
from desktop.chart.layers.layer import LayerSet
from desktop.chart.layers.live import forming_area, last_price_box, last_price_row


@dataclass(frozen=True)
class Overlay:
    """Boxes laid out for one frame. `cross` is the crosshair's centre, None while the cursor is not over the plot."""

    cross: QPoint | None
    last_price: Box | None
    price_label: Box | None
    time_label: Box | None
    readout: Box
    tooltip: Box | None
    pane_readouts: tuple[Box, ...] = ()
    note: Box | None = None

    @classmethod
    def of(
        cls, frame: Frame, model: ChartModel, layers: LayerSet, cursor: QPoint | None, countdown: str | None
    ) -> Overlay:
        """Lay the boxes out for a cursor in device pixels, None when it is elsewhere."""
        last_price = last_price_box(frame, model, countdown)
        if cursor is None or not frame.layout.plot.contains(cursor):
            readout = readout_box(frame, model, layers, None, None)
            panes = pane_readouts(frame, model, layers, None)
            return cls(None, last_price, None, None, readout, None, panes, note_box(frame, model.note, readout.rect))
        index = max(frame.index_at(cursor.x()), 0)
        readout = readout_box(frame, model, layers, index, cursor)
        return cls(
            QPoint(frame.x(index), cursor.y()),
            last_price,
            *_crosshair_labels(frame, model, index, cursor.y()),
            readout,
            tooltip_box(frame, model, index, cursor),
            pane_readouts(frame, model, layers, index),
            note_box(frame, model.note, readout.rect),
        )

    def region(self, frame: Frame, model: ChartModel) -> QRegion:
        """The logical pixels that this overlay may touch, without the forecast's, which only a new view moves."""
        layout, pixel = frame.layout, frame.pixel
        areas = [layout.price_axis, self.readout.rect, forming_area(frame, model)]
        areas += [box.rect for box in self.pane_readouts]
        row = last_price_row(frame, model)
        if row is not None:
            areas.append(QRect(0, row - pixel, layout.plot_right, 3 * pixel))
        if self.cross is not None:
            areas.append(QRect(self.cross.x() - pixel, 0, 3 * pixel, layout.plot_bottom))
            areas.append(QRect(0, self.cross.y() - pixel, layout.plot_right, 3 * pixel))
            areas.append(layout.time_axis)
        areas += [box.rect for box in (self.tooltip, self.note) if box is not None]
        region = QRegion()
        for area in areas:
            region += _logical(area, frame.ratio)
        return region


def _crosshair_labels(frame: Frame, model: ChartModel, index: int, row: int) -> tuple[Box | None, Box | None]:
    price_rows, time_rows = crosshair_rows(frame, model, index, row)
    palette = frame.palette
    time_label = Box(
        time_label_rect(frame, frame.x(index), time_rows), tuple(time_rows), palette.raised, palette.border
    )
    pane = frame.pane_at(row)
    if not pane.inner_top <= row < pane.inner_bottom and (pane is not frame.price_pane or row >= pane.inner_bottom):
        return None, time_label
    rect = price_label_rect(frame, row, price_rows)
    return Box(rect, tuple(price_rows), palette.raised, palette.border), time_label


def _logical(area: QRect, ratio: float) -> QRect:
    """Device pixels to the logical rectangle around them, with a pixel to spare."""
    if area.isEmpty():
        return QRect()
    left, top = math.floor(area.left() / ratio) - 1, math.floor(area.top() / ratio) - 1
    right, bottom = math.ceil((area.right() + 1) / ratio) + 1, math.ceil((area.bottom() + 1) / ratio) + 1
    return QRect(left, top, right - left, bottom - top)
