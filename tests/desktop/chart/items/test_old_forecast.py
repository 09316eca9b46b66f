"""Ghosts of an outdated forecast are drawn as old from the first closed candle on, and labelled so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.description import describe_candle, describe_chart
from desktop.chart.labels.forecast_label import divider_row
from desktop.chart.labels.readout import readout_box
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, random_series, texts
from tests.desktop.chart.test_painting import picture


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
    chart = show_chart(series)
    chart.set_forecast(forecast_after(series))
    settle(chart)
    palette = chart.frame.palette
    inks = (palette.ghost_up.rgb() & 0xFFFFFF, palette.ghost_down.rgb() & 0xFFFFFF)

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
    assert "simple rules, not scored" in texts((divider_row(chart.frame, model),))
    assert "not scored" in texts(readout_box(chart.frame, model, chart._layers, 121, None).rows)
    assert "by the simple rules" in describe_chart(model, None, None)
