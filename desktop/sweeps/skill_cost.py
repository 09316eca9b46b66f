"""Skill against cost: what more seconds of a configuration buy."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg

from core.sweeps.points import Point
from desktop.sweeps.picture import Picture, skills_of
from desktop.ui.plots import FloatArray, LogAxis, dashed_pen
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import translate

_SMALLEST_S = 1e-3
_MARGIN = 0.08


class SkillCostPicture(Picture):
    """A dot for each configuration: its seconds a cell on a logarithmic axis, and its skill."""

    def __init__(self, theme: Theme) -> None:
        name = translate("Sweeps", "Skill, % against seconds per cell")
        meaning = translate(
            "Sweeps",
            "Each dot is a configuration: the mean time of its cells, and their mean skill. Upper left: better for "
            "less time. A click selects its cells in the table.",
        )
        super().__init__(theme, name, meaning, bottom=LogAxis)
        self._zero = pg.InfiniteLine(0.0, angle=0)
        self._dots, self._mark = pg.ScatterPlotItem(size=8, pen=None), pg.ScatterPlotItem(size=14, brush=None)
        for item in (self._zero, self._dots, self._mark):
            self.plot.addItem(item)
        theme.follow(self, self._apply_palette)

    def draw(self) -> str:
        x, y = _seconds(self.points), skills_of(self.points)
        self._dots.setData(x, y)
        self.plot.setXRange(float(x.min()) - _MARGIN, float(x.max()) + _MARGIN, padding=_MARGIN)
        self.plot.setYRange(min(0.0, float(y.min())), max(0.0, float(y.max())), padding=_MARGIN)
        self.mark()
        return ""

    def mark(self) -> None:
        point = self.chosen_point()
        marked = () if point is None else (point,)
        self._mark.setData(_seconds(marked), skills_of(marked))

    def nearest(self, x: float, y: float) -> Point | None:
        (left, right), (low, high) = self.plot.getViewBox().viewRange()
        across, up = (_seconds(self.points) - x) / (right - left), (skills_of(self.points) - y) / (high - low)
        return self.points[int(np.argmin(across**2 + up**2))]

    def _apply_palette(self, palette: Palette) -> None:
        self._zero.setPen(dashed_pen(palette))
        self._dots.setBrush(pg.mkBrush(with_alpha(palette.accent, 170)))
        self._mark.setPen(pg.mkPen(palette.text, width=2))


def _seconds(points: tuple[Point, ...] | tuple[()]) -> FloatArray:
    """Logarithms to base 10."""
    return np.log10([max(point.seconds or 0.0, _SMALLEST_S) for point in points]) if points else np.empty(0)
