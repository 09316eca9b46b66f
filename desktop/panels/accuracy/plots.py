"""The base of the Accuracy dock's plots, and those of errors over time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.evaluation.assess import ERROR_WINDOW
from core.evaluation.findings import Curve, HorizonAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from desktop.panels.accuracy.words import ahead, quantity_name
from desktop.ui.formatting import format_count, format_number, local_datetime, month_name
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.plots import NumberAxis, PlotAxis, apply_plot_palette, dashed_pen, legend_key, plot_widget
from desktop.ui.round_times import CLOCK, round_times
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_LOWEST_PLOT_PX = 112
_MINUTE_S, _DAY_S = 60.0, 86_400.0
_PIXELS_PER_TIME = 62
PERCENT = 100.0


class PercentAxis(NumberAxis):
    """Shares as percent."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        texts: list[str] = super().tickStrings([PERCENT * value for value in values], scale, PERCENT * spacing)
        return texts


class TimeAxis(PlotAxis):
    """Seconds since 1970 as local days, or as days and times if only a few days are shown."""

    def tickValues(self, minimum: float, maximum: float, size: float) -> list[tuple[float, list[float]]]:
        most = max(int(min(size / _PIXELS_PER_TIME, (maximum - minimum) / _MINUTE_S)), 1)
        found = round_times(round(1000.0 * minimum), round(1000.0 * maximum), most)
        has_time = any(each.rank == CLOCK for each in found)
        return [(_MINUTE_S if has_time else _DAY_S, [each.time_ms / 1000.0 for each in found])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        texts = []
        for value in values:
            here = local_datetime(round(1000.0 * value))
            day = "" if here is None else f"{here.day} {month_name(here.month)}"
            texts.append(day if here is None or spacing >= _DAY_S else f"{day} {here:%H:%M}")
        return texts


def too_few(have: int, needed: int) -> str:
    return translate("Panels", "Not yet: {0} of {1} candles.").format(format_count(have), needed)


class TitledPlot(QWidget):
    """A title that carries the numbers, a plot, and a sentence in its place while there is too little to draw."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        meaning: str,
        bottom: type[pg.AxisItem] = TimeAxis,
        top: type[pg.AxisItem] | None = None,
    ) -> None:
        super().__init__()
        self.title, self.missing = Label(), Label(alignment=Qt.AlignmentFlag.AlignCenter, wraps=True)
        self.title.setTextFormat(Qt.TextFormat.RichText)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.title.setWordWrap(True)  # it carries numbers: none of them may be cut
        mute(self.title, self.missing)
        self.plot = plot_widget(name, PercentAxis, bottom=bottom, top=top)
        self.plot.setMinimumHeight(_LOWEST_PLOT_PX)
        self.plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.plot.viewport().setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        parts = (self.title, self.plot, self.missing)
        stacked(self, *parts, stretched=(self.plot, self.missing), margins=NO_MARGINS, spacing=1)
        set_tooltip(self, meaning)
        theme.follow(self, partial(apply_plot_palette, self.plot))

    def update_state(self, title: str, missing: str) -> None:
        """missing: why there is nothing to draw; empty if there is."""
        set_text(self.title, title)
        set_text(self.missing, missing)
        self.plot.setVisible(not missing)
        self.missing.setVisible(bool(missing))


class CurvesPlot(TitledPlot):
    """Two curves over time, in percent and with zero; the title names them in their colours, with what each has now."""

    def __init__(self, theme: Theme, name: str, meaning: str, width_px: int) -> None:
        super().__init__(theme, name, meaning)
        self._theme, self._width_px = theme, width_px
        self._items = self.plot.plot(), self.plot.plot()
        theme.follow(self, self._apply_palette)

    def show_curves(self, curves: tuple[Curve, Curve]) -> None:
        known = [curve for curve in curves if len(curve)]
        for item, curve in zip(self._items, curves, strict=True):
            item.setData(*seconds_of(curve))
        show_time(self.plot, known[0])
        ends = [0.0, *(float(end) for curve in known for end in (curve.values.min(), curve.values.max()))]
        self.plot.setYRange(min(ends), max(ends), padding=0.06)

    def legend(self, names: tuple[str, str], curves: tuple[Curve, Curve], decimals: int) -> str:
        """The names of the curves in their colours with the newest values, as a line of the title."""
        parts = [
            legend_key(colour, f"{name} {format_number(PERCENT * float(curve.values[-1]), decimals)} %")
            for name, colour, curve in zip(names, self._theme.palette.curves, curves, strict=False)
            if len(curve)
        ]
        return "<br>" + " &nbsp; ".join(parts)

    def _apply_palette(self, palette: Palette) -> None:
        for item, colour in zip(self._items, palette.curves, strict=False):
            item.setPen(pg.mkPen(colour, width=self._width_px))


class ErrorPlots:
    """How far the close lay from its forecast, beside how far it lay from "no change"."""

    def __init__(self, theme: Theme) -> None:
        self.errors = CurvesPlot(
            theme,
            translate("Panels", "Errors of the close"),
            translate(
                "Panels",
                "Distance of the close from the forecast close, in percent of the price: the mean over the {0} "
                "candles up to each. For comparison, its distance from the last close: the error of “no change”.",
            ).format(ERROR_WINDOW),
            width_px=1,
        )
        self.loss_reduction = CurvesPlot(
            theme,
            translate("Panels", "Loss avoided"),
            translate(
                "Panels",
                "Loss avoided by the forecasts against “no change”, added up over time, in percent of the total loss "
                "of “no change”. A rising line forecasts better than “no change”; it ends at the skill.",
            ),
            width_px=2,
        )
        add_level(self.loss_reduction, 0.0, theme)
        self.parts = self.loss_reduction, self.errors

    def show_found(self, chosen: HorizonAccuracy) -> None:
        self._show_loss_reduction(chosen)
        self._show_errors(chosen)

    def _show_loss_reduction(self, chosen: HorizonAccuracy) -> None:
        plot, curves = self.loss_reduction, (chosen.loss_reduction_close, chosen.loss_reduction_range)
        title = translate("Panels", "Loss avoided against “no change”, {0}, n = {1}")
        title = title.format(ahead(chosen.request.horizon), format_count(chosen.n))
        if not any(map(len, curves)):
            plot.update_state(title, too_few(chosen.n, FEWEST_FOR_AN_ESTIMATE))
            return
        plot.update_state(title + plot.legend((quantity_name("close"), quantity_name("range")), curves, 2), "")
        plot.show_curves(curves)

    def _show_errors(self, chosen: HorizonAccuracy) -> None:
        plot, curves = self.errors, (chosen.error_curve, chosen.no_change_curve)
        title = translate("Panels", "Error of the close, {0}, n = {1}")
        title = title.format(ahead(chosen.request.horizon), format_count(chosen.n))
        if not all(map(len, curves)):
            plot.update_state(title, too_few(chosen.n, ERROR_WINDOW))
            return
        names = translate("Panels", "forecast"), translate("Panels", "“no change”")
        words = translate("Panels", "{0}; means of {1}")
        plot.update_state(words.format(f"{title}{plot.legend(names, curves, 3)}", ERROR_WINDOW), "")
        plot.show_curves(curves)


def add_level(titled: TitledPlot, value: float, theme: Theme) -> None:
    line = pg.InfiniteLine(value, angle=0)
    titled.plot.addItem(line)
    theme.follow(titled, lambda palette: line.setPen(dashed_pen(palette)))


def seconds_of(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Times in seconds since 1970, and values."""
    return curve.target_open_time_ms / 1000.0, curve.values


def show_time(plot: pg.PlotWidget, curve: Curve) -> None:
    """Fit the time axis to the curve."""
    first, last = curve.target_open_time_ms[[0, -1]] / 1000.0
    plot.setXRange(float(first), max(float(last), float(first) + 1.0), padding=0.01)
