"""What lies over the candles at one moment: where each label stands, and which pixels that touches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QRegion

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import price_label_rect, time_label_rect
from desktop.chart.labels.axis_tags import beside_crosshair, leaving_room
from desktop.chart.labels.forecast_label import clear_of, forecast_label
from desktop.chart.labels.last_price import LastPriceLine, last_price_box, last_price_line
from desktop.chart.labels.note import note_box, note_tooltip
from desktop.chart.labels.readout import crosshair_rows, pane_readouts, readout_box, tooltip_box
from desktop.chart.labels.room import READOUT_MARGIN_PX
from desktop.chart.painting.text import Box
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import LayerSet, PlotLabel


@dataclass(frozen=True)
class Patch:
    """A part of what lies over the candles: what it shows, and the device pixels that it touches."""

    shows: object
    areas: tuple[QRect, ...]


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
    axis_tags: tuple[Box, ...] = ()
    note: Box | None = None
    forecast_label: Box | None = None
    last_price_line: LastPriceLine | None = None
    taken: tuple[QRect, ...] = ()
    """What labels of layers keep out of: the readout's places, the note."""
    plot_labels: tuple[PlotLabel, ...] = ()
    cursor: QPoint | None = None
    """Where it was while these were laid out, in device pixels; None: not over the plot."""

    @classmethod
    def of(
        cls,
        frame: Frame,
        model: ChartModel,
        layers: LayerSet,
        cursor: QPoint | None,
        countdown: str | None,
        former: Overlay | None = None,
    ) -> Overlay:
        """Lay the boxes out for a cursor in device pixels, None when it is elsewhere.

        former: the labels before a tick that changed nothing else: the forecast's and those of a closed candle hold.
        """
        is_over = cursor is not None and frame.layout.plot.contains(cursor)
        index = max(frame.index_at(cursor.x()), 0) if cursor is not None and is_over else None
        label = former.forecast_label if former else forecast_label(frame, model)
        if former is not None and (index is None or index >= model.count or former.cursor != cursor):
            former = None
        last_price, axis_tags = _on_axis(frame, model, layers, countdown)
        readout = former.readout if former else readout_box(frame, model, layers, index, cursor if is_over else None)
        label = clear_of(frame, label, readout.rect)
        note = note_box(frame, model.note, readout.rect, None if label is None else label.rect)
        taken = _taken(frame, readout.rect, note)
        plain = cls(
            cross=None,
            last_price=last_price,
            price_label=None,
            time_label=None,
            readout=readout,
            tooltip=None,
            pane_readouts=former.pane_readouts if former else pane_readouts(frame, model, layers, index),
            axis_tags=axis_tags,
            note=note,
            forecast_label=label,
            last_price_line=last_price_line(frame, model),
            taken=taken,
            plot_labels=tuple(layers.plot_labels(frame, model, taken)),
        )
        if former is not None:
            return plain._with_crosshair_of(former)._with_tags_aside(frame, model, layers)
        return plain if cursor is None or index is None else plain._with_crosshair(frame, model, layers, index, cursor)

    def _with_crosshair_of(self, former: Overlay) -> Overlay:
        return replace(
            self,
            cursor=former.cursor,
            cross=former.cross,
            price_label=former.price_label,
            time_label=former.time_label,
            tooltip=former.tooltip,
        )

    def _with_crosshair(self, frame: Frame, model: ChartModel, layers: LayerSet, index: int, cursor: QPoint) -> Overlay:
        price_label, time_label = _crosshair_labels(frame, model, index, cursor.y())
        tooltip = note_tooltip(frame, model.note, self.note, cursor) or layers.tooltip(frame, model, cursor)
        crossed = replace(
            self,
            cursor=cursor,
            cross=QPoint(frame.x(index), cursor.y()),
            price_label=price_label,
            time_label=time_label,
            tooltip=tooltip or tooltip_box(frame, model, index, cursor),
        )
        return crossed._with_tags_aside(frame, model, layers)

    def _with_tags_aside(self, frame: Frame, model: ChartModel, layers: LayerSet) -> Overlay:
        """A price on the axis that the crosshair's would hide stands beside it meanwhile, the last one too."""
        label, last = self.price_label, self.last_price
        if label is None:
            return self
        aside = None if last is None else beside_crosshair(last, label, frame.layout.price_axis.height())
        if aside is last and not any(tag.rect.intersects(label.rect) for tag in self.axis_tags):
            return self
        moved = replace(self, last_price=aside)
        return replace(moved, axis_tags=tuple(layers.axis_tags(frame, model, (*moved.taken_of_axis, label))))

    @property
    def taken_of_axis(self) -> tuple[Box, ...]:
        """What prices of layers keep off on the axis while the crosshair is elsewhere."""
        return () if self.last_price is None else (self.last_price,)

    @property
    def on_axes(self) -> list[Box]:
        """The labels on the axes, in the order in which they are painted."""
        labels = (*self.axis_tags, self.last_price, self.price_label, self.time_label)
        return [box for box in labels if box is not None]

    def patches(self, frame: Frame) -> tuple[Patch, ...]:
        """What lies over the candles, part by part and always in the same order, without the forecast, which only a
        new view moves. A label on an axis hides those of the axis that it touches, so it owns their pixels as well."""
        layout, pixel = frame.layout, frame.pixel
        last = self.last_price_line
        line = None if last is None else QRect(0, last.row - pixel, layout.plot_right, 3 * pixel)
        across = down = None
        if self.cross is not None:
            down = QRect(self.cross.x() - pixel, 0, 3 * pixel, layout.plot_bottom)
            across = QRect(0, self.cross.y() - pixel, layout.plot_right, 3 * pixel)
        return (
            Patch(last, _areas(line)),
            Patch(self.last_price, _areas(_with_neighbours(self.last_price, frame))),
            Patch(self.price_label, _areas(_with_neighbours(self.price_label, frame))),
            Patch(self.cross, _areas(across, down)),
            Patch(self.time_label, _areas(None if self.time_label is None else layout.time_axis)),
            Patch(self.readout, _areas(self.readout.rect)),
            Patch(self.tooltip, _areas(None if self.tooltip is None else self.tooltip.rect)),
            Patch(self.pane_readouts, tuple(box.rect for box in self.pane_readouts)),
            Patch(self.axis_tags, _areas(*(_with_neighbours(box, frame) for box in self.axis_tags))),
            Patch(self.plot_labels, tuple(label.area for label in self.plot_labels)),
            Patch(self.forecast_label, _areas(None if self.forecast_label is None else self.forecast_label.rect)),
            Patch(self.note, _areas(None if self.note is None else self.note.rect)),
        )


def changed_region(before: Sequence[Patch], after: Sequence[Patch], live: Sequence[QRect], ratio: float) -> QRegion:
    """The logical pixels of the patches that differ, where they were and where they are, and of `live`.

    live: device pixels that may have changed without a patch that says so.
    """
    areas = list(live)
    for old, new in zip(before, after, strict=True):
        if old != new:
            areas += (*old.areas, *new.areas)
    region = QRegion()
    for area in areas:
        region += _logical(area, ratio)
    return region


def _on_axis(
    frame: Frame, model: ChartModel, layers: LayerSet, countdown: str | None
) -> tuple[Box | None, tuple[Box, ...]]:
    """The last price, and what layers mark beside it."""
    last_price = last_price_box(frame, model, countdown)
    if last_price is None:
        return None, tuple(layers.axis_tags(frame, model, ()))
    tags = layers.axis_tags(frame, model, (last_price,))
    aside = leaving_room(last_price, tags, frame.layout.price_axis.height())
    if aside is not last_price:
        tags = layers.axis_tags(frame, model, (aside,))
    return aside, tuple(tags)


def _taken(frame: Frame, readout: QRect, note: Box | None) -> tuple[QRect, ...]:
    """The readout's usual place counts too while it dodges the cursor: labels must not run from a hand that comes."""
    margin = frame.scaled(READOUT_MARGIN_PX)
    usual = QRect(QPoint(margin, margin), readout.size())
    places = (readout,) if usual == readout else (readout, usual)
    return places if note is None else (*places, note.rect)


def _areas(*areas: QRect | None) -> tuple[QRect, ...]:
    return tuple(area for area in areas if area is not None)


def _with_neighbours(box: Box | None, frame: Frame) -> QRect | None:
    """A label on the price axis with the labels of the axis that it may hide."""
    line = frame.fonts.line
    return None if box is None else box.rect.adjusted(-frame.pixel, -line, 0, line)


def _crosshair_labels(frame: Frame, model: ChartModel, index: int, row: int) -> tuple[Box | None, Box | None]:
    price_rows, time_rows = crosshair_rows(frame, model, index, row)
    palette = frame.palette
    time_label = Box(
        time_label_rect(frame, frame.x(index), time_rows), tuple(time_rows), palette.raised, palette.border
    )
    pane = frame.pane_at(row)
    if not pane.has_scale:
        return None, time_label
    if not pane.inner_top <= row < pane.inner_bottom and (pane is not frame.price_pane or row >= pane.inner_bottom):
        return None, time_label
    rect = price_label_rect(frame, row, price_rows)
    price = frame.price_at(row) if pane is frame.price_pane else None
    return Box(rect, tuple(price_rows), palette.raised, palette.border, price=price), time_label


def _logical(area: QRect, ratio: float) -> QRect:
    """Device pixels to the logical rectangle around them, with a pixel to spare."""
    if area.isEmpty():
        return QRect()
    left, top = math.floor(area.left() / ratio) - 1, math.floor(area.top() / ratio) - 1
    right, bottom = math.ceil((area.right() + 1) / ratio) + 1, math.ceil((area.bottom() + 1) / ratio) + 1
    return QRect(left, top, right - left, bottom - top)
