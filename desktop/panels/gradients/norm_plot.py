"""The gradient norm of the newest steps on a logarithmic axis: before clipping, after it, and the threshold."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from desktop.state.step_history import StepHistory
from desktop.ui.formatting import format_count, format_significant
from desktop.ui.icons import tabular
from desktop.ui.panel_base import mute
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.plots import (
    SMOOTHING_STEPS,
    FloatArray,
    LogAxis,
    add_curve,
    apply_plot_palette,
    dashed_pen,
    legend_key,
    logarithm,
    plot_widget,
    smoothed_mean,
    thinned,
)
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import translate

_SMALLEST_SPAN = 0.5
_MARGIN = 0.08
_RUG = 0.05
_LOW_TAIL = 0.005
_LEAST_HEIGHT = 108
_RAW_ALPHA = 80
_AXIS_ROOM = 60


class _PointedPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Reports the mouse position. The wheel scrolls the panel around it."""

    pointed_at = Signal(object)
    """The mouse's x among the steps; None when it has left."""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = self.getViewBox().mapSceneToView(event.position())
        self.pointed_at.emit(float(place.x()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed_at.emit(None)

    def sizeHint(self) -> QSize:
        return QSize(240, _LEAST_HEIGHT)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Readout(Label):
    """The numbers of one step, on a background over the curve."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self.setMargin(5)
        self.setFont(tabular(self.font()))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def fit(self, most: int) -> None:
        """Take the size that the text needs, at most `most` wide."""
        self.setWordWrap(False)
        size = self.sizeHint()
        if size.width() > most:
            self.setWordWrap(True)
            size = QSize(most, self.heightForWidth(most))
        self.resize(size)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.raised)
        painter.setPen(self._theme.palette.border)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()
        super().paintEvent(event)


class NormPlot(QWidget):
    """Pointing at it shows the numbers of that step."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._steps: StepHistory | None = None
        self._pointed_at: float | None = None
        self.legend = Label(wraps=True)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        mute(self.legend)
        self.plot = plot_widget(translate("Panels", "Norms of the gradients"), LogAxis, _PointedPlot)
        self.plot.setMinimumHeight(_LEAST_HEIGHT)
        self.plot.setMinimumWidth(120)
        self._raw, self._before, self._after, self._threshold = (add_curve(self.plot) for _ in range(4))
        self._clipped = add_curve(self.plot, "pairs")
        self._skipped = pg.ScatterPlotItem(symbol="x", size=8)
        self.plot.addItem(self._skipped)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.plot.addItem(self._cursor, ignoreBounds=True)
        self.readout = _Readout(theme, self.plot)
        stacked(self, self.legend, self.plot, stretched=self.plot, margins=NO_MARGINS, spacing=3)
        self.plot.pointed_at.connect(self._on_pointed_at)
        theme.follow(self, self._apply_palette)

    def show_steps(self, steps: StepHistory) -> None:
        self._steps = steps
        x, most = steps.column("step"), max(2 * self.plot.width(), 100)
        before, after = (logarithm(steps.column(name)) for name in ("gradient_norm", "norm_after"))
        threshold = logarithm(steps.column("clip_norm"))
        self._raw.setData(*thinned(x, before, most))
        for curve, values in ((self._before, before), (self._after, after)):
            # Of logarithms: the geometric mean, which one spike does not lift.
            curve.setData(*thinned(x, smoothed_mean(values, SMOOTHING_STEPS), most))
        self._threshold.setData(*_corners(x, threshold))
        low, high = self._fit(x, before, after, threshold)
        # Clipped steps: short lines at the foot. Skipped ones: crosses at the top, for they may have no norm.
        clipped, skipped = x[steps.column("clipped") > 0.0], x[steps.column("skipped") > 0.0]
        feet = np.tile([low, low + _RUG * (high - low)], clipped.size)
        self._clipped.setData(np.repeat(clipped, 2), feet)
        self._skipped.setData(skipped, np.full(skipped.size, high - _RUG * (high - low)))
        self._show_readout()

    def _apply_palette(self, palette: Palette) -> None:
        apply_plot_palette(self.plot, palette)
        after, before = palette.curves[:2]
        threshold, clipped, skipped = palette.muted_text, palette.warning, palette.bad
        self._raw.setPen(pg.mkPen(with_alpha(before, _RAW_ALPHA), width=1))
        self._before.setPen(pg.mkPen(before, width=2))
        self._after.setPen(pg.mkPen(after, width=2))
        self._threshold.setPen(dashed_pen(palette))
        self._clipped.setPen(pg.mkPen(clipped, width=1))
        self._skipped.setPen(pg.mkPen(skipped, width=2))
        self._cursor.setPen(pg.mkPen(palette.crosshair, width=1))
        self.legend.setText(
            " &nbsp; ".join(
                (
                    legend_key(before, translate("Panels", "before clipping")),
                    legend_key(after, translate("Panels", "after")),
                    legend_key(threshold, translate("Panels", "threshold"), "&#9477;"),
                    legend_key(clipped, translate("Panels", "clipped"), "&#9475;"),
                    legend_key(skipped, translate("Panels", "skipped"), "&#10005;"),
                )
            )
        )
        set_tooltip(
            self.legend,
            translate(
                "Panels",
                "2-norm of all gradients together, on a logarithmic axis: each step faint, the geometric mean of "
                "{0} steps bold.\nWhere only one line is visible, nothing was clipped. A skipped step changed "
                "nothing.\nThe threshold limits this norm; in the clip modes value and layer it limits each "
                "number and each layer instead.",
            ).format(SMOOTHING_STEPS),
        )

    def _fit(self, x: FloatArray, *curves: FloatArray) -> tuple[float, float]:
        """Fit the range to all but the lowest few values; spikes must be visible. Returns the range."""
        if x.size:
            self.plot.setXRange(float(x[0]), max(float(x[-1]), float(x[0]) + 1.0), padding=0.01)
        values = np.concatenate([each[np.isfinite(each)] for each in curves])
        if values.size == 0:
            return -1.0, 1.0
        low, high = float(np.quantile(values, _LOW_TAIL)), float(values.max())
        spare = max(_SMALLEST_SPAN - (high - low), 0.0) / 2.0
        margin = _MARGIN * (high - low + 2.0 * spare)
        low, high = low - spare - 1.5 * margin, high + spare + margin
        self.plot.setYRange(low, high, padding=0.0)
        return low, high

    def _on_pointed_at(self, x: float | None) -> None:
        self._pointed_at = x
        self._show_readout()

    def _show_readout(self) -> None:
        steps, x = self._steps, self._pointed_at
        is_shown = steps is not None and x is not None and len(steps) > 0
        self._cursor.setVisible(is_shown)
        self.readout.setVisible(is_shown)
        if steps is None or x is None or not is_shown:
            return
        numbers = steps.column("step")
        index = int(np.abs(numbers - x).argmin())
        self._cursor.setPos(float(numbers[index]))
        self.readout.setText("\n".join(_lines(steps, index)))
        self.readout.fit(self.plot.width() - _AXIS_ROOM)
        # Beside the cursor's line, on the side with more room, inside the plot.
        view = self.plot.getViewBox()
        place = self.plot.mapFromScene(view.mapViewToScene(pg.Point(float(numbers[index]), 0.0)))
        room: QRect = self.plot.mapFromScene(view.sceneBoundingRect()).boundingRect()
        is_right = place.x() < room.center().x()
        left = place.x() + 10 if is_right else place.x() - 10 - self.readout.width()
        left = min(max(left, 0), max(self.plot.width() - self.readout.width(), 0))
        self.readout.move(left, room.top() + 4)


def _lines(steps: StepHistory, index: int) -> list[str]:
    before, after, threshold, ratio = (
        float(steps.column(name)[index]) for name in ("gradient_norm", "norm_after", "clip_norm", "update_ratio")
    )
    step = int(steps.column("step")[index])
    lines = [
        translate("Panels", "Step {0}").format(format_count(step)),
        translate("Panels", "Before clipping  {0}").format(format_significant(before)),
    ]
    if math.isfinite(after):
        lines.append(translate("Panels", "After clipping  {0}").format(format_significant(after)))
    if steps.column("clipped")[index] > 0.0:
        lines.append(translate("Panels", "Clipped at {0}").format(format_significant(threshold)))
    if math.isfinite(ratio):
        lines.append(translate("Panels", "Update / parameter  {0}").format(format_significant(ratio, 2)))
    reason = steps.why_skipped(step)
    if reason is not None:
        lines.append(translate("Panels", "Skipped: {0}").format(reason))
    return lines


def _corners(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A step line's points at changes, and its ends: a dashed line of 1,000 points is slow."""
    if y.size < 3:
        return x, y
    changes = (y[1:] != y[:-1]) & ~(np.isnan(y[1:]) & np.isnan(y[:-1]))
    kept = np.concatenate([[True], changes]) | np.concatenate([changes, [True]])
    return x[kept], y[kept]
