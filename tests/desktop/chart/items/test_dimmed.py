"""A forecast made from unusual input is paler than others, and the readout of its ghosts says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.regimes import MarketConditions, RegimeProbabilities
from desktop.chart.labels.readout import readout_box
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forecast_after, random_series, texts
from tests.desktop.chart.test_painting import picture

SERIES = random_series(120)
REGIME = RegimeProbabilities(0.2, 0.1, 0.7)
ODD = MarketConditions(REGIME, 1.6, "range 9.0 times its usual")
USUAL = MarketConditions(REGIME, 0.4)


def test_ghosts_and_bands_are_dimmed_and_all_else_stays(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    pictures = []
    for conditions in (None, USUAL, ODD):
        chart.set_forecast(replace(forecast_after(SERIES), conditions=conditions))
        settle(chart)
        pictures.append(picture(chart))
    plain, usual, odd = pictures
    assert (plain == usual).all(), "only what is odd is dimmed"
    frame = chart.frame
    top = frame.layout.price_top
    changed = np.argwhere(plain[top:] != odd[top:])
    assert changed[:, 1].min() >= frame.x(len(SERIES) - 1) - 1 and len(changed) > 200
    ghost = (frame.palette.ghost_up.rgb() & 0xFFFFFF, frame.palette.ghost_down.rgb() & 0xFFFFFF)
    ahead = slice(frame.x(len(SERIES)), frame.layout.plot_right)
    assert np.isin(plain[frame.layout.price_top :, ahead], ghost).any()
    assert not np.isin(odd[frame.layout.price_top :, ahead], ghost).any()


@pytest.mark.parametrize(("width", "has_reason"), [(900, True), (300, False)])
def test_the_words_over_the_forecast_say_why_where_they_have_room(
    show_chart: ShowChart, width: int, has_reason: bool
) -> None:
    chart = show_chart(SERIES, width=width)
    chart.set_forecast(replace(forecast_after(SERIES), conditions=ODD))
    settle(chart)
    frame = chart.frame
    line = picture(chart)[frame.layout.price_top - frame.fonts.line : frame.layout.price_top]
    red, green, blue = (((line >> shift) & 0xFF).astype(int) for shift in (16, 8, 0))
    columns = np.flatnonzero(((red - blue > 60) & (green - blue > 30)).any(axis=0))  # as the warning's colour is
    reason = frame.fonts.width(ODD.oddity)
    assert columns.size
    assert bool(columns.max() - columns.min() > reason) is has_reason
    assert columns.max() < frame.layout.plot_right


def test_the_readout_of_a_ghost_says_why_it_is_dimmed(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.set_forecast(replace(forecast_after(SERIES), conditions=ODD))
    settle(chart)
    text = texts(readout_box(chart.frame, chart.model, chart._layers, len(SERIES) + 2, None).rows)
    assert "range 9.0 times its usual" in text
    of_candle = texts(readout_box(chart.frame, chart.model, chart._layers, 80, None).rows)
    assert "unlike" not in of_candle
