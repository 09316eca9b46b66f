"""Parallel coordinates: an axis for each setting and one for the skill, and a line for each configuration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from core.sweeps.plan import Scalar
from core.sweeps.points import Point, axis_names, ordered_values
from desktop.sweeps.names import axis_title, value_text
from desktop.sweeps.picture import Picture, ramp, shares_of, skills_of
from desktop.ui.formatting import format_number
from desktop.ui.plots import FloatArray, PlotAxis
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_BUCKETS = 8
_MOST_LABELS = 6
_MARGIN = 0.45


class ParallelPicture(Picture):
    """Lines in the colour of their skill; the best are drawn last."""

    def __init__(self, theme: Theme) -> None:
        name = translate("Sweeps", "Parallel coordinates")
        meaning = translate(
            "Sweeps",
            "Each line is a configuration: where it crosses an axis, the value of that setting. The last axis and the "
            "colour are its skill. A click on a line selects its cells in the table.",
        )
        super().__init__(theme, name, meaning, left=PlotAxis, bottom=PlotAxis)
        self.plot.getAxis("left").hide()
        self._lines = [pg.PlotCurveItem(connect="finite") for _ in range(_BUCKETS)]
        self._axes, self._marked = pg.PlotCurveItem(connect="pairs"), pg.PlotCurveItem()
        for item in (self._axes, *self._lines, self._marked):
            self.plot.addItem(item)
        self._labels: list[pg.TextItem] = []
        self._heights: FloatArray = np.empty((0, 0))
        theme.follow(self, self._apply_palette)

    def draw(self) -> str:
        names = axis_names(self.points)
        if not names:
            return translate("Sweeps", "No setting has several values yet.")
        columns = [_heights(self.points, name) for name in names]
        self._heights = np.stack([*columns, shares_of(skills_of(self.points))], axis=1)
        count = len(names) + 1
        self._axes.setData(np.repeat(np.arange(count), 2), np.tile([0.0, 1.0], count))
        titles = [*map(axis_title, names), translate("Sweeps", "Skill, %")]
        self.plot.getAxis("bottom").setTicks([list(enumerate(titles))])
        self.plot.setXRange(-_MARGIN, count - 1 + _MARGIN, padding=0.0)
        self.plot.setYRange(-0.06, 1.06, padding=0.0)
        self._draw_lines()
        self._write(names)
        self.mark()
        return ""

    def mark(self) -> None:
        place = next((place for place, point in enumerate(self.points) if point.number == self.chosen), None)
        if place is None or place >= len(self._heights):
            self._marked.setData([], [])
        else:
            self._marked.setData(np.arange(self._heights.shape[1]), self._heights[place])

    def nearest(self, x: float, y: float) -> Point | None:
        count = self._heights.shape[1]
        left = int(np.clip(np.floor(x), 0, max(count - 2, 0)))
        share = np.clip(x - left, 0.0, 1.0)
        crossed = (1.0 - share) * self._heights[:, left] + share * self._heights[:, min(left + 1, count - 1)]
        return self.points[int(np.argmin(np.abs(crossed - y)))]

    def _draw_lines(self) -> None:
        buckets = np.minimum((self._heights[:, -1] * _BUCKETS).astype(int), _BUCKETS - 1)
        gap = np.full((self._heights.shape[0], 1), np.nan)
        y = np.concatenate([self._heights, gap], axis=1)
        x = np.append(np.arange(self._heights.shape[1], dtype=float), np.nan)
        for number, line in enumerate(self._lines):
            own = y[buckets == number]
            line.setData(np.tile(x, len(own)), own.ravel())

    def _write(self, names: Sequence[str]) -> None:
        for label in self._labels:
            self.plot.removeItem(label)
        self._labels = []
        for place, name in enumerate(names):
            values = ordered_values(self.points, name)
            for value in values if len(values) <= _MOST_LABELS else (values[0], values[-1]):
                self._add_label(place, _height(values, value), value_text(value))
        skills = skills_of(self.points)
        for height, skill in dict.fromkeys(((0.0, float(skills.min())), (1.0, float(skills.max())))):
            self._add_label(len(names), height, format_number(100.0 * skill, 2, signed=True))

    def _add_label(self, place: int, height: float, text: str) -> None:
        label = pg.TextItem(text, color=self.theme.palette.text, fill=self.theme.palette.background, anchor=(0.0, 0.5))
        label.setPos(place + 0.02, height)
        label.setZValue(5)
        self.plot.addItem(label)
        self._labels.append(label)

    def _apply_palette(self, palette: Palette) -> None:
        self._axes.setPen(pg.mkPen(palette.muted_text, width=1))
        self._marked.setPen(pg.mkPen(palette.text, width=3))
        for number, line in enumerate(self._lines):
            line.setPen(pg.mkPen(ramp(palette, number / (_BUCKETS - 1)), width=1))
        for label in self._labels:
            label.setColor(palette.text)
            label.fill = pg.mkBrush(palette.background)


def _heights(points: Sequence[Point], name: str) -> FloatArray:
    values = ordered_values(points, name)
    heights = {value: _height(values, value) for value in values}
    return np.array([heights[point.value(name)] for point in points])


def _height(values: Sequence[Scalar], value: Scalar) -> float:
    """Values are evenly spaced in their order: a range of rates spans decades."""
    return values.index(value) / (len(values) - 1) if len(values) > 1 else 0.5
