"""The volume profile of the view, at its prices, on every scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.regimes import RegimeProbabilities
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.items.volume_profile import VolumeProfileLayer, profile_in_view
from desktop.chart.panes.layer import Layer
from desktop.ui.theme import mixed
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import forecast_after, random_series


@pytest.mark.parametrize("kind", ScaleKind)
def test_it_is_of_the_candles_in_view_at_their_prices(show_chart: ShowChart, kind: ScaleKind) -> None:
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
    ink = rgb_of(mixed(frame.palette.up, frame.palette.background, 0.5))
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


@pytest.mark.parametrize("kinds", [(VolumeProfileLayer, RegimeLayer), (RegimeLayer, VolumeProfileLayer)])
def test_regimes_lie_behind_it_whichever_is_switched_on_last(
    show_chart: ShowChart, kinds: tuple[type[Layer], type[Layer]]
) -> None:
    series = random_series(400)
    chart = show_chart(series)
    calm = RegimeProbabilities(1.0, 0.0, 0.0)
    for each in series:
        made = replace(forecast_after(series), origin_open_time_ms=each.open_time_ms, conditions=calm)
        chart.model.regimes.add(made)
    for kind in kinds:
        chart.add_layer(kind())
    settle(chart)
    found = profile_in_view(chart.frame)
    assert found is not None
    low, high = (chart.frame.y(float(edge)) for edge in found.edges[found.largest : found.largest + 2])
    column, palette = picture(chart)[:, 1], chart.frame.palette
    bar = rgb_of(mixed(palette.up, palette.background, 0.5))
    ground = rgb_of(mixed(palette.regimes[0], palette.background, 0.09))
    rows = np.flatnonzero(column == bar)
    assert rows.size and high <= rows.min() and rows.max() < low, "the bar is there"
    assert (column[: chart.frame.layout.price_bottom] == ground).any(), "and so is the shade"
