"""Another market's line: it starts with the candles, breaks at missing ones, and is always visible."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.price_lines import LineKind, PriceLine
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.comparison import Comparison, ComparisonLayer, colour_of
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.panes.layer import View
from desktop.chart.widget import ChartWidget
from desktop.ui.formatting import format_clock
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import hover, picture, rgb_of
from tests.desktop.chart.support import random_series


def grown(series: CandleSeries, factor: float, skip: frozenset[int] = frozenset()) -> CandleSeries:
    """At a tenth of the prices, growing by this factor from start to end; the candles in `skip` are missing."""
    made = CandleSeries(series.interval)
    for index, each in enumerate(series):
        if index not in skip:
            close = each.close / 10.0 * factor ** (index / len(series))
            made.add(Candle(each.open_time_ms, close, close, close, close, 1.0))
    return made


def compare(chart: ChartWidget, other: CandleSeries) -> ComparisonLayer:
    layer = ComparisonLayer()
    layer.shown = Comparison("ETH/USDT", other)
    chart.add_layer(layer)
    settle(chart)
    return layer


def line_columns(chart: ChartWidget) -> set[int]:
    """Where the line's colour is, below the readout."""
    frame = chart.frame
    ink = rgb_of(colour_of(frame.palette))
    rows, columns = np.nonzero(picture(chart)[frame.layout.price_top : frame.layout.plot_bottom] == ink)
    assert rows.size
    return set(columns.tolist())


def readout_of(chart: ChartWidget) -> str:
    return " ".join(span.text for row in chart.overlay.readout.rows for span in row)


@pytest.mark.parametrize("kind", ScaleKind)
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_it_starts_with_the_candles_and_is_whole_in_view(show_chart: ShowChart, kind: ScaleKind, factor: float) -> None:
    own = random_series(400)
    chart = show_chart(own)
    chart.restyle(scale=kind)
    other = grown(own, factor)
    compare(chart, other)
    frame = chart.frame
    first, last = frame.first, frame.stop - 1
    drawn = other.close[first : last + 1] / other.close[first] * own.close[first]
    assert frame.prices.low < drawn.min() and drawn.max() < frame.prices.high
    wanted = (other.close[last] / other.close[first] - 1.0) * 100.0
    assert f"ETH/USDT {wanted:+.2f} %".replace("-", "−") in readout_of(chart)
    ink = rgb_of(colour_of(frame.palette))
    column = picture(chart)[:, frame.x(last - 3)]
    assert abs(int(np.flatnonzero(column == ink).mean()) - frame.y(float(drawn[-4]))) <= 6 * frame.ratio


def test_a_candle_that_it_lacks_breaks_the_line_and_one_by_itself_is_a_dot(show_chart: ShowChart) -> None:
    own = random_series(60)
    chart = show_chart(own)
    compare(chart, grown(own, 1.5, skip=frozenset({30, 31, 33})))
    frame, columns = chart.frame, line_columns(chart)
    assert frame.first <= 20
    assert {frame.x(each) for each in (25, 29, 32, 34, 40)} <= columns
    for left, right in ((29, 32), (32, 34)):
        between = range(frame.x(left) + 4, frame.x(right) - 4)
        assert between and not columns.intersection(between)


def test_zoomed_far_out_it_has_what_each_group_ends_with(show_chart: ShowChart) -> None:
    own = random_series(20_000)
    chart = show_chart(own)
    layer = compare(chart, grown(own, 3.0, skip=frozenset(range(9_000, 11_000))))
    chart.zoom(1e-6)
    settle(chart)
    frame, columns = chart.frame, line_columns(chart)
    assert frame.group > 1 and frame.stop - frame.first == 20_000
    edges = layer.extent(View(frame.first, frame.stop, frame.group), chart.model)
    assert edges is not None and frame.prices.low <= edges[0] and edges[1] <= frame.prices.high
    assert not columns.intersection(range(frame.x(9_000) + 4, frame.x(11_000) - 4))
    assert columns.intersection(range(frame.x(5_000), frame.x(8_000)))


def test_markets_that_share_no_candle_have_no_line_and_the_readout_says_so(show_chart: ShowChart) -> None:
    own = random_series(60)
    late = CandleSeries(own.interval)
    late.add(Candle(own[-1].open_time_ms + 60_000, 1.0, 1.0, 1.0, 1.0, 1.0))
    chart = show_chart(own)
    before = chart.frame.prices
    compare(chart, late)
    assert "ETH/USDT –" in readout_of(chart) and chart.frame.prices.span == pytest.approx(before.span, rel=0.2)


def test_where_it_has_ended_the_readout_says_how_far_it_came_and_until_when(show_chart: ShowChart) -> None:
    own = random_series(60)
    chart = show_chart(own)
    other = grown(own, 1.5, skip=frozenset(range(50, 60)))
    compare(chart, other)
    percent = (other.close[-1] / other.close[chart.frame.first] - 1.0) * 100.0
    clock = format_clock(int(own.open_time_ms[49]), chart.frame.time_zone)
    assert f"ETH/USDT {percent:+.2f} % stored until {clock}".replace("-", "−") in readout_of(chart)
    hover(chart, 45, own[45].close)
    here = (other.close[45] / other.close[chart.frame.first] - 1.0) * 100.0
    assert f"ETH/USDT {here:+.2f} %".replace("-", "−") in readout_of(chart)
    hover(chart, 55, own[55].close)
    assert f"ETH/USDT – stored until {clock}" in readout_of(chart)


def tags(chart: ChartWidget) -> list[str]:
    return [" ".join(span.text for row in box.rows for span in row) for box in chart.overlay.axis_tags]


def test_on_the_axis_of_percents_a_label_beside_the_last_price_says_how_far_it_has_come(show_chart: ShowChart) -> None:
    own = random_series(60)
    chart = show_chart(own)
    other = grown(own, 1.02)
    compare(chart, other)
    assert tags(chart) == [], "on an axis of prices it has no place"
    chart.restyle(scale=ScaleKind.PERCENT)
    settle(chart)
    percent = (other.close[-1] / other.close[chart.frame.first] - 1.0) * 100.0
    assert tags(chart) == [f"{percent:+.2f} %".replace("-", "−")]
    (tag,), last = chart.overlay.axis_tags, chart.overlay.last_price
    assert last is not None and not tag.rect.intersects(last.rect)
    assert chart.frame.layout.price_axis.contains(tag.rect)
    level = chart.frame.y(float(other.close[-1] / other.close[chart.frame.first] * own.close[chart.frame.first]))
    assert abs(tag.rect.center().y() - level) <= 2 * tag.rect.height() + last.rect.height()


@pytest.mark.parametrize("away", [-3.0, 0.0, 3.0])
def test_its_label_is_beside_those_of_alerts(show_chart: ShowChart, away: float) -> None:
    own = random_series(60)
    chart, lines = show_chart(own), PriceLinesLayer()
    other = grown(own, 1.02)
    chart.add_layer(lines)
    compare(chart, other)
    chart.restyle(scale=ScaleKind.PERCENT)
    settle(chart)
    price = float(other.close[-1] / other.close[chart.frame.first] * own.close[chart.frame.first])
    prices = (price + away, price + away + 2.0)
    alerts = [PriceLine(each, LineKind.ALERT, is_armed=True, number=number) for number, each in enumerate(prices)]
    lines.shown = replace(lines.shown, things=tuple(alerts))
    chart.layers_changed()
    settle(chart)
    rects = [tag.rect for tag in chart.overlay.axis_tags]
    assert len(rects) == 3
    assert not any(one.intersects(other) for one, other in combinations(rects, 2))
