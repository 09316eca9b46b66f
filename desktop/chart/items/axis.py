"""The labels of all axes: round prices and times."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import Label, paint_labels, time_labels, value_labels
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.picture import Picture


class AxisLabelsItem(ChartItem):
    """Beside each pane its values, below all the candles' times and the time zone; recomputed only with a new view."""

    z = 70.0

    def __init__(self, picture: Picture) -> None:
        super().__init__()
        self._picture = picture
        self._labels: Sequence[Label] = ()
        self._key: object = None

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        overlay = self._picture.overlay
        if overlay is None:
            return
        if self._key != self._picture.labels_key:
            self._key = self._picture.labels_key
            values = [label for each in (frame.price_pane, *frame.panes) for label in value_labels(frame, each)]
            self._labels = [*values, *time_labels(frame, model, self._picture.time_marks(frame))]
        paint_labels(painter, frame, self._labels, [box.rect for box in overlay.on_axes], self._picture.wanted)
