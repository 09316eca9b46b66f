"""The labels of all axes: round prices and times."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QPainter

from desktop.chart.items.live import LabelItem
from desktop.chart.labels.axis_labels import Label, paint_labels, time_labels, value_labels
from desktop.chart.labels.overlay import Overlay
from desktop.chart.panes.frame import Frame


class AxisLabelsItem(LabelItem):
    """The values beside each pane, and below the panes the times and the time zone; kept until their key changes."""

    z = 70.0

    def __init__(self) -> None:
        super().__init__()
        self._labels: Sequence[Label] = ()
        self._key: object = None

    def draw_labels(self, painter: QPainter, frame: Frame, overlay: Overlay) -> None:
        key = self.surface.labels_key
        if self._key != key:
            values = [label for each in (frame.price_pane, *frame.panes) for label in value_labels(frame, each)]
            times = time_labels(frame, self.surface.model, self.surface.time_marks(frame))
            self._labels, self._key = [*values, *times], key
        paint_labels(painter, frame, self._labels, [box.rect for box in overlay.on_axes], self.surface.wanted)
