"""The loss panel: training loss, the loss of the ghosts before it was learned from, drifts, and the learning rate."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout

from core.domain.events import Trend
from core.storage.step_columns import StepColumns
from desktop.panels.curve_menu import SECOND_RUN, CurveMenu
from desktop.panels.curve_readout import CurveReadout
from desktop.panels.drift_marks import DriftMarks
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import Steps
from desktop.state.training_words import break_sentence
from desktop.ui.formatting import (
    MISSING,
    format_age,
    format_count,
    format_duration,
    format_number,
    format_time,
)
from desktop.ui.icons import icon, tabular
from desktop.ui.inputs import readable_decimal
from desktop.ui.panel_base import EmptyState, Panel, colour_text, mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.plots import (
    SMOOTHING_STEPS,
    FloatArray,
    NumberAxis,
    NumberOrLogAxis,
    add_curve,
    apply_plot_palette,
    in_view,
    legend_key,
    logarithm,
    mean_curve,
    newest_mean,
    plot_widget,
    smoothed_mean,
    smoothing_steps,
    thinned,
)
from desktop.ui.stacks import beside, stacked
from desktop.ui.step_plot import step_plot
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_WIDEST_LINEAR_SPAN = 12.0
"""Ratio of the largest visible loss to the smallest. Beyond it, as after a divergence, a linear scale would flatten the
rest. Healthy losses span a factor of two to four."""
_NARROWEST_LOGARITHMIC_SPAN = 6.0
"""Below it a logarithmic scale becomes linear again. With a single limit the scale would flicker."""
_DASH_STEPS = 0.15
_WILD_SHARE = 0.02
"""The share of the steps at either end that the scale leaves out: a single spike must not flatten all else."""
_MOST_JUDGED = 20_000
"""Of more steps, every n-th decides the scale."""
_NEWEST_STEPS = 5
"""Steps whose median is in view, however wild: a divergence shows itself at once."""
_SMALLEST_SHARE_SEEN = 1e-3
"""The scale's least extent, as a share of the loss: below, losses equal to four decimals would lie far apart."""
_SPEED_HOLDS_MS = 10_000
"""The trainer reports its speed with each step: this long after the last one, it is out of date."""
_TRENDS = {
    Trend.IMPROVING: ("trending-down", QT_TRANSLATE_NOOP("Panels", "improving")),
    Trend.FLAT: ("trending-neutral", QT_TRANSLATE_NOOP("Panels", "flat")),
    Trend.WORSENING: ("trending-up", QT_TRANSLATE_NOOP("Panels", "worsening")),
    Trend.UNKNOWN: ("", MISSING),
}
_DIVERGED = ("chart-line-variant", QT_TRANSLATE_NOOP("Panels", "diverged"))
"""The doctor's verdict, in place of a trend, while the loss stays far above its best."""
MEANINGS = {
    "Current": "Training loss, averaged over the newest 50 steps, or over those since a rollback. Lower is better.",
    "Best": "The run's lowest average over 50 full steps; Current may be lower while it covers fewer.",
    "Trend": "Trend of the averaged loss; “diverged” while the model has diverged.",
    "Steps": "Number of weight updates, and of candles seen.",
    "Last step": "Time since the last training step, and how long it took.",
    "Speed": "Current training steps per second; none if the last step is more than ten seconds ago.",
}
_ZOOM = QT_TRANSLATE_NOOP(
    "Panels",
    "The wheel zooms into the curves, dragging moves them, and a double click shows all again. Point at a step for its "
    "numbers.",
)


class LossPanel(Panel):
    """Curves of the steps over a strip with the learning rate, under the current numbers."""

    wanted = Signal(object)
    """The `CurvesRequest` at each refresh."""

    def __init__(self, state: RunState, theme: Theme, curves: RunCurves) -> None:
        super().__init__(theme)
        self._state, self._curves = state, curves
        self._values: dict[str, Label] = {}
        self._names: list[Label] = []
        self._trend_icon = Label()
        self._legend = WrappedLabel()
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self.plot = step_plot(translate("Panels", "Loss curves"), NumberOrLogAxis, theme)
        self.menu = CurveMenu(state, curves, self.plot, translate("Panels", _ZOOM))
        self._readout = CurveReadout(curves, self.plot, _lines, "loss", partial(format_number, decimals=4))
        self._raw, self._laid_over, self._prequential, self._mean = (add_curve(self.plot) for _ in range(4))
        self.drifts = DriftMarks(self.plot, theme)
        self._rate_label = Label()
        self._rate_label.setToolTip(translate("Panels", "Learning rate of each step. Change it in the tool bar."))
        self._rate_plot = plot_widget(translate("Panels", "Learning rate curve"), NumberAxis)
        self._rate_plot.setFixedHeight(26)
        self._rate_plot.getAxis("left").setTicks([])
        self._rate_plot.hideAxis("bottom")
        self._rate = add_curve(self._rate_plot)
        self._window = SMOOTHING_STEPS
        """Steps in each mean."""
        self._drawn: object = None
        """The recorded steps that are drawn, and how: they are drawn once. None: of steps that change."""
        above = beside(None, self._legend, self.menu, stretched=self._legend)
        parts = (self._build_numbers(), above, self.plot, self.drifts, self._rate_label)
        stacked(self, *parts, self._rate_plot, stretched=self.plot, margins=(8, 6, 8, 4), spacing=4)
        self._empty = EmptyState(
            translate("Panels", "No training steps yet.\nThe curves begin with the first step."), self.plot
        )
        mute(*self._names, self._legend, self._rate_label)
        self._connect()

    def _connect(self) -> None:
        self.plot.getViewBox().sigResized.connect(self._align_rate)
        self.plot.view_changed.connect(self._refresh_curves)
        self.theme.follow(self, self._apply_palette)
        state = self._state
        self.follow(state.diagnosis_changed, state.steps_changed, state.drifts_changed)
        self.follow(state.status_changed, state.record_changed, self._curves.changed)

    def refresh(self) -> None:
        self.wanted.emit(self._curves.request)
        status = self._state.status
        self._put("Steps", format_count(self._state.step))
        loss = None if status is None else status.loss
        self._put("Current", format_number(None if loss is None else loss.current, 4))
        self._put("Best", format_number(None if loss is None else loss.best, 4))
        self._show_trend(Trend.UNKNOWN if loss is None else loss.trend)
        self.tick()
        self._refresh_curves()

    def tick(self) -> None:
        status, now_ms = self._state.status, self._state.clock.now_ms()
        stepped_ms = None if status is None else status.last_step_at_ms
        is_of_now = stepped_ms is not None and now_ms - stepped_ms <= _SPEED_HOLDS_MS
        speed = status.steps_per_s if status is not None and is_of_now else None
        words = MISSING if speed is None else translate("Panels", "{0} /s").format(format_number(speed, 1))
        self._put("Speed", words)
        last = self._state.steps.last
        if last is None:
            self._put("Last step", MISSING)
            set_tooltip(self._values["Last step"], translate("Panels", MEANINGS["Last step"]))
            return
        took = format_duration(last.duration_ms / 1000)
        if last.duration_ms < 1000:
            digits = format_number(last.duration_ms, 0 if last.duration_ms >= 10 else 1)
            took = translate("Units", "{0} ms").format(digits)
        self._put("Last step", format_age(last.at_ms, now_ms))
        more = translate("Panels", "The last one took {0}.").format(took)
        set_tooltip(self._values["Last step"], f"{translate('Panels', MEANINGS['Last step'])}\n{more}")

    def _apply_palette(self, palette: Palette) -> None:
        for plot in (self.plot, self._rate_plot):
            apply_plot_palette(plot, palette)
        training, prequential, rate, laid_over = palette.curves[:4]
        # Wider than 1 pixel, pyqtgraph's raster curves cost tens of times more; these have few points.
        self._raw.setPen(pg.mkPen(with_alpha(training, 60), width=1))
        self._mean.setPen(pg.mkPen(training, width=2))
        self._prequential.setPen(pg.mkPen(prequential, width=2))
        self._rate.setPen(pg.mkPen(rate, width=1))
        self._laid_over.setPen(pg.mkPen(laid_over, width=2))
        self._show_legend()
        self._legend.setToolTip(
            translate(
                "Panels",
                "Training: loss of the model on the samples of a step; each step faint, the mean bold.\nGhosts: loss "
                "of the newest one-step ghost, made before its candle was seen (prequential). While the model has no "
                "share in the ghosts, their loss can be low and the model's high.\nA second run: its training loss.",
            )
        )

    def _of_markets(self) -> str:
        """The markets that the curves average: all that the model learns from. Empty for a single one."""
        count, status = len(self._state.members), self._state.status
        if count < 2:
            return ""
        unlearned = 0 if status is None else sum(not each.member.is_learned for each in status.markets)
        if unlearned:
            return translate("Panels", "{0} of {1} markets").format(count - unlearned, count)
        return translate("Panels", "all {0} markets").format(count)

    def _show_legend(self) -> None:
        training, prequential, _rate, laid_over, *_ = self.palette_now.curves
        learned = translate("Panels", "training, mean of {0}").format(self._window)
        before = translate("Panels", "ghosts, mean of {0}").format(self._window)
        other = "" if self._curves.other is None else legend_key(laid_over, translate("Panels", SECOND_RUN))
        parts = (legend_key(training, learned), legend_key(prequential, before), other, self._of_markets())
        set_text(self._legend, " &nbsp; ".join(filter(None, parts)))

    def _align_rate(self) -> None:
        """Align both plots, so that a change of the rate lies directly below its effect."""
        self._rate_plot.getAxis("left").setWidth(self.plot.getAxis("left").width())

    def _build_numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(1)
        for index, (name, meaning) in enumerate(MEANINGS.items()):
            title, value = Label(translate("Panels", name)), Label(MISSING)
            value.setFont(tabular(self.font(), bold=True))
            set_tooltip(title, translate("Panels", meaning))
            set_tooltip(value, translate("Panels", meaning))
            row, column = divmod(index, 3)
            parts = (title, self._trend_icon, value) if name == "Trend" else (title, value)
            grid.addLayout(beside(None, *parts, None, spacing=5), row, column)
            self._names.append(title)
            self._values[name] = value
        return grid

    def _show_trend(self, trend: Trend) -> None:
        has_diverged, palette = self._state.has_diverged, self.palette_now
        icon_name, words = _DIVERGED if has_diverged else _TRENDS[trend]
        colours = {Trend.IMPROVING: palette.good, Trend.WORSENING: palette.bad}
        colour = palette.bad if has_diverged else colours.get(trend, palette.text)
        self._put("Trend", translate("Panels", words))
        colour_text(self._values["Trend"], colour)
        self._trend_icon.setVisible(bool(icon_name))
        if icon_name:
            self._trend_icon.setPixmap(icon(icon_name, colour).pixmap(14, 14))

    def _refresh_curves(self) -> None:
        steps, other = self._curves.shown, self._curves.laid_over
        why = break_sentence(self._state)
        self._empty.update_state(is_empty=len(steps) == 0, is_loading=self._state.is_loading, why=why)
        for part in (self._rate_label, self._rate_plot, self._legend, self.menu):
            part.setVisible(len(steps) > 0)
        for name in ("left", "bottom"):
            self.plot.getPlotItem().showAxis(name, len(steps) > 0)
        if len(steps):
            self.plot.set_extent(*self._curves.extent)
            now = self._state.learning_rate or float(steps.column("learning_rate")[-1])
            self._rate_label.setText(translate("Panels", "Learning rate {0}").format(readable_decimal(now)))
        key = (steps, other, self.plot.view, self.plot.width()) if isinstance(steps, StepColumns) else None
        if key is None or key != self._drawn:
            self._drawn = key
            self._draw()
            self._show_legend()
        drifts = self._state.drifts if len(steps) else ()
        self.drifts.show_drifts(drifts, *self.plot.view, self._state.members)
        self._readout.refresh()

    def _draw(self) -> None:
        """Draw the steps in view."""
        steps, view, most = self._curves.shown, self.plot.view, max(2 * self.plot.width(), 100)
        numbers = steps.column("step")
        self._window = self._readout.window = window = smoothing_steps(view[1] - view[0], self.plot.width())
        seen = in_view(numbers, view, window)
        x, loss, before = numbers[seen], steps.column("loss")[seen], steps.column("prequential_loss")[seen]
        other_x, other_loss = self._other_in_view()
        span = _shown_span(window, loss, before, other_loss)
        is_logarithmic = _wants_logarithms(span, self.plot.getAxis("left").is_logarithmic)
        self.plot.getAxis("left").set_logarithmic(is_logarithmic)
        scaled = logarithm if is_logarithmic else np.asarray
        x_raw, raw = thinned(x, loss, most)
        self._raw.setData(*_as_dash(x_raw, scaled(raw)))
        for curve, place, values in (
            (self._mean, x, loss),
            (self._prequential, x, before),
            (self._laid_over, other_x, other_loss),
        ):
            x_mean, mean = mean_curve(place, values, window, most)
            curve.setData(*_as_dash(x_mean, scaled(mean)))
        if span is not None:
            self._fit_height(*(map(math.log10, span) if is_logarithmic else span))
        self._draw_rate(x, steps.column("learning_rate")[seen], most)

    def _draw_rate(self, x: FloatArray, rate: FloatArray, most: int) -> None:
        self._rate.setData(*thinned(x, rate, most))
        self._rate_plot.setXRange(*self.plot.view, padding=0.0)
        if np.isfinite(rate).any():
            low, high = float(np.nanmin(rate)), float(np.nanmax(rate))
            self._rate_plot.setYRange(low * 0.5, max(high * 1.2, low * 1.5), padding=0.0)

    def _other_in_view(self) -> tuple[FloatArray, FloatArray]:
        """Steps and losses of the second run."""
        other = self._curves.laid_over
        if other is None:
            return np.empty(0), np.empty(0)
        seen = in_view(other.column("step"), self.plot.view, self._window)
        return other.column("step")[seen], other.column("loss")[seen]

    def _fit_height(self, low: float, high: float) -> None:
        least = _SMALLEST_SHARE_SEEN * max(abs(low), abs(high))
        margin = 0.06 * (high - low) if high - low > least else 0.1 * abs(high) or 1.0
        self.plot.setYRange(low - margin, high + margin, padding=0.0)

    def _put(self, name: str, text: str) -> None:
        set_text(self._values[name], text)


def _as_dash(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A single point makes no line: a dash is drawn instead."""
    return (np.array([x[0], x[0] + _DASH_STEPS]), np.repeat(y, 2)) if len(x) == 1 else (x, y)


def _wants_logarithms(span: tuple[float, float] | None, has_them: bool) -> bool:
    limit = _NARROWEST_LOGARITHMIC_SPAN if has_them else _WIDEST_LINEAR_SPAN
    return span is not None and 0.0 < span[0] * limit < span[1]


def _lines(steps: Steps, index: int, window: int) -> list[str]:
    """The numbers of a step, and the means up to it."""
    text, lines = translate("Panels", "{0}  {1} (mean {2})"), []
    for name, title in (("loss", translate("Panels", "Training")), ("prequential_loss", translate("Panels", "Ghosts"))):
        values = steps.column(name)
        value, mean = float(values[index]), newest_mean(values, index, window)
        lines.append(text.format(title, format_number(value, 4), format_number(mean, 4)))
    rate = readable_decimal(float(steps.column("learning_rate")[index]))
    lines.append(translate("Panels", "Learning rate  {0}").format(rate))
    lines.append(format_time(int(steps.column("at_ms")[index])))
    reason = steps.why_skipped(int(steps.column("step")[index]))
    return lines if reason is None else [*lines, translate("Panels", "Skipped: {0}").format(reason)]


def _shown_span(window: int, raw: FloatArray, *averaged: FloatArray) -> tuple[float, float] | None:
    """Room for all but the wildest values, for the means without those, and for the newest steps. None if nothing was
    measured. window: steps in each mean. raw: drawn step by step; averaged: only their means are drawn."""
    parts = []
    for values in (raw, *averaged):
        measured = values[np.isfinite(values)]
        if measured.size:
            newest = np.median(measured[-_NEWEST_STEPS:], keepdims=True)
            stride = measured.size // _MOST_JUDGED + 1
            measured, steps = measured[::stride], max(window // stride, 1)
            usual = np.quantile(measured, (_WILD_SHARE, 1.0 - _WILD_SHARE), method="closest_observation")
            means = smoothed_mean(np.clip(measured, *usual), steps)[steps - 1 :]
            parts += [means, newest]
            parts += [usual] if values is raw or not means.size else []
    found = np.concatenate(parts) if parts else np.empty(0)
    return (float(found.min()), float(found.max())) if found.size else None
