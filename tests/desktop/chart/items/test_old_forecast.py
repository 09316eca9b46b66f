"""Ghosts of an outdated forecast are drawn as old from the first closed candle on, and labelled so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel, Moment
from desktop.chart.labels.description import describe_candle, describe_chart
from desktop.chart.labels.forecast import divider_row
from desktop.chart.labels.readout import readout_box
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import candle, forecast_after, random_series, texts


@pytest.mark.parametrize(("age", "words"), [(1, "made 1 candle ago"), (3, "made 3 candles ago")])
def test_it_says_how_many_candles_have_closed_since(show_chart: ShowChart, age: int, words: str) -> None:
    series = random_series(120)
    made, newest = forecast_after(series), series[-1].close
    chart = show_chart(series)
    chart.set_forecast(made)
    settle(chart)
    assert "ago" not in texts((divider_row(chart.frame, chart.model),))
    for number in range(120, 120 + age):
        series.add(candle(number, newest))
    chart.refresh()
    settle(chart)
    assert words in texts((divider_row(chart.frame, chart.model),))
    ahead = chart.model.count + 1
    assert words in texts(readout_box(chart.frame, chart.model, chart._layers, ahead, None).rows)
    assert words in describe_chart(chart.model, None, None) and words in describe_candle(chart.model, None, ahead)
    chart.resize(260, 500)
    settle(chart)
    assert words in texts((divider_row(chart.frame, chart.model),)), "also where there is little room"


def test_its_ghosts_are_dimmed_until_a_fresh_one_comes(show_chart: ShowChart) -> None:
    series = random_series(120)
    chart = show_chart(series, has_forecast=True)
    palette = chart.frame.palette
    inks = (rgb_of(palette.ghost_up), rgb_of(palette.ghost_down))

    def has_full_ink() -> bool:
        frame = chart.frame
        ahead = slice(frame.x(chart.model.count), frame.layout.plot_right)
        return bool(np.isin(picture(chart)[frame.layout.price_top :, ahead], inks).any())

    assert has_full_ink()
    series.add(candle(120, series[-1].close))
    chart.refresh()
    settle(chart)
    assert chart.model.ghosts() and not has_full_ink()
    chart.set_forecast(forecast_after(series))
    settle(chart)
    assert has_full_ink()


def test_the_simple_rules_ghosts_are_named_as_such(show_chart: ShowChart) -> None:
    series = random_series(120)
    chart = show_chart(series)
    chart.set_forecast(replace(forecast_after(series, mode=ForecastMode.CATCH_UP), is_by_simple_rules=True))
    settle(chart)
    model: ChartModel = chart.model
    assert "baselines only, not scored" in texts((divider_row(chart.frame, model),))
    assert "not scored" in texts(readout_box(chart.frame, model, chart._layers, 121, None).rows)
    assert "by the baselines alone" in describe_chart(model, None, None)


def test_a_thin_market_makes_its_forecast_old_by_time(show_chart: ShowChart) -> None:
    """The exchange has no candle for three minutes after the newest one: none closes, and time passes."""
    series = random_series(120)
    chart = show_chart(series, has_forecast=True)
    price = series[-1].close
    for forming, words in ((120, ""), (121, "made 1 candle ago"), (123, "made 3 candles ago")):
        chart.set_forming(candle(forming, price))
        settle(chart)
        shown = texts((divider_row(chart.frame, chart.model),))
        assert words in shown and ("ago" in shown) is bool(words)
    series.add(candle(123, price))
    chart.refresh()
    settle(chart)
    assert "made 4 candles ago" in texts((divider_row(chart.frame, chart.model),))
    chart.set_forecast(forecast_after(series))
    settle(chart)
    assert "ago" not in texts((divider_row(chart.frame, chart.model),))


def test_in_a_warm_up_a_forecast_a_little_behind_is_drawn_as_the_current_one(show_chart: ShowChart) -> None:
    """Regression: for a minute all ghosts were dimmed, under a warning."""
    series = random_series(120)
    chart = show_chart(series, has_forecast=True)
    chart.set_usual_age(2)
    pictures = {}
    for number in (120, 121, 122):
        series.add(candle(number, series[-1].close))
        chart.refresh()
        settle(chart)
        row = divider_row(chart.frame, chart.model)
        pictures[number] = row[-1].colour == chart.frame.palette.warning, picture(chart)
        age = f"made {number - 119} candle"
        assert (age in texts((row,))) is (number > 120), "of two, its age is given all the same"
    assert [is_warning for is_warning, _ in pictures.values()] == [False, False, True]
    before = picture(chart)
    chart.set_usual_age(3)
    settle(chart)
    assert (picture(chart) != before).any()


def test_a_forecast_that_is_due_in_a_replay_does_not_dim_the_former(show_chart: ShowChart) -> None:
    """Regression: at each candle of a replay ghosts and label flickered until the model had answered."""
    series = random_series(120)
    chart = show_chart(series, has_forecast=True)
    chart.set_usual_age(1)
    series.add(candle(120, series[-1].close))
    chart.refresh()
    settle(chart)
    row = divider_row(chart.frame, chart.model)
    assert "ago" not in texts((row,)) and not chart.model.is_forecast_old
    series.add(candle(121, series[-1].close))
    chart.refresh()
    settle(chart)
    assert "made 2 candles ago" in texts((divider_row(chart.frame, chart.model),)) and chart.model.is_forecast_old


def test_without_any_candle_the_exchange_clock_makes_it_old(show_chart: ShowChart) -> None:
    series = random_series(120)
    made = forecast_after(series)
    chart = show_chart(series)
    chart.set_forecast(made)
    closes_ms = made.ghosts[0].open_time_ms + 60_000
    for time_ms, age in ((closes_ms + 4_999, 0), (closes_ms + 5_000, 1), (closes_ms + 125_000, 3), (None, 0)):
        settle(chart)
        before = picture(chart)
        was, _ = chart.model.forecast_age, chart.set_market_time(time_ms)
        settle(chart)
        assert chart.model.forecast_age == age
        assert (picture(chart) != before).any() == (age != was)
    chart.set_market_time(closes_ms + 125_000)
    chart.show_moment(Moment(made.inputs_until_ms, made))
    assert chart.model.forecast_age == 0, "a past moment has no time after it"
