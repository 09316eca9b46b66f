"""The price axis' width and labels, under any stretching."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade
from core.indicators.spec import IndicatorSpec
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.labels.axis_labels import Label, time_labels, time_marks, value_labels
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, forming_after, random_series

LEFT = Qt.MouseButton.LeftButton
MOST_AXIS_SHARE = 0.2


def drag_axis(chart: ChartWidget, by: int) -> None:
    """Over the price axis, upwards from its bottom if `by` is negative."""
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
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("macd"), 0))
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


def without_volume(count: int) -> CandleSeries:
    """As from a file without a volume column."""
    series = CandleSeries(Interval.parse("1m"))
    for index in range(count):
        series.add(candle(index, 100.0 + index % 3, volume=0.0))
    return series


def forecast_of(series: CandleSeries, volume: float) -> ForecastMade:
    made = forecast_after(series)
    return replace(made, ghosts=tuple(replace(ghost, volume=volume) for ghost in made.ghosts))


def test_where_no_volume_is_known_there_is_neither_a_strip_nor_a_scale_for_it(show_chart: ShowChart) -> None:
    series = without_volume(40)
    chart = show_chart(series)
    chart.set_forecast(forecast_of(series, 1e-10))
    settle(chart)
    frame = chart.frame
    assert frame.layout.price_bottom == frame.layout.main_bottom and not frame.style.shows_volume
    assert all(label.area.bottom() < frame.layout.price_bottom for label in value_labels(frame, frame.price_pane))
    chart.set_forming(forming_after(series))
    settle(chart)
    assert chart.frame.layout.price_bottom < chart.frame.layout.main_bottom, "something was traded now"


def test_the_scale_of_a_tiny_volume_is_whole(show_chart: ShowChart) -> None:
    series = CandleSeries(Interval.parse("1m"))
    for index in range(40):
        series.add(candle(index, 1.0, reach=0.5, volume=1.23e-9))
    frame = show_chart(series).frame
    label = value_labels(frame, frame.price_pane)[-1]
    assert label.area.top() > frame.layout.price_bottom
    assert frame.fonts.width(label.text) <= label.area.width()


@pytest.mark.parametrize("kind", list(ScaleKind))
@pytest.mark.parametrize("size", [(313, 125), (200, 100)])
def test_small_axes_leave_more_to_the_candles_and_still_have_a_scale(
    show_chart: ShowChart, kind: ScaleKind, size: tuple[int, int]
) -> None:
    series = random_series(300)
    chart = show_chart(series, *size)
    chart.restyle(shows_volume=False, shows_readout=False, scale=kind)
    chart.set_forming(forming_after(series))
    chart.set_forecast(forecast_after(series))
    settle(chart)
    usual = chart.frame.layout
    assert chart.overlay.last_price is not None
    chart.restyle(has_small_axes=True)
    settle(chart)
    frame, layout = chart.frame, chart.frame.layout
    assert layout.plot_bottom > usual.plot_bottom and layout.price_top < usual.price_top
    assert layout.plot_right > usual.plot_right or kind is ScaleKind.PERCENT
    labels = value_labels(frame, frame.price_pane)
    assert labels and all(frame.fonts.width(label.text) <= label.area.width() for label in labels)
    assert chart.overlay.last_price is None, "it is written beside the chart"
    assert all(label.area.right() <= layout.plot_right for label in times_of(chart))
    chart.restyle(has_small_axes=False)
    settle(chart)
    assert chart.frame.layout == usual


def times_of(chart: ChartWidget) -> list[Label]:
    return time_labels(chart.frame, chart.model, time_marks(chart.frame, chart.model))


def test_labels_of_small_axes_have_no_zeros_that_all_have(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    chart.hold_prices(PriceRange(20_000.0, 20_100.0))
    settle(chart)
    assert "20,040.00" in [label.text for label in value_labels(chart.frame, chart.frame.price_pane)]
    chart.restyle(has_small_axes=True)
    settle(chart)
    assert "20,040" in [label.text for label in value_labels(chart.frame, chart.frame.price_pane)]
    chart.hold_prices(PriceRange(20_000.0, 20_006.0))
    settle(chart)
    texts = [label.text for label in value_labels(chart.frame, chart.frame.price_pane)]
    assert "20,001.0" in texts and "20,001.5" in texts, "each has as many decimals as the others"
