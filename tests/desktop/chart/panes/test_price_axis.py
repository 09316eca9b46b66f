"""How wide the price axis is, and what its labels say, whatever a hand does to it."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.indicators.spec import IndicatorSpec
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.items.study import StudyLayer
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, random_series

LEFT = Qt.MouseButton.LeftButton
MOST_AXIS_SHARE = 0.2


def drag_axis(chart: ChartWidget, by: int) -> None:
    """Over the price axis, from its foot upwards where `by` is negative."""
    start = QPoint(chart.frame.layout.plot_right + 10, 440 if by < 0 else 20)
    QTest.mousePress(chart.viewport(), LEFT, pos=start)
    QTest.mouseMove(chart.viewport(), start + QPoint(0, by // 2))
    QTest.mouseMove(chart.viewport(), start + QPoint(0, by))
    QTest.mouseRelease(chart.viewport(), LEFT, pos=start + QPoint(0, by))
    settle(chart)


@pytest.mark.parametrize("kind", list(ScaleKind))
def test_no_number_of_drags_takes_the_plot_away(show_chart: ShowChart, kind: ScaleKind) -> None:
    chart = show_chart(random_series(300))
    chart.restyle(scale=kind)
    settle(chart)
    fitted, plot_right = chart.frame.prices, chart.frame.layout.plot_right
    for _ in range(12):
        drag_axis(chart, -420)
        frame = chart.frame
        assert frame.layout.width - frame.layout.plot_right <= MOST_AXIS_SHARE * frame.layout.width
    assert chart.frame.prices.low >= 0.0 and chart.frame.prices.high <= 2_000 * fitted.high
    assert chart.frame.prices.low < fitted.low and chart.frame.prices.high > fitted.high
    chart.fit_prices()
    settle(chart)
    assert (chart.frame.prices, chart.frame.layout.plot_right) == (fitted, plot_right)


@pytest.mark.parametrize("kind", list(ScaleKind))
def test_no_number_of_drags_shows_less_than_there_is_to_see(show_chart: ShowChart, kind: ScaleKind) -> None:
    chart = show_chart(random_series(300))
    chart.restyle(scale=kind)
    settle(chart)
    fitted = chart.frame.prices
    for _ in range(12):
        drag_axis(chart, 420)
    assert chart.frame.prices.span >= 0.5e-4 * fitted.span
    for _ in range(12):
        drag_axis(chart, -420)
    assert chart.frame.prices.low < fitted.low and chart.frame.prices.high > fitted.high


@pytest.mark.parametrize("way", ["fit", "double click", "reset", "another market", "another scale"])
def test_the_axis_gives_back_what_it_took(show_chart: ShowChart, way: str) -> None:
    chart = show_chart(random_series(300))
    at_first = chart.frame.layout.plot_right
    for _ in range(6):
        drag_axis(chart, -420)
    assert chart.frame.layout.plot_right < at_first
    if way == "fit":
        chart.fit_prices()
    elif way == "double click":
        QTest.mouseDClick(chart.viewport(), LEFT, pos=QPoint(chart.frame.layout.plot_right + 10, 250))
    elif way == "reset":
        chart.reset_view()
    elif way == "another market":
        chart.set_series(random_series(300, seed=3), "ETH/USDT")
    else:
        chart.restyle(scale=ScaleKind.LOG)
    settle(chart)
    assert chart.frame.layout.plot_right == at_first


def test_the_axis_keeps_its_width_while_ticks_come(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    chart.add_layer(StudyLayer(IndicatorSpec.of("macd"), 0))
    series.add(candle(300, 200_000.0))
    chart.refresh()
    settle(chart)
    wide = chart.frame.layout.plot_right
    for index in range(301, 420):
        series.add(candle(index, 20_000.0 - index))
        chart.refresh()
        settle(chart)
        assert chart.frame.layout.plot_right <= wide
        wide = chart.frame.layout.plot_right


def test_numbers_longer_than_they_are_exact_are_written_short(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    chart.restyle(scale=ScaleKind.LOG)
    chart.hold_prices(PriceRange(1e-60, 1e60, ScaleKind.LOG))
    settle(chart)
    frame = chart.frame
    assert all(len(frame.price_text(price)) <= 20 for price in (frame.prices.low, 1e17, frame.prices.high))
    assert frame.layout.width - frame.layout.plot_right <= MOST_AXIS_SHARE * frame.layout.width
    assert frame.price_text(20_000.0) == "20,000.00"
