"""How bands and errors went over time, and whether each quantile is met as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.domain.events import QUANTILE_LEVELS, ExpertShares
from core.evaluation.assess import ERROR_WINDOW
from core.evaluation.findings import Curve, HorizonAccuracy, RunAccuracy
from core.forecast.score import COVERAGE_WINDOW, FEWEST_FOR_AN_ESTIMATE, NOMINAL_COVERAGE
from desktop.panels.accuracy.names import quantity_name
from desktop.panels.accuracy.pages import Page
from desktop.panels.accuracy.words import ahead, measured, points
from desktop.ui.formatting import format_count, format_number, local_datetime, month_name
from desktop.ui.panel_base import colour_text, set_text
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.plots import NumberAxis, PlotAxis, apply_plot_palette, plot_widget
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_LOWEST_PLOT_PX = 112
_BETWEEN = (0.1, 0.9)
"""Levels without a number on the axis: it would touch the one beside it."""
_DAY_S = 86_400
_STEPS_S = (
    60,
    300,
    900,
    3_600,
    10_800,
    21_600,
    43_200,
    *(_DAY_S * days for days in (1, 2, 3, 5, 10, 30, 60, 180, 365)),
)
_PIXELS_PER_TIME = 62
_PERCENT = 100.0


class PercentAxis(NumberAxis):
    """Shares as percent."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        texts: list[str] = super().tickStrings([_PERCENT * value for value in values], scale, _PERCENT * spacing)
        return texts


class TimeAxis(PlotAxis):
    """Seconds since 1970 as local days, or as days and times where a few of them are shown."""

    def tickValues(self, minimum: float, maximum: float, size: float) -> list[tuple[float, list[float]]]:
        most = max(size / _PIXELS_PER_TIME, 1.0)
        step = next((each for each in _STEPS_S if (maximum - minimum) / each <= most), _STEPS_S[-1])
        here = local_datetime(int(1000.0 * minimum))
        offset = here.utcoffset() if here is not None else None
        shift = 0.0 if offset is None else offset.total_seconds()
        first, last = math.ceil((minimum + shift) / step), math.floor((maximum + shift) / step)
        return [(float(step), [place * step - shift for place in range(first, last + 1)])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [_moment(value, has_time=spacing < _DAY_S) for value in values]


def _not_yet(have: int, needed: int) -> str:
    return translate("Panels", "Not yet: {0} of {1} candles.").format(format_count(have), needed)


def _moment(seconds: float, *, has_time: bool) -> str:
    here = local_datetime(round(1000.0 * seconds))
    if here is None:
        return ""
    day = f"{here.day} {month_name(here.month)}"
    return f"{day} {here:%H:%M}" if has_time else day


class _Plot(QWidget):
    """A title that carries the numbers, a plot, and a sentence in its place while there is too little to draw."""

    def __init__(self, name: str, left: type[pg.AxisItem], bottom: type[pg.AxisItem], meaning: str) -> None:
        super().__init__()
        self.title, self.missing = Label(), Label()
        self.title.setTextFormat(Qt.TextFormat.RichText)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.title.setWordWrap(True)  # it carries numbers: none of them may be cut
        self.missing.setWordWrap(True)
        self.missing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.plot = plot_widget(name, left, bottom=bottom)
        self.plot.setMinimumHeight(_LOWEST_PLOT_PX)
        self.plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.plot.viewport().setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        parts = (self.title, self.plot, self.missing)
        stacked(self, *parts, stretched=(self.plot, self.missing), margins=NO_MARGINS, spacing=1)
        self.setToolTip(paragraphs(meaning))

    def update_state(self, title: str, missing: str) -> None:
        """missing: why there is nothing to draw; empty where there is."""
        set_text(self.title, title)
        set_text(self.missing, missing)
        self.plot.setVisible(not missing)
        self.missing.setVisible(bool(missing))

    def apply_palette(self, palette: Palette) -> None:
        apply_plot_palette(self.plot, palette)
        for label in (self.title, self.missing):
            colour_text(label, palette.muted_text)


class BandsPage(Page):
    """Coverage of the 90 % band over time, and the reliability of all seven quantiles."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.coverage = _Plot(
            translate("Panels", "Coverage of the 90 % band"),
            PercentAxis,
            TimeAxis,
            translate(
                "Panels",
                "How often the close fell into the 90 % band, over the {0} candles up to each. Dashed: the promise "
                "of the band.",
            ).format(COVERAGE_WINDOW),
        )
        self.reliability = _Plot(
            translate("Panels", "Reliability of the quantiles"),
            PercentAxis,
            PercentAxis,
            translate(
                "Panels",
                "How often the close was at or below each of the seven quantiles shown, with its 95 % interval. On "
                "the dashed line, each quantile is perfectly calibrated.",
            ),
        )
        self._nominal = pg.InfiniteLine(NOMINAL_COVERAGE, angle=0)
        self.coverage.plot.addItem(self._nominal)
        self.covered = self.coverage.plot.plot()
        self._diagonal = self.reliability.plot.plot([0.0, 1.0], [0.0, 1.0])
        self._whiskers = pg.ErrorBarItem(x=np.zeros(0), y=np.zeros(0), beam=0.015)
        self.reliability.plot.addItem(self._whiskers)
        self.observed = self.reliability.plot.plot(symbol="o", symbolSize=5)
        self.reliability.plot.setXRange(0.0, 1.0, padding=0.03)
        self.reliability.plot.setYRange(0.0, 1.0, padding=0.05)
        ticks = [(level, f"{_PERCENT * level:g}") for level in QUANTILE_LEVELS if level not in _BETWEEN]
        self.reliability.plot.getAxis("bottom").setTicks([ticks])
        _stack(self, (self.coverage, self.reliability))

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        self._show_coverage(found.chosen)
        self._show_reliability(found.chosen)

    def apply_palette(self, palette: Palette) -> None:
        for each in (self.coverage, self.reliability):
            each.apply_palette(palette)
        dashed = pg.mkPen(palette.muted_text, width=1, style=Qt.PenStyle.DashLine)
        self._nominal.setPen(dashed)
        self._diagonal.setPen(dashed)
        curve = palette.curves[0]
        self.covered.setPen(pg.mkPen(curve, width=2))
        self.observed.setPen(pg.mkPen(curve, width=1))
        self.observed.setSymbolBrush(pg.mkBrush(curve))
        self.observed.setSymbolPen(pg.mkPen(curve))
        self._whiskers.setOpts(pen=pg.mkPen(curve, width=1))

    def _show_coverage(self, chosen: HorizonAccuracy) -> None:
        of, curve = chosen.coverage_90, chosen.coverage_curve
        missing = _not_yet(of.n, COVERAGE_WINDOW)
        self.coverage.update_state(_title_of_coverage(chosen), "" if len(curve) else missing)
        if not len(curve):
            return
        self.covered.setData(*_seconds(curve))
        _show_time(self.coverage.plot, curve)
        low = min(float(curve.values.min()), NOMINAL_COVERAGE - 0.05)
        high = max(float(curve.values.max()), NOMINAL_COVERAGE + 0.05)
        self.coverage.plot.setYRange(low, high, padding=0.06)

    def _show_reliability(self, chosen: HorizonAccuracy) -> None:
        known = [
            (level, of.value, of.low, of.high)
            for level, of in zip(QUANTILE_LEVELS, chosen.reliability, strict=False)
            if of.value is not None and of.low is not None and of.high is not None
        ]
        n = max((of.n for of in chosen.reliability), default=0)
        title = translate("Panels", "Closes at or below each quantile, {0}, n = {1}")
        title = title.format(ahead(chosen.request.horizon), format_count(n))
        self.reliability.update_state(title, "" if known else _not_yet(n, FEWEST_FOR_AN_ESTIMATE))
        if known:
            levels, values, lows, highs = (np.array(column) for column in zip(*known, strict=True))
            self.observed.setData(levels, values)
            self._whiskers.setData(x=levels, y=values, top=highs - values, bottom=values - lows)


def _title_of_coverage(chosen: HorizonAccuracy) -> str:
    of = chosen.coverage_90
    if of.value is None:
        return translate("Panels", "Coverage of the 90 % band, n = {0}").format(format_count(of.n))
    title = translate("Panels", "90 % band covers {0} %, n = {1}")
    title = title.format(measured(of, 1, signed=False), format_count(of.n))
    if chosen.worst_500 is None:
        return title
    worst, best = (points(each, 1, signed=False) for each in (chosen.worst_500, chosen.best_500))
    extremes = translate("Panels", "{0} in a row: worst {1}, best {2}").format(COVERAGE_WINDOW, worst, best)
    return f"{title}<br>{extremes}"


class ErrorsPage(Page):
    """How far the close lay from its forecast, beside how far it lay from "no change"."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.errors = _Plot(
            translate("Panels", "Errors of the close"),
            PercentAxis,
            TimeAxis,
            translate(
                "Panels",
                "Distance of the close from the forecast close, in percent of the price: the mean over the {0} "
                "candles up to each. For comparison, its distance from the last close: the error of “no change”.",
            ).format(ERROR_WINDOW),
        )
        self.forecast, self.no_change = self.errors.plot.plot(), self.errors.plot.plot()
        self.loss_reduction = _Plot(
            translate("Panels", "Loss avoided"),
            PercentAxis,
            TimeAxis,
            translate(
                "Panels",
                "Loss avoided by the forecasts against “no change”, added up over time, in percent of the total loss "
                "of “no change”. A rising line forecasts better than “no change”; it ends at the skill.",
            ),
        )
        self._zero = pg.InfiniteLine(0.0, angle=0)
        self.loss_reduction.plot.addItem(self._zero)
        self.loss_reduction_close, self.loss_reduction_range = (
            self.loss_reduction.plot.plot(),
            self.loss_reduction.plot.plot(),
        )
        self._curves: tuple[QColor, QColor] = theme.palette.curves[0], theme.palette.curves[1]
        _stack(self, (self.loss_reduction, self.errors))

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        chosen = found.chosen
        self._show_loss_reduction(chosen)
        curves = (chosen.error_curve, chosen.no_change_curve)
        has_curve = all(len(curve) for curve in curves)
        missing = _not_yet(chosen.n, ERROR_WINDOW)
        self.errors.update_state(self._title(chosen, has_curve), "" if has_curve else missing)
        if not has_curve:
            return
        for item, curve in zip((self.forecast, self.no_change), curves, strict=True):
            item.setData(*_seconds(curve))
        _show_time(self.errors.plot, curves[0])
        highest = max(float(curve.values.max()) for curve in curves)
        self.errors.plot.setYRange(0.0, highest, padding=0.05)

    def apply_palette(self, palette: Palette) -> None:
        for each in (self.errors, self.loss_reduction):
            each.apply_palette(palette)
        self._zero.setPen(pg.mkPen(palette.muted_text, width=1, style=Qt.PenStyle.DashLine))
        self._curves = palette.curves[0], palette.curves[1]
        self.forecast.setPen(pg.mkPen(self._curves[0], width=1))
        self.no_change.setPen(pg.mkPen(self._curves[1], width=1))
        self.loss_reduction_close.setPen(pg.mkPen(self._curves[0], width=2))
        self.loss_reduction_range.setPen(pg.mkPen(self._curves[1], width=2))

    def _show_loss_reduction(self, chosen: HorizonAccuracy) -> None:
        curves = (chosen.loss_reduction_close, chosen.loss_reduction_range)
        known = [curve for curve in curves if len(curve)]
        head = translate("Panels", "Loss avoided against “no change”, {0}, n = {1}")
        head = head.format(ahead(chosen.request.horizon), format_count(chosen.n))
        legend = self._legend((quantity_name("close"), quantity_name("range")), curves, 2) if known else ""
        self.loss_reduction.update_state(head + legend, "" if known else _not_yet(chosen.n, FEWEST_FOR_AN_ESTIMATE))
        if not known:
            return
        for item, curve in zip((self.loss_reduction_close, self.loss_reduction_range), curves, strict=True):
            item.setData(*_seconds(curve))
        _show_time(self.loss_reduction.plot, known[0])
        ends = [0.0, *(float(end) for curve in known for end in (curve.values.min(), curve.values.max()))]
        self.loss_reduction.plot.setYRange(min(ends), max(ends), padding=0.06)

    def _title(self, chosen: HorizonAccuracy, has_curve: bool) -> str:
        head = translate("Panels", "Error of the close, {0}, n = {1}")
        head = head.format(ahead(chosen.request.horizon), format_count(chosen.n))
        if not has_curve:
            return head
        curves = (chosen.error_curve, chosen.no_change_curve)
        names = translate("Panels", "forecast"), translate("Panels", "“no change”")
        text = translate("Panels", "{0}; means of {1}")
        return text.format(f"{head}{self._legend(names, curves, 3)}", ERROR_WINDOW)

    def _legend(self, names: tuple[str, str], curves: tuple[Curve, Curve], decimals: int) -> str:
        """The names in the colours of their curves, with what each has now, in percent."""
        parts = [
            f'<span style="color:{colour.name()}">&#9473;</span> {name} '
            f"{format_number(_PERCENT * float(curve.values[-1]), decimals)} %"
            for name, colour, curve in zip(names, self._curves, curves, strict=True)
            if len(curve)
        ]
        return "<br>" + " &nbsp; ".join(parts)


def _stack(page: QWidget, parts: tuple[QWidget, ...]) -> None:
    inside = QWidget()
    stacked(inside, *parts, stretched=parts, margins=(0, 0, 6, 0), spacing=4)
    stacked(page, DownScrolling(inside, translate("Panels", "Accuracy plots")), margins=NO_MARGINS)


def _seconds(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    return curve.target_open_time_ms / 1000.0, curve.values


def _show_time(plot: pg.PlotWidget, curve: Curve) -> None:
    first, last = curve.target_open_time_ms[[0, -1]] / 1000.0
    plot.setXRange(float(first), max(float(last), float(first) + 1.0), padding=0.01)
