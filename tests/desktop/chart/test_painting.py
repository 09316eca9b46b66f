"""What is painted and how often, and that partial repaints equal a full paint."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.known_holes import KnownHoles
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import columns_with, picture, rgb_of, screen
from tests.desktop.chart.support import (
    MINUTE_MS,
    candle,
    forecast_after,
    forming_after,
    outcome_of,
    point_over,
    random_series,
)


def test_an_empty_chart_is_a_sentence_and_no_grid(show_chart: ShowChart) -> None:
    chart = show_chart(None)
    chart.set_empty_text("Waiting for the first candle of BTC/USDT")
    settle(chart)
    shown, palette = picture(chart), chart.frame.palette
    background = rgb_of(palette.background)
    inked = np.argwhere(shown != background)
    assert len(inked) > 100
    top, left = inked.min(axis=0)
    bottom, right = inked.max(axis=0)
    assert abs((left + right) / 2 - chart.width() / 2) < 10
    assert abs((top + bottom) / 2 - chart.height() / 2) < 10
    assert chart.closed_paints == 0


def test_an_empty_series_waits_and_then_shows_its_first_candle(show_chart: ShowChart) -> None:
    series = CandleSeries(Interval.parse("1m"))
    chart = show_chart(series)
    assert chart.closed_paints == 0
    series.add(candle(0, 20_001.0, opened=20_000.0))
    chart.refresh()
    settle(chart)
    assert columns_with(picture(chart), chart.frame.palette.up)


def test_a_forming_candle_alone_is_shown(show_chart: ShowChart) -> None:
    chart = show_chart(CandleSeries(Interval.parse("1m")))
    chart.set_forming(candle(0, 20_001.0, opened=20_000.0))
    settle(chart)
    assert columns_with(picture(chart), chart.frame.palette.up)


@pytest.mark.parametrize("price", [1e-8, 0.00001234, 1.0, 20_000.0, 1e9])
def test_flat_prices_of_any_size_are_shown(show_chart: ShowChart, price: float) -> None:
    series = CandleSeries(Interval.parse("1m"))
    for index in range(30):
        series.add(Candle(index * MINUTE_MS, price, price, price, price, 0.0))
    chart = show_chart(series)
    rows = np.flatnonzero((picture(chart) == rgb_of(chart.frame.palette.up)).any(axis=1))
    assert rows.size > 0
    assert chart.frame.prices.low < price < chart.frame.prices.high


def test_candles_ghosts_and_forming_are_in_their_places(show_chart: ShowChart) -> None:
    series = random_series(200)
    chart = show_chart(series, has_forecast=True)
    chart.restyle(shows_volume=False)
    chart.restyle(shows_bands=False)
    settle(chart)
    frame, shown = chart.frame, picture(chart)
    divider = (frame.x(199) + frame.x(200)) // 2
    plot = shown[frame.layout.price_top :, : frame.layout.plot_right]
    for rising in (True, False):
        real = columns_with(plot[:-40], frame.palette.candle(rising))
        # The last price's dotted line crosses the plot in a market colour.
        row = frame.y(series[-1].close) - frame.layout.price_top
        without_line = np.delete(plot, [row - 1, row, row + 1], axis=0)
        real = columns_with(without_line, frame.palette.candle(rising))
        assert real and max(real) < divider
        ghosts = columns_with(without_line, frame.palette.ghost(rising))
        assert ghosts and min(ghosts) >= divider


def test_a_tick_within_the_range_repaints_no_closed_candle(show_chart: ShowChart) -> None:
    series = random_series(500)
    chart = show_chart(series, has_forming=True)
    before = chart.closed_paints
    for move in range(20):
        chart.set_forming(forming_after(series, move / 10))
        settle(chart)
    assert chart.closed_paints == before


def test_a_tick_beyond_the_range_fits_it_again(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    chart.set_forming(forming_after(series, 5_000.0))
    settle(chart)
    assert chart.frame.prices.high > series[-1].close + 5_000


@pytest.mark.parametrize("scene", ["mouse", "ticks", "countdown"])
def test_repainted_parts_equal_the_whole(show_chart: ShowChart, scene: str) -> None:
    series = random_series(400)
    chart = show_chart(series, has_forecast=True, has_forming=True)
    chart.set_live(True)
    for index in range(300, 400):
        chart.model.past.add(outcome_of(series[index]))
    settle(chart)
    paints = chart.closed_paints
    for step in range(25):
        if scene != "ticks":
            index = 340 + 3 * step
            price = series[index].close if index < 400 else series[-1].close
            QTest.mouseMove(chart.viewport(), point_over(chart, index, price))
        if scene != "mouse":
            chart.set_forming(forming_after(series, ((step * 7) % 11) - 5.0))
        settle(chart)
        assert np.array_equal(screen(chart), picture(chart))
    QTest.mouseMove(chart.viewport(), QPoint(120, 12))
    settle(chart)
    assert np.array_equal(screen(chart), picture(chart))
    assert scene != "mouse" or chart.closed_paints == paints


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 999), st.floats(0.2, 3.0), st.booleans(), st.booleans())
def test_the_price_range_is_what_a_brute_force_finds(
    show_chart: ShowChart, right: int, factor: float, with_bands: bool, with_forming: bool
) -> None:
    series = random_series(600)
    chart = show_chart(series, width=700, height=400)
    chart.restyle(shows_bands=with_bands)
    chart.set_forecast(forecast_after(series))
    chart.set_forming(forming_after(series) if with_forming else None)
    chart.scale.zoom_at(factor, 350.0)
    chart.scale.pan_to(float(right))
    chart.refresh()
    settle(chart)
    frame, model = chart.frame, chart.model
    shown = [(one.low, one.high) for index in range(frame.first, frame.stop) for one in [series[index]]]
    if model.forming is not None and frame.left - 0.5 < 600 < frame.right + 0.5:
        shown.append((model.forming.low, model.forming.high))
    for placed in model.ghosts():
        if frame.left - 0.5 < placed.index < frame.right + 0.5:
            shown.append((placed.ghost.low, placed.ghost.high))
            if with_bands:
                shown.append((placed.ghost.close_quantiles[0], placed.ghost.close_quantiles[-1]))
    low, high = min(pair[0] for pair in shown), max(pair[1] for pair in shown)
    air = 0.05 * (high - low)
    assert frame.prices.low == pytest.approx(low - air)
    assert frame.prices.high == pytest.approx(high + air)


def test_any_order_of_arrival_gives_the_same_picture(show_chart: ShowChart) -> None:
    ordered = random_series(300, skip=frozenset({120, 250}))
    shuffled = CandleSeries(ordered.interval)
    first = show_chart(ordered)
    second = show_chart(shuffled)
    order = np.random.default_rng(3).permutation(len(ordered))
    for position, index in enumerate(order):
        shuffled.add(ordered[int(index)])
        if position % 60 == 0:
            second.refresh()
            settle(second)
    second.refresh()
    second.reset_view()
    settle(second)
    assert np.array_equal(picture(first), picture(second))


def test_volume_and_bands_can_be_hidden(show_chart: ShowChart) -> None:
    series = random_series(200)
    chart = show_chart(series, has_forecast=True)
    with_both = picture(chart)
    height, span = chart.frame.layout.price_bottom, chart.frame.prices.span
    chart.restyle(shows_volume=False)
    settle(chart)
    assert chart.frame.layout.price_bottom > height
    chart.restyle(shows_bands=False)
    settle(chart)
    assert chart.frame.prices.span <= span
    chart.restyle(shows_volume=True)
    chart.restyle(shows_bands=True)
    settle(chart)
    assert np.array_equal(picture(chart), with_both)


def test_the_grid_can_be_hidden(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(200))
    grid = chart.frame.palette.grid
    assert len(columns_with(picture(chart), grid)) > chart.frame.layout.plot_right // 2
    chart.restyle(shows_grid=False)
    settle(chart)
    assert not columns_with(picture(chart), grid)


def test_a_gap_has_a_mark_and_no_hole(show_chart: ShowChart) -> None:
    whole, holed = random_series(100), random_series(110, skip=frozenset(range(60, 70)))
    with_gap, without = show_chart(holed), show_chart(whole)
    frame = with_gap.frame
    mark = frame.x(60 - 0.5)
    column_with = picture(with_gap)[frame.layout.price_top : frame.layout.price_top + 40, mark]
    column_without = picture(without)[frame.layout.price_top : frame.layout.price_top + 40, mark]
    assert not np.array_equal(column_with, column_without)
    assert frame.x(60) - frame.x(59) == frame.x(59) - frame.x(58)


@pytest.mark.parametrize("is_absent", [False, True])
def test_the_holes_of_a_thin_market_have_feet_and_leave_the_candles_free(
    show_chart: ShowChart, is_absent: bool
) -> None:
    """Half of the candles are missing, as in a market without trades: full lines would look like a barcode."""
    chart = show_chart(random_series(160, skip=frozenset(range(1, 160, 2))))
    if is_absent:
        chart.set_holes(KnownHoles(np.array([[0, 2**62]])))
    settle(chart)
    frame, marks = chart.frame, [chart.frame.x(index - 0.5) for index in range(30, 60)]
    column_of_candles = frame.x(30)
    drawn = picture(chart)[: frame.layout.plot_bottom, :]
    high, low = frame.layout.price_top, frame.layout.plot_bottom - frame.scaled(30)
    ground = drawn[high:low, column_of_candles - 4]  # beside the candle: only grid lines and background
    assert all((drawn[high:low, mark] == ground).mean() > 0.9 for mark in marks), "no line runs through"
    feet = drawn[frame.layout.plot_bottom - frame.scaled(8) : frame.layout.plot_bottom]
    assert sum((feet[:, mark] != feet[:, mark + 2]).any() for mark in marks) > 20


def test_a_hole_is_dotted_only_where_the_exchange_has_no_candle_of_it(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(110, skip=frozenset(range(60, 70))))
    first_ms = int(chart.model.time_at(59) or 0) + MINUTE_MS
    mark, gap = chart.frame.x(60 - 0.5), rgb_of(chart.frame.palette.gap)
    for absent, is_dotted in ((0, False), (9, False), (10, True)):
        chart.set_holes(KnownHoles(np.array([[first_ms, first_ms + absent * MINUTE_MS]])[:absent]))
        settle(chart)
        assert bool((picture(chart)[:, mark] == gap).any()) is not is_dotted


def test_another_theme_recolours_everything(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100))
    dark = picture(chart)
    chart._theme.set_mode("light")
    settle(chart)
    light = picture(chart)
    assert not (dark == light).any(axis=None) or (dark == light).mean() < 0.02
    assert np.bincount(light.ravel() & 0xFF).argmax() == 255


def test_a_tiny_widget_paints_without_complaint(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series, width=60, height=40, has_forecast=True)
    QTest.mouseMove(chart.viewport(), QPoint(10, 10))
    settle(chart)
    assert picture(chart).shape == (chart.height(), chart.width())


def test_all_candles_in_view_are_grouped(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(20_000))
    for _ in range(60):
        QTest.keyClick(chart, Qt.Key.Key_Minus)
    settle(chart)
    assert chart.frame.first == 0 and chart.frame.stop == 20_000
    assert chart.frame.group > 1
    assert columns_with(picture(chart), chart.frame.palette.up)


def test_a_flat_ghost_has_a_whole_body(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    forecast = forecast_after(series)
    flat = replace(forecast.ghosts[4], close=forecast.ghosts[4].open)
    chart.set_forecast(replace(forecast, ghosts=(*forecast.ghosts[:4], flat, *forecast.ghosts[5:])))
    settle(chart)
    frame, shown = chart.frame, picture(chart)
    row, centre = frame.y(flat.close), frame.x(104)
    around = shown[row, centre - frame.widths.body : centre + frame.widths.body + 1]
    assert (around == rgb_of(frame.palette.ghost_up)).sum() == frame.widths.body


def test_the_ghost_behind_a_candle_adopts_and_releases_its_frame(show_chart: ShowChart) -> None:
    """A forming candle that appears and disappears changes neither the times ahead nor the range."""
    series = random_series(200)
    changed, frames = show_chart(series), []
    changed.set_forecast(forecast_after(series))
    changed.zoom(3.0)
    settle(changed)
    for forming in (forming_after(series), None):
        changed.set_forming(forming)
        settle(changed)
        fresh = show_chart(series, has_forecast=True)
        fresh.set_forming(forming)
        fresh.zoom(3.0)
        settle(fresh)
        frames.append(changed.frame)
        assert np.array_equal(picture(changed), picture(fresh)), forming
        assert np.array_equal(screen(changed), picture(changed)), forming
    assert frames[0] == frames[1], "the case that is meant: only the candle came and went"


def test_a_candle_that_forms_after_a_hole_takes_times_and_ghosts_ahead_along(show_chart: ShowChart) -> None:
    series = random_series(200)
    newest = series[-1]
    late = Candle(newest.open_time_ms + 4 * MINUTE_MS, newest.close, newest.close, newest.close, newest.close, 1.0)
    set_before, set_after = show_chart(series), show_chart(series)
    for chart, pieces in ((set_before, 1), (set_after, 2)):
        chart.set_forecast(forecast_after(series))
        if pieces == 2:
            settle(chart)
        chart.set_forming(late)
        settle(chart)
    set_before.reset_view()
    settle(set_before)
    assert np.array_equal(screen(set_after), picture(set_before))
