"""The scales of the panes below the prices: of flat values, of few pixels, and of none."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.indicators.series import IndicatorSeries
from core.indicators.spec import IndicatorSpec
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.labels.axis_labels import value_marks
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import candle, forming_after, random_series

OWN_PANES = ["rsi", "macd", "atr"]


def series_of(prices: list[float], reach: float = 0.0) -> CandleSeries:
    series = CandleSeries(Interval.parse("1m"))
    for index, price in enumerate(prices):
        series.add(candle(index, price, reach=reach))
    return series


def with_indicator(show_chart: ShowChart, series: CandleSeries, kind: str) -> tuple[ChartWidget, IndicatorLayer]:
    chart, layer = show_chart(series), IndicatorLayer(IndicatorSpec.of(kind), 0)
    chart.add_layer(layer)
    settle(chart)
    return chart, layer


def said(layer: IndicatorLayer, chart: ChartWidget) -> str:
    return " ".join(span.text for row in layer.rows(chart.frame, chart.model, None) for span in row)


@pytest.mark.parametrize("price", [64_200.1, 1.3e-8, 0.3, 1.1e9])
def test_what_rounding_leaves_over_is_drawn_flat(show_chart: ShowChart, price: float) -> None:
    series = series_of([price] * 300)
    chart, layer = with_indicator(show_chart, series, "macd")
    pane = chart.frame.pane(layer.pane)
    values = IndicatorSeries(layer.spec, series).values[:, -100:]
    assert np.ptp(pane.ys(values.ravel())) <= 1
    assert pane.inner_top < pane.y(0.0) < pane.inner_bottom - 1


def test_flat_values_neither_tremble_nor_change_their_colour(show_chart: ShowChart) -> None:
    chart, layer = with_indicator(show_chart, series_of([64_200.1] * 300), "macd")
    pane = chart.frame.pane(layer.pane)
    pixels = picture(chart)[pane.inner_top : pane.inner_bottom, : chart.frame.x(chart.model.count - 1)]
    assert not np.any(pixels == rgb_of(chart.frame.palette.volume_down))
    grid, ground = (rgb_of(colour) for colour in (chart.frame.palette.grid, chart.frame.palette.background))
    marked = (pixels != grid) & (pixels != ground)
    assert 1 <= marked.any(axis=1).sum() <= 3


@pytest.mark.parametrize("tick", [0.01, 1e-12, 1.0])
def test_moves_of_a_single_tick_fill_the_pane(show_chart: ShowChart, tick: float) -> None:
    prices = [round(13_000 * tick + tick * (index // 40 % 2), 12) for index in range(300)]
    series = series_of(prices)
    chart, layer = with_indicator(show_chart, series, "macd")
    pane = chart.frame.pane(layer.pane)
    values = IndicatorSeries(layer.spec, series).values[:, chart.frame.first : chart.frame.stop]
    assert np.ptp(pane.ys(values.ravel())) >= 0.8 * pane.height


@pytest.mark.parametrize("height", [120, 200, 320, 560, 1_000])
def test_labels_of_levels_never_overlap(show_chart: ShowChart, height: int) -> None:
    series = random_series(300)
    chart, layer = with_indicator(show_chart, series, "rsi")
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("macd"), 1))
    chart.resize(900, height)
    settle(chart)
    for pane in chart.frame.panes:
        rows = sorted(pane.y(level) for level in value_marks(chart.frame, pane))
        assert all(below - above >= chart.frame.fonts.metrics.ascent() for above, below in itertools.pairwise(rows))
    strengths = value_marks(chart.frame, chart.frame.pane(layer.pane))
    assert strengths == ([30.0, 70.0] if height > 300 else [70.0])


@pytest.mark.parametrize("kind", OWN_PANES)
def test_a_pane_without_a_value_has_no_scale_and_says_what_it_waits_for(show_chart: ShowChart, kind: str) -> None:
    needed = IndicatorSeries(IndicatorSpec.of(kind), random_series(100)).first_defined + 1
    series = random_series(needed - 1)
    chart, layer = with_indicator(show_chart, series, kind)
    pane = chart.frame.pane(layer.pane)
    assert not pane.has_scale and value_marks(chart.frame, pane) == []
    assert f"needs {needed} candles" in said(layer, chart)
    for x in (301, 300):  # Qt sends no event if the cursor is already there
        QTest.mouseMove(chart.viewport(), QPoint(x, pane.top + 30))
    settle(chart)
    assert chart.overlay.cross is not None and chart.overlay.price_label is None
    series.add(random_series(needed)[-1])
    chart.refresh()
    settle(chart)
    pane = chart.frame.pane(layer.pane)
    assert pane.has_scale and value_marks(chart.frame, pane)
    assert "needs" not in said(layer, chart)


def test_the_forming_candle_counts_among_those_that_are_needed(show_chart: ShowChart) -> None:
    series = random_series(19)
    chart, layer = with_indicator(show_chart, series, "sma")
    assert "needs 20 candles" in said(layer, chart)
    chart.set_forming(forming_after(series))
    settle(chart)
    assert "needs" not in said(layer, chart) and "–" not in said(layer, chart)
