"""The pixels and texts of indicators on the chart."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.indicators.registry import INDICATORS, Place
from core.indicators.series import IndicatorSeries
from core.indicators.shown import Look
from core.indicators.spec import IndicatorSpec
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.painting.text import box_size, padding_px
from desktop.chart.panes.frame import PRICE_PANE
from desktop.chart.panes.layer import View
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of, screen
from tests.desktop.chart.support import MINUTE_MS, START_MS, candle, forming_after, random_series

OVER_THE_CANDLES = {"sma", "ema", "bollinger", "vwap"}


def text_of(layer: IndicatorLayer, chart: ChartWidget, index: int | None) -> list[str]:
    return [span.text.strip() for row in layer.rows(chart.frame, chart.model, index) for span in row]


def has_ink(chart: ChartWidget, x: int, y: int) -> bool:
    """Whether anything besides background and grid is at a pixel or beside it."""
    frame = chart.frame
    plain = {rgb_of(colour) for colour in (frame.palette.background, frame.palette.grid)}
    around = picture(chart)[y - 1 : y + 2, x]
    return any(int(pixel) not in plain for pixel in around)


@pytest.mark.parametrize("kind", list(INDICATORS))
def test_each_kind_is_drawn_where_it_belongs_and_goes_without_a_trace(show_chart: ShowChart, kind: str) -> None:
    series = random_series(400)
    chart = show_chart(series, has_forming=True)
    before, plot = picture(chart), chart.frame.layout.plot
    layer = IndicatorLayer(IndicatorSpec.of(kind), 0)
    chart.add_layer(layer)
    settle(chart)
    assert [pane.name for pane in chart.frame.panes] == (
        [] if INDICATORS[kind].place is Place.PRICE_PANE else [layer.pane]
    )
    pane = chart.frame.pane(layer.pane)
    values = IndicatorSeries(layer.spec, series).values
    for index in range(chart.frame.stop - 20, chart.frame.stop):
        row = pane.y(values[0, index])
        if pane.inner_top <= row < pane.inner_bottom:
            assert has_ink(chart, chart.frame.x(index), row)
    chart.remove_layer(layer)
    settle(chart)
    if chart.frame.layout.plot != plot:  # the axis keeps the width of longer labels, so that the chart does not jump
        before = picture(chart)
        chart.add_layer(layer)
        settle(chart)
        chart.remove_layer(layer)
        settle(chart)
    assert np.array_equal(picture(chart), before)


def test_the_readout_tells_the_values_of_the_candle_under_the_mouse(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    layer = IndicatorLayer(IndicatorSpec.of("sma", period=5), 0)
    chart.add_layer(layer)
    settle(chart)
    wanted = np.mean([series[index].close for index in range(246, 251)])
    assert text_of(layer, chart, 250) == ["SMA 5", f"{wanted:,.2f}"]
    assert text_of(layer, chart, 2)[1] == "–"
    assert text_of(layer, chart, 5_000) == []


def test_the_forming_candle_counts_in_the_newest_value(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    layer = IndicatorLayer(IndicatorSpec.of("sma", period=2), 0)
    chart.add_layer(layer)
    forming = forming_after(series, move=10.0)
    chart.set_forming(forming)
    settle(chart)
    assert text_of(layer, chart, None)[1] == f"{(series[-1].close + forming.close) / 2:,.2f}"


def test_a_tick_paints_no_closed_candle_with_indicators(show_chart: ShowChart) -> None:
    series = random_series(500)
    chart = show_chart(series)
    for number, kind in enumerate(INDICATORS):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    chart.set_forming(forming_after(series))
    settle(chart)
    before = chart.closed_paints
    for step in range(10):
        chart.set_forming(forming_after(series, move=0.1 * step))
        settle(chart)
    assert chart.closed_paints == before


def test_candles_that_come_late_or_are_corrected_reach_the_indicator(show_chart: ShowChart) -> None:
    series = random_series(300, skip=frozenset({290}))
    chart = show_chart(series)
    layer = IndicatorLayer(IndicatorSpec.of("ema"), 0)
    chart.add_layer(layer)
    settle(chart)
    series.add(candle(290, 25_000.0))
    chart.refresh()
    settle(chart)
    fresh = IndicatorSeries(layer.spec, series).values[0, -1]
    assert text_of(layer, chart, len(series) - 1)[1] == f"{fresh:,.2f}"


def test_another_series_is_followed(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    layer = IndicatorLayer(IndicatorSpec.of("sma"), 0)
    chart.add_layer(layer)
    settle(chart)
    other = random_series(100, seed=3)
    chart.set_series(other, "another")
    settle(chart)
    wanted = np.mean([other[index].close for index in range(80, 100)])
    assert text_of(layer, chart, 99)[1] == f"{wanted:,.2f}"
    chart.set_series(CandleSeries(Interval.parse("1m")))
    settle(chart)


def test_an_indicator_far_away_does_not_make_the_candles_small(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    before = chart.frame.prices.span
    far = IndicatorLayer(IndicatorSpec.of("vwap"), 0)
    for index in range(300, 340):
        series.add(candle(index, 60_000.0 + index))
    chart.refresh()
    settle(chart)
    candles_alone = chart.frame.prices.span
    chart.add_layer(far)
    settle(chart)
    assert before > 0 and chart.frame.prices.span <= candles_alone * 1.9
    assert far.pane == PRICE_PANE


def test_a_new_pane_has_the_markets_decimals_in_its_first_picture(show_chart: ShowChart) -> None:
    series = CandleSeries(Interval.parse("1m"))
    for index in range(60):
        series.add(candle(index, 0.5 + index % 7 / 10_000, reach=0.0003))
    chart = show_chart(series)
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("atr"), 0))
    assert [pane.decimals for pane in chart.frame.panes] == [chart.model.decimals()] == [4]


def test_indicators_over_the_candles_share_a_row_of_the_readout(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(400), width=1200)
    alone = len(chart.overlay.readout.rows)
    for number, kind in enumerate(OVER_THE_CANDLES):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    settle(chart)
    assert len(chart.overlay.readout.rows) == alone + 1
    said = " ".join(span.text for span in chart.overlay.readout.rows[-1])
    assert all(word in said for word in ("SMA", "EMA", "VWAP", "BB"))


@pytest.mark.parametrize("width", [300, 420, 640, 1200])
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_readout_leaves_candles_and_forecast_label_alone(
    show_chart: ShowChart, width: int, is_held: bool, count: int
) -> None:
    series = random_series(400)
    chart = show_chart(series, width=width, height=900)
    for number, kind in enumerate(sorted(OVER_THE_CANDLES)[:count]):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    chart.add_layer(HindsightLayer())
    if is_held:
        chart.hold_prices(chart.frame.prices)
    for move in (0.0, 40.0, -200.0):
        chart.set_forming(forming_after(series, move))
        settle(chart)
        frame, readout = chart.frame, chart.overlay.readout
        label_px = box_size(readout.rows[:1], frame.fonts).height()
        assert readout.rect.bottom() - padding_px(frame.fonts) < frame.layout.price_top - label_px
        assert readout.rect.right() < frame.layout.plot_right


def test_words_of_a_pane_wrap_and_end_where_it_ends(show_chart: ShowChart) -> None:
    series = random_series(400)
    chart = show_chart(series, width=260, height=400)
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("macd"), 0))
    settle(chart)
    with_words = picture(chart)
    box = chart.overlay.pane_readouts[0]
    assert len(box.rows) > 1 and box_size(box.rows, chart.frame.fonts).width() <= box.rect.width()
    for move in (2.0, -30.0, 45.0):
        chart.set_forming(forming_after(series, move))
        settle(chart)
        assert np.array_equal(screen(chart), picture(chart))
    beyond = slice(box.rect.right() + 2, None)
    rows = slice(box.rect.top(), box.rect.bottom() + 1)
    colours = [rgb_of(colour) for colour in chart.frame.palette.indicators]
    assert not np.isin(with_words[rows, beyond], colours).any()


LONG = 150_000


def long_series(count: int = LONG) -> CandleSeries:
    """A random walk of this many minutes."""
    random = np.random.default_rng(2)
    close = 20_000 + np.cumsum(random.normal(0, 4, count))
    opened = np.concatenate((close[:1], close[:-1]))
    high, low = np.maximum(opened, close) + 0.5, np.minimum(opened, close) - 0.5
    times = START_MS + np.arange(count, dtype=np.int64) * MINUTE_MS
    values = np.stack((opened, high, low, close, random.uniform(1, 300, count)))
    return CandleSeries.from_columns(Interval.parse("1m"), times, values)


def missing_of(layers: list[IndicatorLayer], chart: ChartWidget) -> bool:
    """Until the chart has been notified of the last of them."""
    return chart._idle_work._making is not None or any(layer.is_waiting(chart.model) for layer in layers)


def test_a_long_history_is_worked_out_between_frames_and_then_shown_as_ever(
    qtbot: QtBot, show_chart: ShowChart
) -> None:
    series = long_series()
    chart = show_chart(series)
    settle(chart)
    bare = picture(chart)
    layers = [IndicatorLayer(IndicatorSpec.of(kind), number) for number, kind in enumerate(OVER_THE_CANDLES)]
    for layer in layers:
        chart.add_layer(layer)
    chart.flush()
    assert missing_of(layers, chart), "the frame did not wait for it"
    assert all(text_of(layer, chart, 5)[1] == "computing…" for layer in layers)
    assert all(layer.extent(View(0, LONG, 1), chart.model) is None for layer in layers)
    qtbot.waitUntil(lambda: not missing_of(layers, chart))
    chart.refresh()  # its own check runs some milliseconds after the values
    settle(chart)
    for layer in layers:
        wanted = IndicatorSeries(layer.spec, series).values[0, LONG - 5]
        assert text_of(layer, chart, LONG - 5)[1] == f"{wanted:,.2f}"
    whole = picture(chart)
    assert not np.array_equal(whole, bare)

    at_once = show_chart(series)
    for layer in layers:
        chart.remove_layer(layer)
    settle(chart)
    for layer in layers:
        at_once.add_layer(layer)  # its values are computed already
    settle(at_once)
    assert np.array_equal(picture(at_once), whole)


def test_candles_that_come_while_it_is_worked_out_count(qtbot: QtBot, show_chart: ShowChart) -> None:
    series = long_series()
    chart = show_chart(series)
    layer = IndicatorLayer(IndicatorSpec.of("ema"), 0)
    chart.add_layer(layer)
    make = layer.begin(chart.model)
    assert make is not None and layer.begin(chart.model) is None
    series.add(candle(10, 25_000.0))
    series.add(candle(LONG, 21_000.0))
    chart.flush()
    assert text_of(layer, chart, None)[1] == "computing…"
    make()
    chart.refresh()
    qtbot.waitUntil(lambda: not layer.is_waiting(chart.model))
    settle(chart)
    wanted = IndicatorSeries(layer.spec, series).values[0, -1]
    assert text_of(layer, chart, LONG)[1] == f"{wanted:,.2f}"


def test_the_history_that_takes_the_newest_candles_place_is_followed(qtbot: QtBot, show_chart: ShowChart) -> None:
    whole = long_series()
    newest = CandleSeries.from_columns(whole.interval, whole.open_time_ms[-2_000:], whole.values[:, -2_000:])
    chart = show_chart(newest)
    layer = IndicatorLayer(IndicatorSpec.of("rsi"), 0)
    chart.add_layer(layer)
    settle(chart)
    assert text_of(layer, chart, None)[1] != "computing…"
    chart.replace_series(whole)
    chart.flush()
    assert text_of(layer, chart, None)[1] == "computing…"
    qtbot.waitUntil(lambda: not layer.is_waiting(chart.model))
    assert text_of(layer, chart, None)[1] == f"{IndicatorSeries(layer.spec, whole).values[0, -1]:,.2f}"


def test_a_wider_line_paints_more_and_in_its_colour(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(400))
    painted = []
    for width_px in (1.0, 4.0):
        layer = IndicatorLayer(IndicatorSpec.of("sma"), 0, look=Look((("average", "#9657e0"),), width_px))
        chart.add_layer(layer)
        settle(chart)
        painted.append(int((picture(chart) == 0x9657E0).sum()))
        chart.remove_layer(layer)
    assert 100 < 2 * painted[0] < painted[1]
