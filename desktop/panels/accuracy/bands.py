"""The page of bands and errors: its figures, coverage of the 90 % band over time, whether quantiles and chances are met
as often as they say, and errors over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from core.domain.events import QUANTILE_LEVELS, Estimate
from core.evaluation.findings import FEWEST_CASES, OVERALL, HorizonAccuracy, RunAccuracy, TouchAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import COVERAGE_WINDOW, NOMINAL_COVERAGE
from desktop.panels.accuracy.glossary import ROWS, GlossaryLinks
from desktop.panels.accuracy.plots import (
    PERCENT,
    ErrorPlots,
    PercentAxis,
    TitledPlot,
    add_level,
    seconds_of,
    show_time,
    too_few,
)
from desktop.panels.accuracy.table import AccuracyTable, direction_words
from desktop.panels.accuracy.words import ahead, measured, points, value_of
from desktop.ui.formatting import format_candles, format_count, format_number, format_volume
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import WrappedLabel
from desktop.ui.plots import PlotAxis, dashed_pen
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_BETWEEN = (0.1, 0.9)
"""Levels without a number on the axis, where it would touch its neighbour."""
_SHORT_FROM = 1_000


class ReliabilityPlot(TitledPlot):
    """Observed frequencies against forecast probabilities. On the dashed line both are equal."""

    def __init__(self, theme: Theme, name: str, meaning: str, top: type[pg.AxisItem] | None = None) -> None:
        super().__init__(theme, name, meaning, PercentAxis, top)
        self._diagonal = self.plot.plot([0.0, 1.0], [0.0, 1.0])
        self._whiskers = pg.ErrorBarItem(x=np.zeros(0), y=np.zeros(0), beam=0.015)
        self.plot.addItem(self._whiskers)
        self.observed = self.plot.plot(symbol="o", symbolSize=5)
        self.plot.setXRange(0.0, 1.0, padding=0.03)
        self.plot.setYRange(0.0, 1.0, padding=0.05)
        theme.follow(self, self._apply_palette)

    def show_points(self, expected: Sequence[float | None], observed: Sequence[Estimate]) -> bool:
        """Show the points with an interval. Returns whether there are any."""
        known = [
            (share, found.value, found.low, found.high)
            for share, found in zip(expected, observed, strict=False)
            if share is not None and found.value is not None and found.low is not None and found.high is not None
        ]
        if known:
            shares, values, lows, highs = (np.array(column) for column in zip(*known, strict=True))
            self.observed.setData(shares, values)
            self._whiskers.setData(x=shares, y=values, top=highs - values, bottom=values - lows)
        return bool(known)

    def _apply_palette(self, palette: Palette) -> None:
        self._diagonal.setPen(dashed_pen(palette))
        curve = palette.curves[0]
        self.observed.setPen(pg.mkPen(curve, width=1))
        self.observed.setSymbolBrush(pg.mkBrush(curve))
        self.observed.setSymbolPen(pg.mkPen(curve))
        self._whiskers.setOpts(pen=pg.mkPen(curve, width=1))


class BandsPage(QWidget):
    """Scrolls if it is too low for all of it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.links = GlossaryLinks(self)
        self.table, self.bands, self.errors = AccuracyTable(theme), BandPlots(theme), ErrorPlots(theme)
        for row, anchor in zip(self.table.rows, ROWS, strict=True):
            self.links.link(row.name, anchor)
        self.direction = WrappedLabel()
        """What the direction in the lowest row proves."""
        mute(self.direction)
        self.links.link(self.direction, "proven-not-proven")
        inside = QWidget()
        plots = *self.bands.parts, *self.errors.parts
        stacked(inside, self.table, self.direction, *plots, stretched=plots, margins=(0, 0, 6, 0), spacing=6)
        stacked(self, DownScrolling(inside, translate("Panels", "Bands and errors")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy) -> None:
        self.table.show_figures(found.chosen)
        words = direction_words(found.chosen)
        set_text(self.direction, translate("Panels", "Direction: {0}").format(words))
        self.direction.setVisible(bool(words))
        self.bands.show_found(found)
        self.errors.show_found(found.chosen)


class BandPlots:
    """Coverage of the 90 % band over time, the reliability of all seven quantiles, and of the chance of a price."""

    def __init__(self, theme: Theme) -> None:
        self.coverage = TitledPlot(
            theme,
            translate("Panels", "Coverage of the 90 % band"),
            translate(
                "Panels",
                "How often the close fell into the 90 % band, over the {0} candles up to each. Dashed: the promise "
                "of the band.",
            ).format(COVERAGE_WINDOW),
        )
        add_level(self.coverage, NOMINAL_COVERAGE, theme)
        self.covered = self.coverage.plot.plot()
        self.reliability = ReliabilityPlot(
            theme,
            translate("Panels", "Reliability of the quantiles"),
            translate(
                "Panels",
                "How often the close was at or below each of the seven quantiles shown, with its 95 % interval. On "
                "the dashed line, each quantile is perfectly calibrated.",
            ),
        )
        ticks = [(level, f"{PERCENT * level:g}") for level in QUANTILE_LEVELS if level not in _BETWEEN]
        self.reliability.plot.getAxis("bottom").setTicks([ticks])
        self.touched = ReliabilityPlot(
            theme,
            translate("Panels", "Reliability of the chance of a price"),
            translate(
                "Panels",
                "How often a price was touched, against the chance that was given, with its 95 % interval: six prices "
                "for each forecast, up to twice the volatility away. A point for each tenth of the chance with at "
                "least {0} cases; above it, how many cases it has. On the dashed line, prices are touched as often as "
                "said. Brier score: the mean squared difference between chance and outcome, lower is better; a "
                "Brownian path without drift is as wide as “no change”.",
            ).format(FEWEST_CASES),
            PlotAxis,
        )
        self.parts = self.coverage, self.reliability, self.touched
        theme.follow(self.coverage, lambda palette: self.covered.setPen(pg.mkPen(palette.curves[0], width=2)))

    def show_found(self, found: RunAccuracy) -> None:
        chosen = found.chosen
        self._show_coverage(chosen)
        is_known = self.reliability.show_points(QUANTILE_LEVELS, chosen.reliability)
        n = max((estimate.n for estimate in chosen.reliability), default=0)
        title = translate("Panels", "Closes at or below each quantile, {0}, n = {1}")
        title = title.format(ahead(chosen.request.horizon), format_count(n))
        self.reliability.update_state(title, "" if is_known else too_few(n, FEWEST_FOR_AN_ESTIMATE))
        self._show_touched(found.touched, is_of_group=found.chosen.request.group != OVERALL)

    def _show_coverage(self, chosen: HorizonAccuracy) -> None:
        coverage, curve = chosen.coverage_90, chosen.coverage_curve
        missing = too_few(coverage.n, COVERAGE_WINDOW)
        self.coverage.update_state(_title_of_coverage(chosen), "" if len(curve) else missing)
        if not len(curve):
            return
        self.covered.setData(*seconds_of(curve))
        show_time(self.coverage.plot, curve)
        low = min(float(curve.values.min()), NOMINAL_COVERAGE - 0.05)
        high = max(float(curve.values.max()), NOMINAL_COVERAGE + 0.05)
        self.coverage.plot.setYRange(low, high, padding=0.06)

    def _show_touched(self, found: TouchAccuracy | None, *, is_of_group: bool) -> None:
        if found is None:
            title = translate("Panels", "The chance that a price is touched")
            self.touched.update_state(title, translate("Panels", "Being computed…"))
            return
        tenths = [tenth for tenth in found.reliability if tenth.cases >= FEWEST_CASES]
        is_known = self.touched.show_points([tenth.chance for tenth in tenths], [tenth.observed for tenth in tenths])
        self.touched.update_state(_title_of_touched(found, is_of_group), "" if is_known else _too_few_cases(found))
        width = 1.0 / len(found.reliability)
        ticks = []
        for place, tenth in enumerate(found.reliability):  # there is room for four letters
            cases = format_count(tenth.cases) if tenth.cases < _SHORT_FROM else format_volume(tenth.cases)
            ticks.append(((place + 0.5) * width, cases))
        self.touched.plot.getAxis("top").setTicks([ticks])


def _title_of_coverage(chosen: HorizonAccuracy) -> str:
    coverage = chosen.coverage_90
    n = format_count(coverage.n)
    title = translate("Panels", "Coverage of the 90 % band, n = {0}").format(n)
    if value_of(coverage) is not None:
        shown = measured(coverage, 1, signed=False)
        title = translate("Panels", "90 % band covers {0} %, n = {1}").format(shown, n)
    if chosen.worst_500 is None:
        return title
    worst, best = (points(each, 1, signed=False) for each in (chosen.worst_500, chosen.best_500))
    extremes = translate("Panels", "{0} in a row: worst {1}, best {2}").format(COVERAGE_WINDOW, worst, best)
    return f"{title}<br>{extremes}"


def _title_of_touched(found: TouchAccuracy, is_of_group: bool) -> str:
    """is_of_group: the other plots show a group of candles alone."""
    title = translate("Panels", "Price touched within {0}, newest {1} forecasts")
    title = title.format(format_candles(found.within), format_count(found.n))
    if is_of_group:
        title = translate("Panels", "{0} of all candles").format(title)
    if found.brier is None or found.brownian is None:
        return title
    scores = translate("Panels", "Brier score {0}, of a Brownian path {1}; above: cases by tenth")
    return f"{title}<br>{scores.format(format_number(found.brier, 4), format_number(found.brownian, 4))}"


def _too_few_cases(found: TouchAccuracy) -> str:
    if found.brier is None:
        return too_few(found.n, FEWEST_FOR_AN_ESTIMATE)
    most = max(tenth.cases for tenth in found.reliability)
    words = translate("Panels", "Not yet: no tenth has {0} cases; the largest has {1}.")
    return words.format(FEWEST_CASES, format_count(most))
