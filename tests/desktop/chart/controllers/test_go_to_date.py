""" "Go to date" by its dialog, in the chart's time zone."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from PySide6.QtCore import QDate, QDateTime, QTime
from PySide6.QtWidgets import QDialogButtonBox

from core.domain.candle_series import CandleSeries
from desktop.actions import ActionId
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.dialogs.date import DateDialog
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench()
    fill(made)
    return made


def opened(bench: Bench, zone: tzinfo) -> DateDialog:
    appearance = ChartAppearance(bench.shell, bench.chart)
    bench.chart.restyle(time_zone=zone)
    dialog = appearance.open_date()
    assert dialog is not None
    return dialog


def moment(time_ms: int, zone: str) -> QDateTime:
    wall = datetime.fromtimestamp(time_ms / 1000, ZoneInfo(zone))
    return QDateTime(QDate(wall.year, wall.month, wall.day), QTime(wall.hour, wall.minute))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_the_chart_goes_to_the_candle_of_that_moment(bench: Bench, zone: str) -> None:
    series = bench.chart.model.series
    assert series is not None
    wanted = 40
    dialog = opened(bench, ZoneInfo(zone))
    dialog.edit.setDateTime(moment(series[wanted].open_time_ms, zone))
    dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    bench.chart.flush()
    scale = bench.chart.scale
    assert (scale.left + scale.right) / 2 == pytest.approx(wanted, abs=1.0) or scale.left < 1
    assert scale.left <= wanted <= scale.right
    assert dialog.time_ms() == series[wanted].open_time_ms


def test_a_date_after_the_last_candle_is_refused_in_the_dialog(bench: Bench) -> None:
    before = bench.chart.scale.right
    dialog = opened(bench, UTC)
    dialog.edit.setDateTime(QDateTime(QDate(2090, 1, 1), QTime(0, 0)))
    dialog.accept()
    assert dialog.isVisible() and dialog.message.text().startswith("No candle")
    assert bench.chart.scale.right == before
    dialog.close()


def test_an_empty_chart_has_no_date_to_go_to(make_chart_bench: MakeBench) -> None:
    bench = make_chart_bench()
    ChartAppearance(bench.shell, bench.chart)
    bench.shell.actions[ActionId.GO_TO_DATE].trigger()
    assert bench.window.banner.shown is not None


def test_with_a_forming_candle_alone_it_says_that_none_has_closed(make_chart_bench: MakeBench) -> None:
    bench = make_chart_bench()
    bench.chart.set_series(CandleSeries(scenario.MINUTE), "NEW/USDT")
    bench.chart.set_forming(scenario.market()[-1])
    bench.chart.flush()
    ChartAppearance(bench.shell, bench.chart)
    bench.shell.actions[ActionId.GO_TO_DATE].trigger()
    shown = bench.window.banner.shown
    assert shown is not None and "closed" in shown.text and "has no candles" not in shown.text
    assert bench.window.findChildren(DateDialog) == []


@pytest.mark.hostile
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
@pytest.mark.parametrize("year", [1, 1752, 9999])
def test_a_year_beyond_the_calendars_is_not_entered(bench: Bench, zone: str, year: int) -> None:
    dialog = opened(bench, ZoneInfo(zone))
    dialog.edit.setDateTime(QDateTime(QDate(year, 12, 31), QTime(23, 59)))
    dialog.accept()
    assert 1971 <= dialog.edit.date().year() <= 9998
    dialog.close()
