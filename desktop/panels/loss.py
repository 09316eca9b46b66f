"""The loss panel: training loss, the loss of the ghosts before it was learned from, drifts, and the learning rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from core.domain.candle import Market
from core.domain.events import DriftFound, Trend
from core.market.shown_names import shown_symbol
from desktop.state.run_state import RunState
from desktop.state.training_words import break_sentence
from desktop.ui.formatting import (
    MISSING,
    format_age,
    format_count,
    format_duration,
    format_number,
    format_significant,
    format_time,
)
from desktop.ui.icons import icon, tabular
from desktop.ui.inputs import readable_decimal
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import EmptyState, Panel, colour_text, mute, set_text
from desktop.ui.plain_text import ElidedLabel, Label, set_tooltip
from desktop.ui.plots import (
    SMOOTHING_STEPS,
    FloatArray,
    NumberAxis,
    NumberOrLogAxis,
    add_curve,
    apply_plot_palette,
    dashed_pen,
    legend_key,
    logarithm,
    own_children,
    plot_widget,
    smoothed_mean,
    thinned,
)
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_WIDEST_LINEAR_SPAN = 12.0
"""Ratio of the largest visible loss to the smallest. Beyond it, as after a divergence, a linear scale would flatten the
rest. Healthy losses span a factor of two to four."""
_NARROWEST_LOGARITHMIC_SPAN = 6.0
"""Below it a logarithmic scale becomes linear again. With a single limit the scale would flicker."""
_DASH_STEPS, _FEWEST_STEPS_IN_VIEW = 0.15, 5.0
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
_DRIFT = QT_TRANSLATE_NOOP("Panels", "drift")
_RIGHT_OF_THE_LINE, _LEFT_OF_THE_LINE = (0.0, 0.0), (1.0, 0.0)
"""The corner of the name at the upper end of the line: the name lies below it."""
_OF_DRIFTS = QT_TRANSLATE_NOOP(
    "Panels",
    "The loss of the ghosts rose for longer than chance explains: the market became harder to forecast, or differs "
    "from what the model has learned. This is not an error. A typical loss is a geometric mean, in which a single "
    "candle counts little.",
)


class DriftMarks(ElidedLabel):
    """Drifts on the loss curve: a dashed line at the step at which each was certain, and the newest of them in words.
    The words take one line: a second would take the plot's room, and its labels would lie on one another."""

    def __init__(self, plot: pg.PlotWidget, theme: Theme) -> None:
        super().__init__()
        self._plot = plot
        self._theme = theme
        self._lines: dict[DriftFound, pg.InfiniteLine] = {}
        self._markets: Mapping[str, Market] = {}
        scale_text(self, 0.9)
        self.setVisible(False)
        theme.follow(self, self._apply_palette)

    @property
    def marked(self) -> tuple[DriftFound, ...]:
        """The drifts with a line, in order."""
        return tuple(self._lines)

    def show_drifts(
        self, drifts: Sequence[DriftFound], first_step: float, last_step: float, markets: Mapping[str, Market]
    ) -> None:
        """Show the drifts between two steps; `drifts` is in order. markets: the model's, by the ids of their runs. With
        several of them, each drift names its market."""
        self._markets = markets
        seen = [drift for drift in drifts if first_step <= drift.step <= last_step]
        for drift in [drift for drift in self._lines if drift not in seen]:
            line = self._lines.pop(drift)
            self._plot.removeItem(line)
            own_children(line)
        for drift in seen:
            if drift not in self._lines:
                self._lines[drift] = self._add_line(drift)
        self.setVisible(bool(seen))
        if seen:
            set_text(self, drift_in_words(seen[-1], self._symbol(seen[-1])))
            at_length = [self._at_length(drift) for drift in reversed(seen)]
            set_tooltip(self, "\n".join([translate("Panels", _OF_DRIFTS), *at_length]))

    def _apply_palette(self, palette: Palette) -> None:
        for line in self._lines.values():
            line.setPen(dashed_pen(palette))
            line.label.setColor(palette.text)

    def _add_line(self, drift: DriftFound) -> pg.InfiniteLine:
        anchors = (_RIGHT_OF_THE_LINE, _LEFT_OF_THE_LINE)
        palette = self._theme.palette
        options = {"position": 1.0, "anchors": anchors, "color": palette.text, "movable": False}
        line = pg.InfiniteLine(
            drift.step,
            angle=90,
            pen=dashed_pen(palette),
            label=translate("Panels", _DRIFT),
            labelOpts=options,
        )
        set_tooltip(line, "\n".join((self._at_length(drift), translate("Panels", _OF_DRIFTS))))
        self._plot.addItem(line, ignoreBounds=True)
        return line

    def _symbol(self, drift: DriftFound) -> str:
        market = self._markets.get(drift.run_id) if len(self._markets) > 1 else None
        return "" if market is None else shown_symbol(market.venue, market.symbol)

    def _at_length(self, drift: DriftFound) -> str:
        text = translate("Panels", "{0} The higher loss covers {1} candles.")
        return text.format(drift_in_words(drift, self._symbol(drift)), format_count(drift.candles))


def drift_in_words(drift: DriftFound, symbol: str = "") -> str:
    """Step, time, loss before and after, and the action taken. symbol: of its market; empty: there is only one."""
    before, after = format_significant(drift.loss_before, 2), format_significant(drift.loss_after, 2)
    step, when = format_count(drift.step), format_time(drift.candle_open_time_ms)
    text = translate("Panels", "Drift at step {0}: typical loss {2} → {3} ({1}). {4}")
    words = text.format(step, when, before, after, drift.what_was_done)
    return translate("Panels", "{0}: {1}").format(symbol, words) if symbol else words


class LossPanel(Panel):
    """Curves of the newest 1,000 steps over a strip with the learning rate, under the current numbers."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self._values: dict[str, Label] = {}
        self._names: list[Label] = []
        self._trend_icon = Label()
        self._legend = Label()
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        layout = stacked(self, self._build_numbers(), self._legend, margins=(8, 6, 8, 4), spacing=4)
        self.plot = plot_widget(translate("Panels", "Loss curves"), NumberOrLogAxis)
        self._raw = add_curve(self.plot)
        self._prequential = add_curve(self.plot)
        self._mean = add_curve(self.plot)
        layout.addWidget(self.plot, 1)
        self.drifts = DriftMarks(self.plot, theme)
        layout.addWidget(self.drifts)
        self._rate_label = Label()
        self._rate_label.setToolTip(translate("Panels", "Learning rate of each step. Change it in the tool bar."))
        self._rate_plot = plot_widget(translate("Panels", "Learning rate curve"), NumberAxis)
        self._rate_plot.setFixedHeight(26)
        self._rate_plot.getAxis("left").setTicks([])
        self._rate_plot.hideAxis("bottom")
        self._rate = add_curve(self._rate_plot)
        self.plot.getViewBox().sigResized.connect(self._align_rate)
        layout.addWidget(self._rate_label)
        layout.addWidget(self._rate_plot)
        self._empty = EmptyState(
            translate("Panels", "No training steps yet.\nThe curves begin with the first step."), self.plot
        )
        mute(*self._names, self._legend, self._rate_label)
        theme.follow(self, self._apply_palette)
        self.follow(state.diagnosis_changed, state.steps_changed, state.drifts_changed)
        self.follow(state.status_changed, state.record_changed)

    def refresh(self) -> None:
        self._show_legend()
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
        training, prequential, rate = palette.curves[:3]
        # Wider than 1 pixel, pyqtgraph's raster curves cost tens of times more; these have few points.
        self._raw.setPen(pg.mkPen(with_alpha(training, 60), width=1))
        self._mean.setPen(pg.mkPen(training, width=2))
        self._prequential.setPen(pg.mkPen(prequential, width=2))
        self._rate.setPen(pg.mkPen(rate, width=1))
        self._show_legend()
        self._legend.setToolTip(
            translate(
                "Panels",
                "Training: loss of the model on the samples of a step; each step faint, the mean bold.\nGhosts: loss "
                "of the newest one-step ghost, made before its candle was seen (prequential). While the model has no "
                "share in the ghosts, their loss can be low and the model's high.",
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
        training, prequential, *_ = self.palette_now.curves
        learned = translate("Panels", "training, mean of {0}").format(SMOOTHING_STEPS)
        before = translate("Panels", "ghosts, mean of {0}").format(SMOOTHING_STEPS)
        parts = (legend_key(training, learned), legend_key(prequential, before), self._of_markets())
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
        steps = self._state.steps
        why = break_sentence(self._state)
        self._empty.update_state(is_empty=len(steps) == 0, is_loading=self._state.is_loading, why=why)
        for part in (self._rate_label, self._rate_plot, self._legend):
            part.setVisible(len(steps) > 0)
        for name in ("left", "bottom"):
            self.plot.getPlotItem().showAxis(name, len(steps) > 0)
        x, most = steps.column("step"), max(2 * self.plot.width(), 100)
        loss, before = steps.column("loss"), smoothed_mean(steps.column("prequential_loss"), SMOOTHING_STEPS)
        mean = smoothed_mean(loss, SMOOTHING_STEPS)
        span = _shown_span(loss, mean, before)
        axis = self.plot.getAxis("left")
        is_logarithmic = _wants_logarithms(span, axis.is_logarithmic)
        axis.set_logarithmic(is_logarithmic)
        for curve, values in ((self._raw, loss), (self._mean, mean), (self._prequential, before)):
            shown = thinned(x, logarithm(values) if is_logarithmic else values, most)
            curve.setData(*_as_dash(*shown))
        rate = steps.column("learning_rate")
        self._rate.setData(*thinned(x, rate, most))
        if len(steps) == 0:
            self.drifts.show_drifts((), 0.0, 0.0, {})
            return
        self.drifts.show_drifts(self._state.drifts, float(x[0]), float(x[-1]), self._state.members)
        for plot in (self.plot, self._rate_plot):
            plot.setXRange(float(x[0]), max(float(x[-1]), float(x[0]) + _FEWEST_STEPS_IN_VIEW), padding=0.01)
        if span is not None:
            self._fit_height(*(map(math.log10, span) if is_logarithmic else span))
        now = self._state.learning_rate or float(rate[-1])
        self._rate_label.setText(translate("Panels", "Learning rate {0}").format(readable_decimal(now)))
        low, high = float(np.nanmin(rate)), float(np.nanmax(rate))
        self._rate_plot.setYRange(low * 0.5, max(high * 1.2, low * 1.5), padding=0.0)

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


def _shown_span(raw: FloatArray, *curves: FloatArray) -> tuple[float, float] | None:
    """Room for the newest values and for all but the wildest: one spike must not flatten all else. None if nothing was
    measured."""
    parts = []
    for curve, tail in ((raw, 0.02), *((each, 0.005) for each in curves)):
        measured = curve[np.isfinite(curve)]
        if measured.size:
            parts += [np.quantile(measured, (tail, 1.0 - tail)), measured[-1:]]
    return (float(min(map(np.min, parts))), float(max(map(np.max, parts)))) if parts else None
