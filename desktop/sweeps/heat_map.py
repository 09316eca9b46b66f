"""The heat map of two settings: the mean skill of the configurations with each pair of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from core.sweeps.plan import Scalar
from core.sweeps.points import Point, axis_names, grid_of, ordered_values
from desktop.sweeps.names import axis_title, value_text
from desktop.sweeps.picture import Picture, ramp
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_number
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.plots import FloatArray, PlotAxis
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_MOST_NUMBERS = 80
"""Cells of a map with a number in each."""
_DARK_FROM = 0.5
"""From this share on the accent is the ground of a number."""


class HeatMapPicture(Picture):
    """Two boxes choose the settings. A pair without a result is left empty."""

    def __init__(self, theme: Theme) -> None:
        self.across, self.up = QComboBox(), QComboBox()
        for box, name in (
            (self.across, translate("Sweeps", "Setting from left to right")),
            (self.up, translate("Sweeps", "Setting from bottom to top")),
        ):
            name_box(box, name)
            box.setToolTip(paragraphs(name))
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._boxes = QWidget()
        beside(
            self._boxes,
            self.up,
            Label(translate("Sweeps", "over")),
            self.across,
            stretched=(self.up, self.across),
            margins=NO_MARGINS,
            spacing=6,
        )
        meaning = translate(
            "Sweeps",
            "The mean skill of all configurations with each pair of values, over all other settings, files and seeds. "
            "A click selects the cells of the best of them in the table.",
        )
        super().__init__(
            theme,
            translate("Sweeps", "Mean skill, % by two settings"),
            meaning,
            self._boxes,
            left=PlotAxis,
            bottom=PlotAxis,
        )
        self._boxes.hide()
        self._image, self._mark = pg.ImageItem(), pg.PlotCurveItem()
        for item in (self._image, self._mark):
            self.plot.addItem(item)
        self._numbers: list[pg.TextItem] = []
        self._values: tuple[tuple[Scalar, ...], tuple[Scalar, ...]] = (), ()
        self._means: FloatArray = np.empty((0, 0))
        self.across.currentIndexChanged.connect(self._on_chosen)
        self.up.currentIndexChanged.connect(self._on_chosen)
        theme.changed.connect(self._on_theme)

    def draw(self) -> str:
        self._offer(axis_names(self.points))
        across, up = self.across.currentData(), self.up.currentData()
        if across is None or up is None or across == up:
            return translate("Sweeps", "A heat map needs two settings with several values each.")
        self._values = ordered_values(self.points, across), ordered_values(self.points, up)
        self._means = grid_of(self.points, across, up)
        self._paint()
        self.mark()
        return ""

    def mark(self) -> None:
        point = self.chosen_point()
        across, up = self.across.currentData(), self.up.currentData()
        if point is None or across is None or up is None or not self._means.size:
            self._mark.setData([], [])
            return
        column, row = self._values[0].index(point.value(across)), self._values[1].index(point.value(up))
        self._mark.setData([column, column + 1, column + 1, column, column], [row, row, row + 1, row + 1, row])

    def nearest(self, x: float, y: float) -> Point | None:
        column, row = int(np.floor(x)), int(np.floor(y))
        if not (0 <= column < len(self._values[0]) and 0 <= row < len(self._values[1])):
            return None
        across, up = self.across.currentData(), self.up.currentData()
        pair = self._values[0][column], self._values[1][row]
        found = [point for point in self.points if (point.value(across), point.value(up)) == pair]
        return max(found, key=lambda point: point.skill or 0.0, default=None)

    def _offer(self, names: Sequence[str]) -> None:
        """Put the settings into the boxes; a choice that is still possible stays."""
        for box, first in ((self.across, 0), (self.up, 1)):
            if [box.itemData(place) for place in range(box.count())] == list(names):
                continue
            before = box.currentData()
            with QSignalBlocker(box):
                box.clear()
                for name in names:
                    box.addItem(axis_title(name), name)
                place = box.findData(before)
                box.setCurrentIndex(place if place >= 0 else min(first, len(names) - 1))
        self._boxes.setVisible(len(names) > 1)

    def _paint(self) -> None:
        """The colours, the numbers and the values at the axes."""
        columns, rows = self._means.shape
        known = self._means[np.isfinite(self._means)]
        low, span = float(known.min()), float(np.ptp(known)) or 1.0
        shares = (self._means - low) / span
        self._image.setImage(self._colours(shares), levels=(0, 255))
        self._image.setRect(0, 0, columns, rows)
        for axis, values in zip(("bottom", "left"), self._values, strict=True):
            self.plot.getAxis(axis).setTicks([[(place + 0.5, value_text(value)) for place, value in enumerate(values)]])
        self.plot.setXRange(0, columns, padding=0.01)
        self.plot.setYRange(0, rows, padding=0.01)
        self._write(shares)
        self._mark.setPen(pg.mkPen(self.theme.palette.text, width=3))

    def _colours(self, shares: FloatArray) -> FloatArray:
        """Red, green, blue and opacity of each cell."""
        image = np.zeros((*shares.shape, 4))
        for place in zip(*np.nonzero(np.isfinite(shares)), strict=True):
            image[place] = ramp(self.theme.palette, float(shares[place])).getRgb()
        return image

    def _write(self, shares: FloatArray) -> None:
        for number in self._numbers:
            self.plot.removeItem(number)
        self._numbers = []
        if self._means.size > _MOST_NUMBERS:
            return
        palette = self.theme.palette
        for column, row in zip(*np.nonzero(np.isfinite(shares)), strict=True):
            colour = palette.inverse_text if shares[column, row] >= _DARK_FROM else palette.text
            text = format_number(100.0 * float(self._means[column, row]), 2, signed=True)
            number = pg.TextItem(text, color=colour, anchor=(0.5, 0.5))
            number.setPos(column + 0.5, row + 0.5)
            self.plot.addItem(number)
            self._numbers.append(number)

    @Slot()
    def _on_chosen(self) -> None:
        self.show_points(self.points)

    @Slot()
    def _on_theme(self) -> None:
        if self._means.size:
            self._paint()
