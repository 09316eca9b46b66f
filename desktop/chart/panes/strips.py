"""The layers of the panes below the prices, painted wider than the view while it is panned: most steps then only move
them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPixmap

from desktop.chart.data.model import ChartModel
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer, LayerSet

_REACH_PX = 256
"""How far a strip extends beyond the view on both sides, in device pixels."""
_MOST_WIDENED = 2
"""Strips painted wider in one step, so that no step is much slower than the others."""
_EXACT_PX = 1e-3


@dataclass(frozen=True, slots=True)
class _Strip:
    """A pane's layers on a transparent ground, with `reach` pixels more on both sides; `right` as in the frame."""

    key: object
    right: float
    reach: int
    pixels: QPixmap


class PaneStrips:
    """A strip per pane. It is valid while scale, zoom, candles and layers are unchanged and the view has moved by whole
    pixels: layers draw on whole pixels, so the same picture has moved."""

    def __init__(self) -> None:
        self._strips: dict[str, _Strip] = {}
        self._seen: tuple[float, float] = (0.0, 0.0)

    def draw(self, painter: QPainter, frame: Frame, model: ChartModel, layers: LayerSet) -> None:
        spacing, right = self._seen
        is_panned = spacing == frame.spacing and right != frame.right and _moved(frame, right) is not None
        self._seen = (frame.spacing, frame.right)
        reaches = [_REACH_PX if is_panned else 0] * _MOST_WIDENED
        beside = (frame.layout, frame.ratio, frame.spacing, frame.style, frame.fonts, model.series, model.version)
        former, self._strips = self._strips, {}
        for pane in (pane for pane in frame.panes if not pane.rect.isEmpty()):
            of_pane = layers.of_pane(pane.name)
            key = (pane, beside, [(layer, layer.key(model)) for layer in of_pane])
            strip = former.get(pane.name)
            moved = None if strip is None or strip.key != key else _moved(frame, strip.right)
            if strip is None or moved is None or abs(moved) > strip.reach:
                strip, moved = _painted(frame, pane, of_pane, key, reaches.pop() if reaches else 0, model), 0
            self._strips[pane.name] = strip
            area = QRect(strip.reach + moved, 0, pane.right, pane.rect.height())
            painter.drawPixmap(QPoint(0, pane.top), strip.pixels, area)


def _moved(frame: Frame, right: float) -> int | None:
    """The pixels from a right edge to the frame's; None if they are not whole."""
    exact = (frame.right - right) * frame.spacing
    return round(exact) if abs(exact - round(exact)) < _EXACT_PX else None


def _painted(frame: Frame, pane: Pane, layers: Iterable[Layer], key: object, reach: int, model: ChartModel) -> _Strip:
    pixels = QPixmap(pane.right + 2 * reach, pane.rect.height())
    pixels.fill(Qt.GlobalColor.transparent)
    more = math.ceil(reach / frame.spacing)
    wider = replace(frame, first=max(frame.first - more, 0), stop=min(frame.stop + more, model.count))
    painter = QPainter(pixels)
    painter.translate(reach, -pane.top)
    items = (item for layer in layers for item in layer.items() if item.is_cached)
    for item in sorted(items, key=lambda item: item.z):
        painter.save()
        item.draw_in(painter, wider)
        painter.restore()
    painter.end()
    return _Strip(key, frame.right, reach, pixels)
