"""The pixels of each candle style."""

import numpy as np
import pytest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.style import CandleStyle
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import candle, random_series


def steady(rising: bool) -> CandleSeries:
    """Identical candles."""
    series = CandleSeries(Interval.parse("1m"))
    opened, close = (100.0, 101.0) if rising else (101.0, 100.0)
    for index in range(60):
        series.add(candle(index, close, opened=opened, reach=2.0))
    return series


def shown(show_chart: ShowChart, rising: bool, style: CandleStyle) -> ChartWidget:
    chart = show_chart(steady(rising))
    chart.restyle(candles=style)
    settle(chart)
    return chart


def is_inked(chart: ChartWidget, x: int, price: float) -> bool:
    colours = [rgb_of(chart.frame.palette.up), rgb_of(chart.frame.palette.down)]
    return bool(picture(chart)[chart.frame.y(price), x] in colours)


def test_a_rising_hollow_body_is_an_outline_and_a_falling_one_is_full(show_chart: ShowChart) -> None:
    chart = shown(show_chart, True, CandleStyle.HOLLOW)
    x = chart.frame.x(40)
    edge = chart.frame.widths.body // 2
    assert is_inked(chart, x - edge, 100.5) and is_inked(chart, x + edge, 100.5)
    assert not is_inked(chart, x, 100.5)
    assert is_inked(chart, x, 102.5) and is_inked(chart, x, 98.5)
    assert is_inked(chart, x, 100.0) and is_inked(chart, x, 101.0)
    falling = shown(show_chart, False, CandleStyle.HOLLOW)
    assert is_inked(falling, falling.frame.x(40), 100.5)


def test_a_hollow_candles_colour_is_by_the_close_before(show_chart: ShowChart) -> None:
    series = steady(True)
    series.add(candle(60, 100.5, opened=100.2, reach=1.0))
    chart = show_chart(series)
    chart.restyle(candles=CandleStyle.HOLLOW)
    settle(chart)
    x = chart.frame.x(60)
    colour = picture(chart)[chart.frame.y(101.2), x]
    assert colour == rgb_of(chart.frame.palette.down)


def test_a_bar_has_its_open_to_the_left_and_its_close_to_the_right(show_chart: ShowChart) -> None:
    chart = shown(show_chart, True, CandleStyle.BARS)
    x, reach = chart.frame.x(40), chart.frame.widths.body // 2
    assert is_inked(chart, x, 102.5)
    assert is_inked(chart, x - reach, 100.0) and not is_inked(chart, x + reach, 100.0)
    assert is_inked(chart, x + reach, 101.0) and not is_inked(chart, x - reach, 101.0)


def test_a_line_goes_through_every_close(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    chart.restyle(shows_volume=False)
    chart.restyle(candles=CandleStyle.LINE)
    settle(chart)
    frame, pixels = chart.frame, picture(chart)
    ground = rgb_of(frame.palette.background)
    for index in range(frame.first + 1, frame.stop - 1):
        around = pixels[frame.y(series[index].close) - 1 : frame.y(series[index].close) + 2, frame.x(index)]
        assert (around != ground).any()


@pytest.mark.parametrize("kind", list(ScaleKind))
@pytest.mark.parametrize("style", list(CandleStyle))
def test_every_style_paints_on_every_scale_near_and_far(
    show_chart: ShowChart, style: CandleStyle, kind: ScaleKind
) -> None:
    series = random_series(5_000)
    chart = show_chart(series, has_forming=True)
    chart.restyle(candles=style)
    chart.restyle(scale=kind)
    for factor in (1.0, 8.0, 0.001):
        chart.zoom(factor)
        settle(chart)
        columns = picture(chart)[:, : chart.frame.layout.plot_right]
        assert len(np.unique(columns)) > 4
