"""Sample paths: some behind the ghosts, and the most central one over them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtGui import QPainter, QPen

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import draw_polyline
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.layer import Layer
from desktop.chart.panes.pane import PRICE_PANE, Pane
from desktop.ui.theme import mixed

_BELOW_GHOSTS_Z, _OVER_GHOSTS_Z = 5.0, 15.0
_INK = 0.35
"""Share of the faint paths' colour in the background."""
_CENTRAL_PX = 2
"""Width, and in the colour of text: among ghosts and paths of one colour it is found at once."""


class FuturesLayer(Layer):
    """While it is on a chart, chances and paths of its forecast are computed."""

    z, is_cached = _BELOW_GHOSTS_Z, False

    def __init__(self) -> None:
        super().__init__()
        self._central = _CentralPath()

    def items(self) -> tuple[ChartItem, ...]:
        return (self, self._central)

    def is_waiting(self, model: ChartModel) -> bool:
        return model.other_interval is None and model.futures.is_waiting(model.forecast, model.series)

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        return model.futures.begin(model.forecast, model.series)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        pen = QPen(mixed(frame.palette.ghost_text, frame.palette.background, _INK), frame.ratio)
        _draw(painter, frame, pane, model, slice(None, -1), pen)


class _CentralPath(ChartItem):
    pane, z, is_cached = PRICE_PANE, _OVER_GHOSTS_Z, False

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        _draw(painter, frame, pane, model, slice(-1, None), QPen(frame.palette.text, frame.scaled(_CENTRAL_PX)))


def _draw(painter: QPainter, frame: Frame, pane: Pane, model: ChartModel, chosen: slice, pen: QPen) -> None:
    """Draw these of the lines of `Futures`, if paths are shown and in view."""
    made, ghosts = model.forecast, model.ghosts()
    if not frame.style.shows_paths or made is None or not ghosts or model.other_interval is not None:
        return
    found = model.futures.lines(made, model.series)
    if found is None:
        return
    count, horizons = (lines := found[chosen]).shape
    origin = ghosts[0].index - ghosts[0].ahead
    columns = frame.xs(np.arange(origin, origin + horizons + 1, dtype=np.float64))
    if columns[-1] < 0 or columns[0] >= frame.layout.plot_right:
        return
    prices = made.origin_close * np.exp(np.concatenate([np.zeros((count, 1)), lines], axis=1))
    rows = np.full((count, horizons + 2), np.nan)  # the last point breaks the line
    rows[:, :-1] = pane.ys(prices)
    draw_polyline(painter, np.tile(np.append(columns, np.nan), count), rows.ravel(), pen)
