"""Common parts of the panels' curves: axes, thinning, smoothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QGraphicsItem

from desktop.ui.formatting import format_number, format_significant, power_of_ten
from desktop.ui.inputs import readable_decimal
from desktop.ui.interface_size import follow_interface_size
from desktop.ui.theme import Palette

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_PIXELS_PER_TICK = 22
_LARGEST_PLAIN_EXPONENT = 3
_WHOLE = 1e-6
_FEWEST_TICKS = 3
_SMALLEST_DRAWN = 1e-30
_LABEL_OFFSET_PX = 3
_BETWEEN_LABELS_PX = 4
_USUAL_LABEL = "0.0000"
SMOOTHING_STEPS = 25
"""Training steps in each mean of a smoothed curve, unless many of them share a pixel."""
_SMOOTHED_PX = 3.0
_MANY = 20_000
"""Of more values, peaks are drawn at the edges of their buckets, not at their exact places, which takes longer."""


def smoothed_mean(values: FloatArray, window: int, ends: IntArray | None = None) -> FloatArray:
    """The mean of the newest `window` measured values at each place; NaN before the first. values: [n], with NaN. ends:
    the numbers of values up to the wanted places; None: all places."""
    measured = np.isfinite(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(measured, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(measured)])
    ends = np.arange(1, values.size + 1) if ends is None else ends
    starts = np.maximum(ends - window, 0)
    n = counts[ends] - counts[starts]
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(n > 0, (sums[ends] - sums[starts]) / np.maximum(n, 1), np.nan)
    return mean


def mean_curve(x: FloatArray, values: FloatArray, window: int, most: int) -> tuple[FloatArray, FloatArray]:
    """The smoothed mean in at most `most` points; of many values at even places, as a mean has no peaks to keep."""
    if x.size <= _MANY:
        return thinned(x, smoothed_mean(values, window), most)
    ends = np.linspace(1, x.size, most).astype(np.int64)
    mean = smoothed_mean(values, window, ends)
    is_measured = np.isfinite(mean)
    return x[ends - 1][is_measured], mean[is_measured]


def smoothing_steps(steps: float, width_px: int) -> int:
    """Steps in each mean of a curve of so many steps: more where a pixel has many, or the curve would be a band."""
    wanted = steps / width_px * _SMOOTHED_PX / SMOOTHING_STEPS if width_px else 1.0
    doublings = math.ceil(math.log2(max(wanted, 1.0)))
    return SMOOTHING_STEPS << doublings


def newest_mean(values: FloatArray, index: int, window: int) -> float | None:
    """The `smoothed_mean` of a curve at one place; None if nothing was measured."""
    newest = values[max(index + 1 - window, 0) : index + 1]
    newest = newest[np.isfinite(newest)]
    return float(newest.mean()) if newest.size else None


def in_view(x: FloatArray, view: tuple[float, float], before: int) -> slice:
    """The values in a range and next to it, with as many more before them as their means need. x: [n], ascending."""
    first, stop = np.searchsorted(x, view).tolist()
    return slice(max(first - before, 0), stop + 1)


def logarithm(values: FloatArray) -> FloatArray:
    """Logarithms to base 10; NaN, which is not drawn, unless a value is positive."""
    drawn: FloatArray = np.where(np.isfinite(values) & (values > _SMALLEST_DRAWN), values, np.nan)
    return np.log10(drawn)


def thinned(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """At most `most` points that keep every peak: the lowest and highest of each bucket, in order. NaN is left out.

    x, y: [n], x ascending. Buckets lie on a fixed grid of x, so that a curve does not shimmer while it grows.
    """
    measured = np.isfinite(y)
    x, y = (x, y) if measured.all() else (x[measured], y[measured])
    if x.size <= most or most < 4:
        return x, y
    width = 2.0 ** math.ceil(math.log2(max((x[-1] - x[0]) / (most // 2 - 1), 1.0)))
    first, last = math.floor(x[0] / width), math.floor(x[-1] / width)
    starts = np.unique(np.searchsorted(x, width * np.arange(first, last + 1)))
    if x.size > _MANY:
        lowest_and_highest = np.stack([np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)], axis=1)
        return np.repeat(x[starts], 2), lowest_and_highest.ravel()
    peaks: set[int] = set()
    for first, end in zip(starts, [*starts[1:], x.size], strict=True):
        peaks |= {int(first + np.argmin(y[first:end])), int(first + np.argmax(y[first:end]))}
    indices = np.array(sorted(peaks))
    return x[indices], y[indices]


class PlotAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis without touching labels: it leaves out labels without room."""

    def generateDrawSpecs(self, painter: QPainter) -> tuple[Any, Any, list[Any]] | None:
        specs = super().generateDrawSpecs(painter)
        if specs is None:
            return None
        axis, ticks, labels = specs
        kept: list[Any] = []
        for label in labels:
            apart = label[0].adjusted(-_BETWEEN_LABELS_PX, 0, _BETWEEN_LABELS_PX, 0)
            if not any(apart.intersects(other[0]) for other in kept):
                kept.append(label)
        return axis, ticks, kept


class NumberAxis(PlotAxis):
    """An axis with numbers in the window's format, all with the same decimals."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        decimals = max(0, math.ceil(-math.log10(spacing * scale) - 1e-9)) if spacing > 0 else 0
        return [format_number(value * scale, decimals) for value in values]


class NumberOrLogAxis(NumberAxis):
    """An axis for curves given as base-10 logarithms while `is_logarithmic`, otherwise as numbers: it always labels the
    numbers."""

    is_logarithmic = False

    def set_logarithmic(self, is_logarithmic: bool) -> None:
        if is_logarithmic is not self.is_logarithmic:
            self.is_logarithmic = is_logarithmic
            self.picture = None
            self.update()

    def tickValues(self, minimum: float, maximum: float, size: float) -> list[tuple[float, list[float]]]:
        if not self.is_logarithmic:
            ticks: list[tuple[float, list[float]]] = super().tickValues(minimum, maximum, size)
            return ticks
        most = max(size / _PIXELS_PER_TICK, 2.0)
        first, last = math.ceil(minimum - _WHOLE), math.floor(maximum + _WHOLE)
        between = _between_decades(minimum, maximum)
        if last - first >= _FEWEST_TICKS - 1 or (last > first and len(between) > most):
            stride = math.ceil((last - first + 1) / most)
            return [(float(stride), [float(each) for each in range(first, last + 1) if each % stride == 0])]
        return [(1.0, between[:: max(math.ceil(len(between) / most), 1)])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.is_logarithmic:
            return [exponent_text(value) for value in values]
        return super().tickStrings(values, scale, spacing)


class LogAxis(NumberOrLogAxis):
    is_logarithmic = True


def _between_decades(minimum: float, maximum: float) -> list[float]:
    """The logarithms of 1, 2 and 5 of each decade in a range; of all nine digits if those are few."""
    for digits in ((1, 2, 5), range(1, 10)):
        decades = range(math.floor(minimum) - 1, math.ceil(maximum) + 1)
        places = [decade + math.log10(digit) for decade in decades for digit in digits]
        inside = [place for place in places if minimum - _WHOLE <= place <= maximum + _WHOLE]
        if len(inside) >= _FEWEST_TICKS:
            break
    return inside


def exponent_text(exponent: float) -> str:
    """The number with this logarithm: from 0.001 to 1,000 as a decimal, otherwise as a power of ten."""
    if abs(exponent) <= _LARGEST_PLAIN_EXPONENT:
        return readable_decimal(10.0**exponent, 1)
    if abs(exponent - round(exponent)) < _WHOLE:
        return power_of_ten(round(exponent))
    return format_significant(10.0**exponent, 1)


def apply_plot_palette(plot: pg.PlotWidget, palette: Palette) -> None:
    plot.setBackground(palette.background)
    for name in ("left", "bottom", "top"):
        axis = plot.getAxis(name)
        axis.setPen(palette.border)
        axis.setTextPen(palette.muted_text)


def dashed_pen(palette: Palette) -> object:
    """The pen of a line that curves are compared with."""
    return pg.mkPen(palette.muted_text, width=1, style=Qt.PenStyle.DashLine)


def legend_key(colour: QColor, name: str, sign: str = "&#9473;") -> str:
    """A curve's sign and name as rich text, on one line."""
    return f'<span style="white-space:nowrap"><span style="color:{colour.name()}">{sign}</span> {name}</span>'


def own_children(item: QGraphicsItem) -> None:
    """Call this after removing an item from its scene: PySide then treats its children as Python's, while Qt deletes
    them with the item, and the garbage collector would delete them a second time."""
    for child in item.childItems():
        child.setParentItem(item)


def plot_widget(
    name: str,
    left: type[pg.AxisItem],
    plot_type: Callable[..., pg.PlotWidget] = pg.PlotWidget,
    bottom: type[pg.AxisItem] = NumberAxis,
    top: type[pg.AxisItem] | None = None,
) -> pg.PlotWidget:
    """A plot with a fixed view: it neither zooms nor moves by itself, and takes no keys. name: what a
    screen reader calls it; left, bottom, top: the axes' classes."""
    kinds = {"left": left, "bottom": bottom, **({} if top is None else {"top": top})}
    plot = plot_type(axisItems={place: kind(place) for place, kind in kinds.items()}, enableMenu=False)
    plot.setAccessibleName(name)
    for part in (plot, plot.viewport()):
        part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    plot.disableAutoRange()
    for axis in map(plot.getAxis, kinds):
        axis.enableAutoSIPrefix(False)
        axis.setStyle(tickLength=-3, tickTextOffset=_LABEL_OFFSET_PX, autoReduceTextSpace=False)
    follow_interface_size(plot, partial(_make_room_for_labels, plot))
    return plot


def add_curve(plot: pg.PlotWidget, connect: str = "finite") -> pg.PlotCurveItem:
    """A line without points. `plot.plot()` makes points too, which takes four times as long."""
    curve = pg.PlotCurveItem(connect=connect)
    plot.addItem(curve)
    return curve


def rows_of_labels(plot: pg.PlotWidget) -> list[tuple[int, int]]:
    """Top and bottom of the labels at its left and below it, in px, for scrolling that must not cut them."""
    half, height = QFontMetrics(QApplication.font()).height() / 2, plot.height()
    box, bottom = plot.getViewBox(), plot.getAxis("bottom")
    room = box.sceneBoundingRect()
    (low, high), length = box.viewRange()[1], room.height()
    levels = plot.getAxis("left").tickValues(low, high, length) if high > low else []
    middles = [room.bottom() - (value - low) / (high - low) * length for _spacing, values in levels for value in values]
    below = [(math.floor(bottom.sceneBoundingRect().top()), height + 1)] if bottom.isVisible() else []
    return below + [(math.floor(middle - half), math.ceil(middle + half)) for middle in middles]


def _make_room_for_labels(plot: pg.PlotWidget) -> None:
    """Set the margins for the current text size. The left axis widens if a label needs it."""
    metrics = QFontMetrics(QApplication.font())
    plot.getPlotItem().layout.setContentsMargins(0, math.ceil(metrics.height() / 2), 2, 0)
    left = plot.getAxis("left")
    left.textWidth = metrics.horizontalAdvance(_USUAL_LABEL)
    left.setWidth(None)
    for axis in (plot.getAxis("bottom"), plot.getAxis("top")):
        if axis.isVisible():
            axis.setHeight(metrics.height() + _LABEL_OFFSET_PX)
