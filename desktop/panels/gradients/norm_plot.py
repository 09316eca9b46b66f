"""The gradient norm of the steps on a logarithmic axis: before clipping, after it, and the threshold."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.storage.step_columns import StepColumns
from desktop.panels.curve_menu import SECOND_RUN, CurveMenu
from desktop.panels.curve_readout import CurveReadout
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import Steps
from desktop.ui.formatting import format_significant
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.plots import (
    SMOOTHING_STEPS,
    FloatArray,
    LogAxis,
    add_curve,
    apply_plot_palette,
    dashed_pen,
    in_view,
    legend_key,
    logarithm,
    mean_curve,
    smoothing_steps,
    thinned,
)
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.step_plot import step_plot
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SMALLEST_SPAN = 0.5
_MARGIN = 0.08
_RUG = 0.05
_WILD_SHARE = 0.01
_SPIKE_DECADES = 1.0
"""How far beyond the usual norms the axis follows a spike: a larger one leaves it, and would flatten all else."""
_LEAST_HEIGHT = 108
_RAW_ALPHA = 80
_ZOOM = QT_TRANSLATE_NOOP(
    "Panels",
    "Ctrl and the wheel zoom into the curves, dragging moves them, and a double click shows all again. Point at a step "
    "for its numbers.",
)


class NormPlot(QWidget):
    """Pointing at it shows the numbers of that step."""

    def __init__(self, state: RunState, theme: Theme, curves: RunCurves) -> None:
        super().__init__()
        self._theme, self._curves = theme, curves
        self.legend = Label(wraps=True)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        mute(self.legend)
        self.plot = step_plot(translate("Panels", "Norms of the gradients"), LogAxis, theme, needs_control=True)
        self.menu = CurveMenu(state, curves, self.plot, translate("Panels", _ZOOM))
        self._readout = CurveReadout(curves, self.plot, _lines, "gradient_norm", format_significant)
        self.plot.setMinimumHeight(_LEAST_HEIGHT)
        self.plot.setMinimumWidth(120)
        self._raw, self._laid_over, self._before, self._after, self._threshold = (add_curve(self.plot) for _ in "12345")
        self._clipped = add_curve(self.plot, "pairs")
        self._skipped = pg.ScatterPlotItem(symbol="x", size=8)
        self.plot.addItem(self._skipped)
        self._drawn: object = None
        """As in the Loss panel."""
        above = beside(None, self.legend, self.menu, stretched=self.legend)
        stacked(self, above, self.plot, stretched=self.plot, margins=NO_MARGINS, spacing=3)
        self.plot.view_changed.connect(self._draw)
        theme.follow(self, self._apply_palette)

    def show_steps(self) -> None:
        """Show the steps as they are now."""
        self._show_legend()
        steps, other = self._curves.shown, self._curves.laid_over
        if len(steps):
            self.plot.set_extent(*self._curves.extent)
        key = (steps, other, self.plot.view, self.plot.width()) if isinstance(steps, StepColumns) else None
        if key is None or key != self._drawn:
            self._drawn = key
            self._draw()
        self._readout.refresh()

    def _draw(self) -> None:
        """Draw the steps in view."""
        steps, view, most = self._curves.shown, self.plot.view, max(2 * self.plot.width(), 100)
        window = smoothing_steps(view[1] - view[0], self.plot.width())
        seen = in_view(steps.column("step"), view, window)
        x, clipped, skipped = (steps.column(name)[seen] for name in ("step", "clipped", "skipped"))
        before, after, threshold = (
            logarithm(steps.column(name)[seen]) for name in ("gradient_norm", "norm_after", "clip_norm")
        )
        self._raw.setData(*thinned(x, before, most))
        for curve, values in ((self._before, before), (self._after, after)):
            # Of logarithms: the geometric mean, which one spike does not lift.
            curve.setData(*mean_curve(x, values, window, most))
        self._threshold.setData(*_corners(x, threshold))
        other_norms = self._draw_other(window, most)
        low, high = self._fit(before, after, threshold, other_norms)
        # Clipped steps: short lines at the foot. Skipped ones: crosses at the top, for they may have no norm.
        marked, crossed = thinned(x, np.where(clipped > 0.0, 0.0, np.nan), most)[0], x[skipped > 0.0]
        feet = np.tile([low, low + _RUG * (high - low)], marked.size)
        self._clipped.setData(np.repeat(marked, 2), feet)
        self._skipped.setData(crossed, np.full(crossed.size, high - _RUG * (high - low)))

    def _draw_other(self, window: int, most: int) -> FloatArray:
        """Draw the second run's norms, and return them."""
        other = self._curves.laid_over
        x, norms = np.empty(0), np.empty(0)
        if other is not None:
            seen = in_view(other.column("step"), self.plot.view, window)
            x, norms = other.column("step")[seen], logarithm(other.column("gradient_norm")[seen])
        self._laid_over.setData(*mean_curve(x, norms, window, most))
        return norms

    def _apply_palette(self, palette: Palette) -> None:
        apply_plot_palette(self.plot, palette)
        after, before, _rate, laid_over = palette.curves[:4]
        clipped, skipped = palette.warning, palette.bad
        self._raw.setPen(pg.mkPen(with_alpha(before, _RAW_ALPHA), width=1))
        self._before.setPen(pg.mkPen(before, width=2))
        self._after.setPen(pg.mkPen(after, width=2))
        self._laid_over.setPen(pg.mkPen(laid_over, width=2))
        self._threshold.setPen(dashed_pen(palette))
        self._clipped.setPen(pg.mkPen(clipped, width=1))
        self._skipped.setPen(pg.mkPen(skipped, width=2))
        self._show_legend()
        set_tooltip(
            self.legend,
            translate(
                "Panels",
                "2-norm of all gradients together, on a logarithmic axis: each step faint, the geometric mean of "
                "{0} steps bold, of more where many steps share a pixel.\nWhere only one line is visible, nothing was "
                "clipped. A skipped step changed nothing.\nThe threshold limits this norm; in the clip modes value "
                "and layer it limits each number and each layer instead.\nA second run: its norm before clipping. The "
                "norm after clipping is kept for the newest steps only.",
            ).format(SMOOTHING_STEPS),
        )

    def _show_legend(self) -> None:
        palette = self._theme.palette
        after, before, _rate, laid_over = palette.curves[:4]
        has_other = self._curves.other is not None
        keys = [
            legend_key(before, translate("Panels", "before clipping")),
            legend_key(after, translate("Panels", "after")),
            legend_key(palette.muted_text, translate("Panels", "threshold"), "&#9477;"),
            legend_key(palette.warning, translate("Panels", "clipped"), "&#9475;"),
            legend_key(palette.bad, translate("Panels", "skipped"), "&#10005;"),
            *([legend_key(laid_over, translate("Panels", SECOND_RUN))] if has_other else []),
        ]
        set_text(self.legend, " &nbsp; ".join(keys))

    def _fit(self, *curves: FloatArray) -> tuple[float, float]:
        """Fit the range to the usual norms, and to spikes that are not too far beyond them. Returns the range."""
        values = np.concatenate([each[np.isfinite(each)] for each in curves])
        if values.size == 0:
            return -1.0, 1.0
        usual = np.quantile(values, (_WILD_SHARE, 1.0 - _WILD_SHARE), method="closest_observation")
        low = max(float(values.min()), float(usual[0]) - _SPIKE_DECADES)
        high = min(float(values.max()), float(usual[1]) + _SPIKE_DECADES)
        spare = max(_SMALLEST_SPAN - (high - low), 0.0) / 2.0
        margin = _MARGIN * (high - low + 2.0 * spare)
        low, high = low - spare - 1.5 * margin, high + spare + margin
        self.plot.setYRange(low, high, padding=0.0)
        return low, high


def _lines(steps: Steps, index: int, _window: int) -> list[str]:
    before, after, threshold, ratio = (
        float(steps.column(name)[index]) for name in ("gradient_norm", "norm_after", "clip_norm", "update_ratio")
    )
    step = int(steps.column("step")[index])
    lines = [translate("Panels", "Before clipping  {0}").format(format_significant(before))]
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
