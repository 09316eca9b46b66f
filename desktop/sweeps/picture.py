"""The common parts of the pictures of a sweep: a title, a plot, and a click that chooses a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.sweeps.points import Point
from desktop.panels.accuracy.plots import PercentAxis
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.plots import FloatArray, NumberAxis, apply_plot_palette, plot_widget
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_LOWEST_PX = 96


class Picture(QWidget):
    """Shows points; a click on one emits its configuration's number. A sentence is in the plot's place while there is
    nothing to draw."""

    configuration_chosen = Signal(int)

    def __init__(
        self,
        theme: Theme,
        name: str,
        meaning: str,
        *above: QWidget,
        left: type[pg.AxisItem] = PercentAxis,
        bottom: type[pg.AxisItem] = NumberAxis,
    ) -> None:
        """name: of the picture, also for screen readers. above: the widgets between title and plot."""
        super().__init__()
        self.theme = theme
        self.points: tuple[Point, ...] = ()
        self.chosen: int | None = None
        """The number of the chosen configuration."""
        self.title, self.missing = Label(name), Label(alignment=Qt.AlignmentFlag.AlignCenter, wraps=True)
        mute(self.missing)
        self.plot = plot_widget(name, left, bottom=bottom)
        self.plot.setMinimumHeight(_LOWEST_PX)
        self.plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.plot.scene().sigMouseClicked.connect(self._on_click)
        parts = (self.title, *above, self.plot, self.missing)
        stacked(self, *parts, stretched=(self.plot, self.missing), margins=NO_MARGINS, spacing=2)
        set_tooltip(self.title, meaning)
        theme.follow(self, partial(apply_plot_palette, self.plot))

    def show_points(self, points: Sequence[Point]) -> None:
        """Draw these; those without a skill are left out."""
        self.points = tuple(point for point in points if point.skill is not None)
        missing = self.draw() if self.points else translate("Sweeps", "No cell has ended yet.")
        set_text(self.missing, missing)
        self.plot.setVisible(not missing)
        self.missing.setVisible(bool(missing))

    def choose(self, configuration: int | None) -> None:
        """Mark a configuration; None: none."""
        if configuration != self.chosen:
            self.chosen = configuration
            self.mark()

    def draw(self) -> str:
        """Draw `points`, which are not empty, and the mark. Returns why there is nothing to draw; empty if there is."""
        raise NotImplementedError

    def mark(self) -> None:
        """Mark the chosen configuration."""
        raise NotImplementedError

    def nearest(self, x: float, y: float) -> Point | None:
        """The point that a click at this place of the view means."""
        raise NotImplementedError

    def chosen_point(self) -> Point | None:
        return next((point for point in self.points if point.number == self.chosen), None)

    @Slot(object)
    def _on_click(self, event: object) -> None:
        place = self.plot.getViewBox().mapSceneToView(event.scenePos())  # type: ignore[attr-defined]
        point = self.nearest(float(place.x()), float(place.y())) if self.points else None
        if point is not None:
            self.configuration_chosen.emit(point.number)


def skills_of(points: Sequence[Point]) -> FloatArray:
    return np.array([np.nan if point.skill is None else point.skill for point in points])


def shares_of(values: FloatArray) -> FloatArray:
    """Where each value lies between the lowest and the highest, from 0 to 1; one half if all are equal."""
    low, span = float(values.min()), float(np.ptp(values))
    return (values - low) / span if span > 0.0 else np.full(values.size, 0.5)


def ramp(palette: Palette, share: float) -> QColor:
    """The colour of a share: faint for the lowest skill, the accent for the highest."""
    low, high = palette.border, palette.accent
    channels = zip(low.getRgb()[:3], high.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(first + (last - first) * share) for first, last in channels))
