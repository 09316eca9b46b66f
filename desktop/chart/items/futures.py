"""Some sample paths behind the ghosts. While they are shown, the ghosts' bodies follow the most central one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtGui import QPainter, QPen

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import draw_polyline
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer
from desktop.ui.formatting import format_count, format_price
from desktop.ui.theme import mixed
from desktop.ui.translation import translate

_BELOW_GHOSTS_Z = 5.0
_INK = 0.35
"""Share of the paths' colour in the background."""


class FuturesLayer(Layer):
    """While it is on a chart, chances and paths of its forecast are computed."""

    z, is_cached = _BELOW_GHOSTS_Z, False

    def is_waiting(self, model: ChartModel) -> bool:
        return model.other_interval is None and model.futures.is_waiting(model.forecast, model.series)

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        return model.futures.begin(model.forecast, model.series)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """Under the figures of a ghost, which are those of the medians: what is drawn instead."""
        placed = None if index is None else model.ghost(index)
        central = model.central_path() if frame.style.shows_paths else None
        if placed is None or central is None or placed.ahead == 1:
            return ()
        close = format_price(central.ghosts[placed.ahead - 1].close, frame.decimals)
        said = translate("Chart", "Body: the most central of {0} sample paths, to {1}. Figures and bands: the forecast")
        return ((Span(said.format(format_count(central.count), close), frame.palette.muted_text),),)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Draw the lines of `Found`, if paths are shown and in view."""
        made, ghosts = model.forecast, model.ghosts()
        if not frame.style.shows_paths or made is None or not ghosts or model.other_interval is not None:
            return
        found = model.futures.of(made, model.series)
        if found is None:
            return
        count, horizons = found.lines.shape
        origin = ghosts[0].index - ghosts[0].ahead
        columns = frame.xs(np.arange(origin, origin + horizons + 1, dtype=np.float64))
        if columns[-1] < 0 or columns[0] >= frame.layout.plot_right:
            return
        prices = made.origin_close * np.exp(np.concatenate([np.zeros((count, 1)), found.lines], axis=1))
        rows = np.full((count, horizons + 2), np.nan)  # the last point breaks the line
        rows[:, :-1] = pane.ys(prices)
        pen = QPen(mixed(frame.palette.ghost_text, frame.palette.background, _INK), frame.ratio)
        draw_polyline(painter, np.tile(np.append(columns, np.nan), count), rows.ravel(), pen)
