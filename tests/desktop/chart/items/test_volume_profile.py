"""The volume profile: of what is in view, at its prices, on every scale."""

from __future__ import annotations

import numpy as np
import pytest

from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.volume_profile import VolumeProfileLayer, profile_in_view
from desktop.theme import mixed
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import random_series
from tests.desktop.chart.test_painting import picture


@pytest.mark.parametrize("kind", ScaleKind)
def test_it_is_of_the_candles_in_view_and_stands_at_their_prices(show_chart: ShowChart, kind: ScaleKind) -> None:
    series = random_series(400)
    chart = show_chart(series)
    chart.restyle(scale=kind)
    chart.add_layer(VolumeProfileLayer())
    settle(chart)
    frame, found = chart.frame, profile_in_view(chart.frame)
    assert found is not None
    view = slice(frame.first, frame.stop)
    assert found.total.sum() == pytest.approx(series.volume[view].sum())
    assert found.edges[0] == series.low[view].min() and found.edges[-1] == series.high[view].max()
    ink = mixed(frame.palette.up, frame.palette.background, 0.5).rgb() & 0xFFFFFF
    rows = np.flatnonzero(picture(chart)[:, 1] == ink)
    low, high = frame.y(float(found.edges[found.largest])), frame.y(float(found.edges[found.largest + 1]))
    assert rows.size and high <= rows.min() and rows.max() < low


def test_a_market_without_volume_has_none_and_says_so(show_chart: ShowChart) -> None:
    series = random_series(0)
    for candle in random_series(50):
        series.add(type(candle)(candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, 0.0))
    chart = show_chart(series)
    chart.add_layer(VolumeProfileLayer())
    settle(chart)
    assert profile_in_view(chart.frame) is None
    assert any("nothing traded" in span.text for row in chart.overlay.readout.rows for span in row)
