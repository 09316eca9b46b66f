"""Everything over the candles: the position of each label, and the pixels that it covers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QRegion

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import clear_of_crosshair, crosshair_labels, leaving_room
from desktop.chart.labels.chance import axis_tip
from desktop.chart.labels.forecast import clear_of, forecast_label, note_box, note_text, note_tooltip
from desktop.chart.labels.last_price import LastPriceLine, last_price_box, last_price_line
from desktop.chart.labels.readout import READOUT_MARGIN_PX, pane_readouts, readout_box, tooltip_box
from desktop.chart.painting.text import Box
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import LayerSet, PlotLabel


@dataclass(frozen=True)
class Patch:
    """A part of the overlay: its content, and the device pixels that it covers."""

    shows: object
    areas: Sequence[QRect]


@dataclass(frozen=True)
class Overlay:
    """Boxes laid out for one frame. `cross` is the crosshair's centre, None while the cursor is not over the plot."""

    cross: QPoint | None
    last_price: Box | None
    price_label: Box | None
    time_label: Box | None
    readout: Box
    tooltip: Box | None
    pane_readouts: tuple[Box, ...]
    axis_tags: tuple[Box, ...]
    note: Box | None
    forecast_label: Box | None
    last_price_line: LastPriceLine | None
    taken: tuple[QRect, ...]
    """Areas that layers' labels avoid: the readout's places and the remark."""
    plot_labels: tuple[PlotLabel, ...]
    cursor: QPoint | None
    """The cursor for this layout, in device pixels; None: not over the plot."""

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
        """Lay out the boxes for a cursor in device pixels, None if it is elsewhere.

        former: the labels before a tick that changed nothing else; the labels of the forecast and of a closed candle
        are reused.
        """
        at = cursor if cursor is not None and frame.layout.plot.contains(cursor) else None
        index = None if at is None else max(frame.index_at(at.x()), 0)
        label = former.forecast_label if former else forecast_label(frame, model)
        if former is not None and (index is None or index >= model.count or former.cursor != at):
            former = None
        readout = former.readout if former else readout_box(frame, model, layers, index, at)
        label = clear_of(frame, label, readout.rect)
        words = note_text(model)
        note = note_box(frame, words, readout, None if label is None else label.rect)
        taken = _taken(frame, readout.rect, note)
        plot_labels = tuple(layers.plot_labels(frame, model, taken))  # first: a shortened label has a tooltip
        price_label = time_label = tooltip = None
        if former is not None:
            price_label, time_label, tooltip = former.price_label, former.time_label, former.tooltip
        elif at is not None and index is not None:
            price_label, time_label = crosshair_labels(frame, model, index, at.y())
            if not layers.are_tooltips_suppressed:
                tooltip = note_tooltip(frame, words, note, at) or layers.tooltip(frame, model, at)
                if tooltip is None and not layers.are_under_mouse:
                    tooltip = tooltip_box(frame, model, index, at)
        elif cursor is not None and not layers.are_tooltips_suppressed:
            tooltip = axis_tip(frame, model, cursor)
        last_price, axis_tags = _on_axis(frame, model, layers, countdown, price_label)
        return cls(
            cross=None if at is None or index is None else QPoint(frame.x(index), at.y()),
            last_price=last_price,
            price_label=price_label,
            time_label=time_label,
            readout=readout,
            tooltip=tooltip,
            pane_readouts=former.pane_readouts if former else pane_readouts(frame, model, layers, index),
            axis_tags=axis_tags,
            note=note,
            forecast_label=label,
            last_price_line=last_price_line(frame, model),
            taken=taken,
            plot_labels=plot_labels,
            cursor=at,
        )

    @property
    def taken_of_axis(self) -> tuple[Box, ...]:
        """Tags that layers avoid on the price axis while the crosshair is elsewhere."""
        return _present(self.last_price)

    @property
    def on_axes(self) -> tuple[Box, ...]:
        """The labels on the axes, in paint order."""
        return _present(*self.axis_tags, self.last_price, self.price_label, self.time_label)

    def patches(self, frame: Frame) -> tuple[Patch, ...]:
        """The parts of the overlay in a fixed order, without the forecast, which only a new view moves. A label on an
        axis hides the axis labels that it touches, so it includes their pixels."""
        layout, pixel, line = frame.layout, frame.pixel, frame.fonts.line
        last, cross = self.last_price_line, self.cross
        row = [] if last is None else [QRect(0, last.row - pixel, layout.plot_right, 3 * pixel)]
        across = [] if cross is None else [QRect(0, cross.y() - pixel, layout.plot_right, 3 * pixel)]
        down = [] if cross is None else [QRect(cross.x() - pixel, 0, 3 * pixel, layout.plot_bottom)]
        on_price_axis = (_present(self.last_price), _present(self.price_label), self.axis_tags)
        alone = (self.readout, self.tooltip, self.forecast_label, self.note)
        return (
            Patch(last, row),
            Patch(cross, across + down),
            Patch(self.time_label, [] if self.time_label is None else [layout.time_axis]),
            *(Patch(boxes, [box.rect.adjusted(-pixel, -line, 0, line) for box in boxes]) for boxes in on_price_axis),
            *(Patch(box, [] if box is None else [box.rect]) for box in alone),
            Patch(self.pane_readouts, [box.rect for box in self.pane_readouts]),
            Patch(self.plot_labels, [label.area for label in self.plot_labels]),
        )


def changed_region(before: Sequence[Patch], after: Sequence[Patch], live: Sequence[QRect], ratio: float) -> QRegion:
    """The logical pixels of the patches that differ, in both places, and of `live`.

    live: device pixels that may have changed without a changed patch.
    """
    areas = list(live)
    for old, new in zip(before, after, strict=True):
        if old != new:
            areas += (*old.areas, *new.areas)
    region = QRegion()
    for area in areas:
        if not area.isEmpty():  # the enclosing logical rectangle, with one pixel of margin
            left, top = math.floor(area.left() / ratio) - 1, math.floor(area.top() / ratio) - 1
            right, bottom = math.ceil((area.right() + 1) / ratio) + 1, math.ceil((area.bottom() + 1) / ratio) + 1
            region += QRect(left, top, right - left, bottom - top)
    return region


def _on_axis(
    frame: Frame, model: ChartModel, layers: LayerSet, countdown: str | None, crosshair: Box | None
) -> tuple[Box | None, tuple[Box, ...]]:
    """The last price and the layers' tags, moved away from the crosshair's label."""
    height, last = frame.layout.price_axis.height(), last_price_box(frame, model, countdown)
    tags = layers.axis_tags(frame, model, _present(last))
    if last is not None and (aside := leaving_room(last, tags, height)) is not last:
        last, tags = aside, layers.axis_tags(frame, model, (aside,))
    if crosshair is None:
        return last, tuple(tags)
    beside = None if last is None else clear_of_crosshair(last, crosshair, height)
    if beside is not last or any(tag.rect.intersects(crosshair.rect) for tag in tags):
        last, tags = beside, layers.axis_tags(frame, model, (*_present(beside), crosshair))
    return last, tuple(tags)


def _taken(frame: Frame, readout: QRect, note: Box | None) -> tuple[QRect, ...]:
    """The readout's usual place is included while it avoids the cursor: labels must not move as the mouse
    approaches."""
    margin = frame.scaled(READOUT_MARGIN_PX)
    usual = QRect(QPoint(margin, margin), readout.size())
    places = (readout,) if usual == readout else (readout, usual)
    return places if note is None else (*places, note.rect)


def _present(*boxes: Box | None) -> tuple[Box, ...]:
    return tuple(box for box in boxes if box is not None)
