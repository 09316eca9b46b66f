"""Intervals typed on the chart: candles equal pandas' resampling, and ghosts keep their own candles."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.spans import TimeSpan
from core.market.feeds.base import MissingCandles
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.chart.controllers.candles import ChartCandles
from desktop.chart.data.model import Moment
from desktop.finder.finder import Finder
from desktop.services.candle_loader import HistoryLoading
from desktop.state.database import WindowDatabase
from tests.desktop.chart.support import START_MS, forecast_after, forming_after, joined, random_series
from tests.desktop.conftest import Bench, MakeBench
from tests.desktop.finder.typing import type_on

MARKET = Market("binance", "BTC/USDT", Interval.parse("1m"))


class Shown:
    """A window over a real database with 300 candles of a minute."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        data = DataFolder(folder / "data")
        data.ensure()
        self.database = WindowDatabase(data)
        self.database.open()
        self.source = random_series(300)
        self.database.candles.save(MARKET, list(self.source))
        self.bench = bench
        self.candles = ChartCandles(
            bench.shell, bench.chart, self.database, HistoryLoading(data.database, bench.window)
        )
        bench.chart.typed.connect(
            Finder(bench.shell, bench.theme, bench.source, bench.market_choice, lambda _venue: ()).open_markets
        )
        self.candles.show_market(MARKET)
        bench.chart.flush()

    @property
    def is_own_interval(self) -> bool:
        return self.bench.chart.model.whole is self.candles.stored

    def type_interval(self, typed: str) -> None:
        """Types on the chart, then Return."""
        type_on(self.bench.chart, typed)
        self.bench.chart.flush()


@pytest.fixture
def shown(make_chart_bench: MakeBench, tmp_path: Path) -> object:
    made = Shown(make_chart_bench(), tmp_path)
    yield made
    made.database.close()


def assert_alike(got: list[Candle], wanted: list[Candle]) -> None:
    """The same candles; volumes are sums, whose last bit depends on the order of addition."""
    assert [replace(each, volume=0.0) for each in got] == [replace(each, volume=0.0) for each in wanted]
    assert [each.volume for each in got] == pytest.approx([each.volume for each in wanted])


def test_typed_minutes_merge_candles_and_zero_resets(shown: Shown) -> None:
    chart = shown.bench.chart
    shown.type_interval("5")
    series = chart.model.series
    assert series is not None and str(series.interval) == "5m"
    wanted = joined(list(shown.source), 5)
    assert_alike(list(series), wanted)
    assert "5m" in chart.model.title and shown.bench.shell.settings.current.chart.interval == "5m"
    shown.type_interval("0")
    assert chart.model.series is shown.candles.stored


def test_ghosts_are_merged_at_another_interval_if_they_cover_a_candle(shown: Shown) -> None:
    chart = shown.bench.chart
    shown.bench.chart.set_forecast(forecast_after(shown.source))
    chart.flush()
    assert chart.model.ghosts() and chart.model.other_interval is None
    shown.type_interval("15")
    assert chart.model.ghosts() == () and str(chart.model.other_interval) == "1m"
    shown.bench.chart.set_forecast(forecast_after(shown.source))
    assert chart.model.ghosts() == ()
    shown.type_interval("0")
    assert chart.model.ghosts() and chart.model.other_interval is None


@pytest.mark.parametrize(("closed", "places"), [(200, [0]), (202, [0, 1]), (204, [0, 1])])
def test_at_a_past_moment_a_ghost_continues_the_candle_that_was_open(
    shown: Shown, closed: int, places: list[int]
) -> None:
    chart = shown.bench.chart
    then = CandleSeries.from_columns(
        shown.source.interval, shown.source.open_time_ms[:closed], shown.source.values[:, :closed]
    )
    made = forecast_after(then)
    chart.show_moment(Moment(made.inputs_until_ms, made))
    shown.type_interval("5")
    model = chart.model
    assert [placed.index - model.count for placed in model.ghosts()] == places, "eight minutes reach no further"
    begun = list(then)[closed // 5 * 5 :]
    first = model.ghosts()[0].ghost
    parts = [*begun, *made.ghosts[: 5 - len(begun)]]
    assert (first.open, first.close) == (parts[0].open, parts[-1].close)
    assert (first.high, first.low) == (max(each.high for each in parts), min(each.low for each in parts))


def test_ticks_and_closed_candles_reach_the_coarse_chart(shown: Shown) -> None:
    chart, source = shown.bench.chart, shown.source
    shown.type_interval("5")
    forming = forming_after(source, move=50.0)
    shown.candles.set_forming(forming)
    chart.flush()
    assert chart.model.forming is not None
    assert_alike([chart.model.forming], joined([*source, forming], 5)[-1:])
    closed = [forming]
    for _ in range(7):
        source.add(closed[-1])
        closed.append(forming_after(source, move=5.0))
    source.add(closed[-1])
    shown.candles.add(closed)
    chart.flush()
    series = chart.model.series
    assert series is not None
    newest = chart.model.forming
    assert_alike([*series, *([] if newest is None else [newest])], joined(list(source), 5))


def test_unmergeable_intervals_are_not_offered(shown: Shown, make_chart_bench: MakeBench) -> None:
    actions = shown.bench.shell.actions
    assert all(actions[id_].isEnabled() for id_ in (ActionId.INTERVAL_1M, ActionId.INTERVAL_5M, ActionId.INTERVAL_1D))
    assert actions[ActionId.INTERVAL_MARKET].isChecked()
    shown.candles.show_market(Market("binance", "BTC/USDT", Interval.parse("1h")))
    assert not actions[ActionId.INTERVAL_5M].isEnabled() and actions[ActionId.INTERVAL_4H].isEnabled()


def test_an_interval_impossible_for_the_next_market_is_not_applied(shown: Shown) -> None:
    shown.type_interval("5")
    shown.candles.show_market(Market("binance", "BTC/USDT", Interval.parse("1h")))
    series = shown.bench.chart.model.series
    assert series is not None and str(series.interval) == "1h" and shown.is_own_interval
    shown.candles.show_market(MARKET)
    assert not shown.is_own_interval


def test_the_viewed_candles_stay_in_view(shown: Shown, qtbot: QtBot) -> None:
    chart = shown.bench.chart
    chart.go_to_time(START_MS + 60 * 60_000)
    chart.flush()
    assert not chart.scale.is_newest_in_view
    for typed in ("5", "0"):
        shown.type_interval(typed)
        series, frame = chart.model.series, chart.frame
        assert series is not None
        index = series.index_at(START_MS + 60 * 60_000)
        assert index is not None and frame.left <= index <= frame.right


def test_the_keys_crosshair_stays_at_its_time_at_another_interval(shown: Shown) -> None:
    chart, control = shown.bench.chart, Qt.KeyboardModifier.ControlModifier
    chart.zoom(3.0)
    for _ in range(13):
        QTest.keyClick(chart, Qt.Key.Key_Left, control | Qt.KeyboardModifier.ShiftModifier)
    chart.flush()
    at_first = chart.key_mark
    assert at_first is not None and at_first.time_ms < START_MS + 200 * 60_000
    for minutes in (15, 5, 60, 1):
        shown.type_interval(str(minutes))
        mark, cross = chart.key_mark, chart.overlay.cross
        assert mark is not None and cross is not None, "in view"
        assert mark.time_ms == at_first.time_ms - at_first.time_ms % (minutes * 60_000)
        assert chart.model.time_at(chart.frame.index_at(cross.x())) == mark.time_ms
    assert chart.key_mark == at_first
    shown.candles.show_market(Market("binance", "ETH/USDT", MARKET.interval))
    assert chart.key_mark is None, "another market has another past"


def test_digits_in_a_field_are_digits(make_bench: MakeBench, tmp_path: Path) -> None:
    """In the complete window."""
    shown = Shown(make_bench(), tmp_path)
    field = shown.bench.window.inputs.learning_rate
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "2")
    assert shown.is_own_interval
    shown.database.close()


def test_holes_of_the_exchange_are_known_from_the_table_and_from_the_feed(
    make_chart_bench: MakeBench, tmp_path: Path
) -> None:
    data = DataFolder(tmp_path / "data")
    data.ensure()
    database, bench = WindowDatabase(data), make_chart_bench()
    database.open()
    source = list(random_series(300, skip=frozenset({*range(100, 104), 200, 201})))
    database.candles.save(MARKET, source)
    step_ms = MARKET.interval.duration_ms
    first, second = (source[place].open_time_ms + step_ms for place in (99, 195))
    database.holes.add_of_exchange(MARKET, [TimeSpan(first, first + 4 * step_ms)], START_MS)
    candles = ChartCandles(bench.shell, bench.chart, database, HistoryLoading(data.database, bench.window))
    candles.show_market(MARKET)
    model = bench.chart.model
    assert [model.absent_before(index) for index in (100, 196)] == [4, 0]
    paints = bench.chart.closed_paints
    candles.add_hole(MissingCandles(second, 2))
    assert [model.absent_before(index) for index in (100, 196)] == [4, 2]
    bench.chart.grab()
    assert bench.chart.closed_paints > paints, "the mark has changed"
    candles.show_market(replace(MARKET, venue="file"))
    assert model.holes is None
    database.close()


def test_gaps_found_by_a_command_are_loaded_with_the_history(
    make_chart_bench: MakeBench, tmp_path: Path, qtbot: QtBot
) -> None:
    data = DataFolder(tmp_path / "data")
    data.ensure()
    database, bench = WindowDatabase(data), make_chart_bench()
    database.open()
    source = list(random_series(50, skip=frozenset({20})))
    database.candles.save(MARKET, source)
    history = HistoryLoading(data.database, bench.window)
    candles = ChartCandles(bench.shell, bench.chart, database, history)
    candles.show_market(MARKET)
    hole_ms = source[19].open_time_ms + MARKET.interval.duration_ms
    database.holes.add_of_exchange(MARKET, [TimeSpan(hole_ms, hole_ms + MARKET.interval.duration_ms)], START_MS)
    with qtbot.waitSignal(history.loaded):
        candles.reload(MARKET)
    assert bench.chart.model.absent_before(20) == 1
    assert history.wait()
    database.close()
