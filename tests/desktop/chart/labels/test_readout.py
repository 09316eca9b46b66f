"""The chart's text about candles, ghosts and outcomes."""

from zoneinfo import ZoneInfo

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import ManualClock
from core.domain.events import ForecastMode
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from core.market.known_holes import KnownHoles
from core.settings.window import AppearanceSettings
from desktop.chart.data.past_forecasts import PastForecast
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.labels.last_price import Countdown
from desktop.chart.labels.past import past_rows
from desktop.chart.painting.text import box_size
from desktop.chart.widget import ChartWidget
from desktop.ui import formatting
from desktop.ui.interface_size import set_font
from tests.desktop import scenario
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import hover, hover_at
from tests.desktop.chart.support import (
    MINUTE_MS,
    START_MS,
    candle,
    forecast_after,
    forming_after,
    outcome_of,
    random_series,
    texts,
)

OVER_THE_CANDLES = ("sma", "ema", "bollinger", "vwap")


def readout(chart: ChartWidget) -> str:
    return texts(chart.overlay.readout.rows)


def test_without_a_cursor_the_newest_candle_is_read_out(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    assert formatting.format_price(series[-1].high, 2) in readout(chart)
    chart.set_forming(forming_after(series, 3.0))
    settle(chart)
    assert formatting.format_price(series[-1].close + 3.0, 2) in readout(chart)
    assert "BTC/USDT · 1m · test" in readout(chart)


def test_the_candle_under_the_cursor_is_read_out(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    hover(chart, 70, series[70].close)
    shown, change = readout(chart), series[70].close - series[69].close
    for price in (series[70].open, series[70].high, series[70].low, series[70].close):
        assert formatting.format_price(price, 2) in shown
    assert formatting.format_volume(series[70].volume) in shown
    assert formatting.format_price(change, 2, signed=True) in shown
    assert formatting.format_percent(change / series[69].close, signed=True) in shown


def test_the_first_candle_has_changed_since_its_open(show_chart: ShowChart) -> None:
    series = CandleSeries(Interval.parse("1m"))
    for index in range(20):
        series.add(candle(index, 110.0, opened=100.0, reach=5.0))
    chart = show_chart(series)
    hover(chart, 0, 105.0)
    assert "+10.00" in readout(chart)
    hover(chart, 1, 105.0)
    assert "+10.00" not in readout(chart)


@pytest.mark.parametrize("width", [240, 420, 900, 1_400])
@pytest.mark.parametrize("has_indicators", [False, True])
def test_the_readout_dodges_the_cursor_and_hides_no_candle(
    show_chart: ShowChart, width: int, has_indicators: bool
) -> None:
    chart = show_chart(random_series(400), width=width, height=700)
    for number, kind in enumerate(OVER_THE_CANDLES if has_indicators else ()):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    settle(chart)
    at_rest = chart.overlay.readout.rect
    for x in range(0, chart.frame.layout.plot_right, max(20, width // 20)):
        for y in (at_rest.top(), at_rest.center().y(), at_rest.bottom() + 4):
            hover_at(chart, QPoint(x, y))
            overlay, shown = chart.overlay, chart.overlay.readout.rect
            assert overlay.cross is not None and not shown.contains(QPoint(x, y))
            assert shown.bottom() < chart.frame.layout.price_top
            assert chart.frame.price_pane.rect.contains(shown) or (width < 900 and not overlay.readout.rows)
    hover_at(chart, QPoint(width // 2, 500))
    assert chart.overlay.readout.rect.topLeft() == at_rest.topLeft()


def test_the_readout_goes_to_the_other_top_corner_with_all_it_says(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(400), width=1_400)
    at_rest = chart.overlay.readout.rect
    hover_at(chart, QPoint(60, 20))
    frame, there = chart.frame, chart.overlay.readout
    assert there.rect.top() == at_rest.top() and frame.layout.plot_right - there.rect.right() < 10
    assert all(name in texts(there.rows) for name in ("BTC/USDT", "O ", "H ", "L ", "C ", "V ", "Range"))


@pytest.mark.parametrize("size", [(480, 320), (300, 200), (240, 160), (100, 60), (30, 30), (1, 1)])
def test_a_small_chart_reads_out_less_and_keeps_its_candles(show_chart: ShowChart, size: tuple[int, int]) -> None:
    series = random_series(400)
    chart = show_chart(series)
    for number, kind in enumerate(INDICATORS):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    chart.set_forecast(forecast_after(series))
    chart.resize(*size)
    settle(chart)
    for index in (None, 380, 402):
        if index is not None:
            hover_at(chart, QPoint(round(chart.frame.x(index)), chart.frame.layout.price_bottom - 3))
        frame, box = chart.frame, chart.overlay.readout
        assert box.rect.isEmpty() or frame.price_pane.rect.contains(box.rect)
        assert box.rect.bottom() <= frame.layout.price_bottom // 2
        assert not box.rows or box.rect.height() == box_size(box.rows, frame.fonts).height()


def test_what_a_small_chart_leaves_out_is_marked_and_the_close_stays(show_chart: ShowChart) -> None:
    series = random_series(400)
    chart = show_chart(series, width=300, height=200)
    assert formatting.format_price(series[-1].close, 2) in readout(chart)
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("rsi"), 0))
    for number, kind in enumerate(OVER_THE_CANDLES):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    chart.resize(300, 240)
    settle(chart)
    assert "…" in readout(chart) and "VWAP" not in readout(chart)
    assert formatting.format_price(series[-1].close, 2) in readout(chart)
    chart.resize(1_200, 900)
    settle(chart)
    assert "…" not in readout(chart) and "VWAP" in readout(chart)


def test_a_ghost_is_read_out_with_its_bands(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    forecast = forecast_after(series)
    chart.set_forecast(forecast)
    settle(chart)
    ghost = forecast.ghosts[3]
    hover(chart, 103, ghost.close)
    shown = readout(chart)
    assert "Forecast +4" in shown
    for price in (ghost.open, ghost.high, ghost.close, *(ghost.close_quantiles[i] for i in (0, 2, 4, 6))):
        assert formatting.format_price(price, 2) in shown


def test_the_forming_candle_and_its_ghost_are_both_read_out(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    forecast, forming = forecast_after(series), forming_after(series)
    chart.set_forecast(forecast)
    chart.set_forming(forming)
    settle(chart)
    hover(chart, 100, forming.close)
    assert "Forecast +1" in readout(chart)
    assert formatting.format_price(forming.close, 2) in readout(chart)
    assert formatting.format_price(forecast.ghosts[0].close, 2) in readout(chart)


def test_a_candle_after_a_gap_says_what_is_missing(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100, skip=frozenset({80, 81, 82})))
    hover(chart, 80, chart.frame.price_pane.value_at(300))
    assert "3 candles" in readout(chart)
    hover(chart, 79, chart.frame.price_pane.value_at(300))
    assert "missing" not in readout(chart)


def test_candles_the_exchange_lacks_differ_from_candles_not_stored_yet(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100, skip=frozenset({80, 81, 82})))
    first_ms = int(chart.model.time_at(79) or 0) + MINUTE_MS
    hover(chart, 80, chart.frame.price_pane.value_at(300))
    assert "not stored" not in readout(chart), "nobody can be asked"
    for absent, said in (
        (0, ": not stored yet"),
        (1, "has none of 1, the others are not"),
        (3, ": the exchange has none"),
    ):
        chart.set_holes(KnownHoles(np.array([[first_ms, first_ms + absent * MINUTE_MS]])[:absent]))
        settle(chart)
        assert said in " ".join(readout(chart).split())


def test_a_past_candle_tells_its_forecast_and_how_it_came_out(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    outcome = outcome_of(series[80])
    chart.model.past.add(outcome)
    hover(chart, 80, series[80].close)
    assert chart.overlay.tooltip is not None
    text = texts(chart.overlay.tooltip.rows)
    assert formatting.format_price(outcome.ghost.close, 2) in text
    assert formatting.format_price(series[80].close, 2) in text
    assert f"{formatting.MINUS}0.100 %" in text
    assert "50 % band outside" in text and "90 % band inside" in text and "Direction hit" in text


def test_the_tooltip_is_only_for_the_candle_itself(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    chart.model.past.add(outcome_of(series[80]))
    chart.model.past.add(outcome_of(series[82], horizon=3, origin_open_time_ms=series[79].open_time_ms))
    for index, price in ((79, series[79].close), (82, series[82].close), (80, chart.frame.prices.low)):
        hover(chart, index, price)
        assert chart.overlay.tooltip is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"direction_hit": None}, "not counted"),
        ({"direction_hit": False}, "missed"),
        ({"mode": ForecastMode.REPLAY}, "replay"),
        ({"mode": ForecastMode.SIMULATED}, "simulated"),
        ({"after_gap": True}, "missing before it"),
    ],
)
def test_outcomes_are_shown_correctly(show_chart: ShowChart, changes: dict[str, object], words: str) -> None:
    series = random_series(100)
    chart = show_chart(series)
    chart.model.past.add(outcome_of(series[80], **changes))
    hover(chart, 80, series[80].close)
    assert chart.overlay.tooltip is not None
    text = texts(chart.overlay.tooltip.rows)
    assert words in text and "nan" not in text


def test_a_past_candle_tells_which_checkpoint_made_its_forecast(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    past, made_at_ms = chart.model.past, series[79].open_time_ms + 61_000
    made = {"checkpoint_id": "20201201-120000-abcd-00001230-c0ffee", "step": 1_234, "made_at_ms": made_at_ms}
    past.add(outcome_of(series[80], **made))
    past.add(outcome_of(series[81]))
    hover(chart, 80, series[80].close)
    assert chart.overlay.tooltip is not None
    text = texts(chart.overlay.tooltip.rows)
    assert "1 candle earlier" in text and "After step 1,234" in text and "Last checkpoint then step 1,230" in text
    assert f"live, {formatting.format_time(made_at_ms, seconds=True)}" in text
    hover(chart, 81, series[81].close)
    assert chart.overlay.tooltip is not None
    text = texts(chart.overlay.tooltip.rows)
    assert f"After step {formatting.MISSING}" in text and f"Last checkpoint then {formatting.MISSING}" in text


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (scenario.checkpoint(1_230, checkpoint_id="20201201-120000-abcd-00001230-c0ffee"), None),
        (scenario.checkpoint(1_200), "Nearest checkpoint kept step 1,200"),
        (None, None),
    ],
)
def test_where_that_checkpoint_was_deleted_the_nearest_that_is_kept_is_named(
    show_chart: ShowChart, kept: CheckpointInfo | None, said: str | None
) -> None:
    frame = show_chart(random_series(100)).frame
    forecast = PastForecast(
        1, 0, ForecastMode.LIVE, 1, 1_234, "20201201-120000-abcd-00001230-c0ffee", 100.0, actual_close=100.0,
        inside_50=True, inside_90=True, direction_hit=True, after_gap=False,
    )  # fmt: skip
    text = texts(tuple(past_rows(forecast, frame, kept=kept)))
    assert "Last checkpoint then step 1,230" in text
    assert ("Nearest checkpoint" in text) == (said is not None) and (said is None or said in text)


def test_the_tooltip_follows_the_horizon(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    third = outcome_of(series[80], horizon=3, origin_open_time_ms=series[77].open_time_ms, inside_90=False)
    chart.model.past.add(third)
    chart.model.past.set_horizon(3)
    hover(chart, 80, series[80].close)
    assert chart.overlay.tooltip is not None
    text = texts(chart.overlay.tooltip.rows)
    assert "3 candles earlier" in text and "90 % band outside" in text


def test_tooltips_stay_inside_the_plot(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series, width=500, height=320)
    first, stop = chart.frame.first, chart.frame.stop
    for index in range(first, stop):
        chart.model.past.add(outcome_of(series[index]))
    for index in range(first + 1, stop):
        hover(chart, index, series[index].close)
        assert chart.overlay.tooltip is not None
        assert chart.frame.layout.plot.contains(chart.overlay.tooltip.rect)


def test_crosshair_labels_say_price_and_time(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    hover(chart, 90, series[90].close)
    overlay = chart.overlay
    assert overlay.price_label is not None and overlay.time_label is not None and overlay.cross is not None
    price = float(texts(overlay.price_label.rows).replace(",", ""))
    assert price == pytest.approx(series[90].close, abs=chart.frame.prices.span / 100)
    assert formatting.format_time(series[90].open_time_ms, weekday=True) in texts(overlay.time_label.rows)
    assert overlay.cross.x() == chart.frame.x(90)


def test_the_future_has_times_too(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    hover(chart, 104, series[-1].close)
    assert chart.overlay.time_label is not None
    expected = formatting.format_time(series[-1].open_time_ms + 5 * MINUTE_MS, weekday=True)
    assert expected in texts(chart.overlay.time_label.rows)


def test_no_crosshair_beside_the_plot(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100))
    QTest.mouseMove(chart.viewport(), QPoint(chart.width() - 5, 100))
    settle(chart)
    assert chart.overlay.cross is None and chart.overlay.price_label is None


def test_the_countdown_runs_only_while_live(show_chart: ShowChart, clock: ManualClock) -> None:
    series = random_series(100)
    chart = show_chart(series, has_forming=True)
    assert chart.overlay.last_price is not None and len(chart.overlay.last_price.rows) == 1
    clock.advance_ms(100 * MINUTE_MS + 15_000)
    chart.set_live(True)
    settle(chart)
    assert chart.overlay.last_price is not None
    assert texts(chart.overlay.last_price.rows[1:]) == "00:45 "
    chart.set_live(False)
    settle(chart)
    assert chart.overlay.last_price is not None and len(chart.overlay.last_price.rows) == 1


def test_a_candle_of_long_ago_has_no_countdown(show_chart: ShowChart, clock: ManualClock) -> None:
    """A synthetic market, or one whose price never changed."""
    series = random_series(100)
    chart = show_chart(series)
    chart.set_live(True)
    clock.advance_ms(104 * MINUTE_MS)
    chart.set_forming(forming_after(series))
    settle(chart)
    assert chart.overlay.last_price is not None and len(chart.overlay.last_price.rows) == 1


def test_the_countdown_ticks_without_new_prices(show_chart: ShowChart, clock: ManualClock) -> None:
    series = random_series(100)
    chart = show_chart(series, has_forming=True)
    clock.advance_ms(100 * MINUTE_MS + 900)
    chart.set_live(True)
    settle(chart)
    clock.advance_ms(2_000)
    countdown = chart.findChild(Countdown)
    assert countdown is not None and countdown._timer.isActive()
    countdown._timer.timeout.emit()
    settle(chart)
    assert chart.overlay.last_price is not None
    assert texts(chart.overlay.last_price.rows[1:]) == "00:58 "


def test_the_last_price_is_labelled_unless_out_of_view(show_chart: ShowChart) -> None:
    series = random_series(3_000)
    chart = show_chart(series)
    assert chart.overlay.last_price is not None
    assert formatting.format_price(series[-1].close, 2) in texts(chart.overlay.last_price.rows)
    chart.go_to_oldest()
    settle(chart)
    is_in_view = chart.frame.prices.low <= series[-1].close <= chart.frame.prices.high
    assert (chart.overlay.last_price is not None) == is_in_view


def test_times_follow_the_chosen_zone(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series)
    chart.restyle(time_zone=ZoneInfo("Asia/Kolkata"))
    settle(chart)
    hover(chart, 90, series[90].close)
    assert chart.overlay.time_label is not None
    assert formatting.format_time(START_MS + 90 * MINUTE_MS, ZoneInfo("Asia/Kolkata"), weekday=True) in texts(
        chart.overlay.time_label.rows
    )


@pytest.mark.parametrize("height", [300, 400, 700])
def test_keys_read_the_close_to_the_last_digit(show_chart: ShowChart, height: int) -> None:
    series = random_series(200)
    chart = show_chart(series, height=height)
    forecast, forming = forecast_after(series), forming_after(series, 1.23)
    chart.set_forecast(forecast)
    chart.set_forming(forming)
    settle(chart)
    closes = [forecast.ghosts[1].close, forming.close, *(series[index].close for index in range(199, 180, -1))]
    QTest.keyClick(chart, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(chart, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    for close in closes:
        settle(chart)
        label = chart.overlay.price_label
        assert label is not None and texts(label.rows).strip() == formatting.format_price(close, 2)
        QTest.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("size", [(900, 410), (900, 300), (670, 250), (450, 410)])
def test_the_prices_of_the_candle_outlast_the_title(
    qapp: QApplication, show_chart: ShowChart, size: tuple[int, int], percent: int
) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    chart = show_chart(random_series(100), *size)
    for name in ("RSI", "MACD"):
        chart.add_pane(name)
    settle(chart)
    said = texts(chart.overlay.readout.rows)
    newest = chart.model.newest
    assert newest is not None
    prices = (newest.open, newest.high, newest.low, newest.close)
    assert all(formatting.format_price(each, chart.model.decimals()) in said for each in prices), said
