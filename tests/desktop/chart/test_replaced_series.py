"""Replacing the newest candles by the full history must not move anything visible."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.domain.candle_series import CandleSeries
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forecast_after, forming_after, random_series

WHOLE = random_series(3_000, skip=frozenset({2_950}))
SHOWN = 500


def newest(count: int) -> CandleSeries:
    first = len(WHOLE) - SHOWN
    view = slice(first, first + count)
    return CandleSeries.from_columns(WHOLE.interval, WHOLE.open_time_ms[view], WHOLE.values[:, view])


def places(chart: ChartWidget) -> dict[int, int]:
    """From opening time to device column, of the visible candles."""
    frame, series = chart.frame, chart.model.series
    assert series is not None
    return {int(series.open_time_ms[index]): frame.x(index) for index in range(frame.first, frame.stop)}


@pytest.mark.parametrize("view", ["newest", "panned", "zoomed in", "all"])
def test_visible_candles_stay_in_place(show_chart: ShowChart, view: str) -> None:
    series = newest(SHOWN)
    chart = show_chart(series)
    forming, forecast = forming_after(series), forecast_after(series)
    chart.set_forming(forming)
    chart.set_forecast(forecast)
    settle(chart)
    if view == "panned":
        chart.go_to_oldest()
    elif view != "newest":
        chart.zoom(3.0 if view == "zoomed in" else 0.2)
    settle(chart)
    before, spacing = places(chart), chart.scale.spacing
    picture = chart.grab().toImage()
    chart.replace_series(WHOLE)
    after_at_once = places(chart)
    settle(chart)
    after = places(chart)
    assert all(after_at_once[time_ms] == x for time_ms, x in before.items()), "a paint may come before the next frame"
    assert {time_ms: after[time_ms] for time_ms in before} == before
    assert (chart.scale.spacing, chart.model.forming, chart.model.forecast) == (spacing, forming, forecast)
    assert chart.model.title == "BTC/USDT · 1m · test"
    if view in ("newest", "zoomed in"):
        assert chart.grab().toImage() == picture, "to the pixel"


def test_candles_that_closed_meanwhile_are_followed(show_chart: ShowChart) -> None:
    chart = show_chart(newest(SHOWN - 20))
    at_rest = chart.scale.right - chart.scale.count
    chart.replace_series(WHOLE)
    settle(chart)
    assert chart.scale.count == len(WHOLE)
    assert chart.scale.right - chart.scale.count == at_rest
    assert chart.scale.is_newest_in_view


def test_a_drag_continues_in_place(show_chart: ShowChart) -> None:
    chart = show_chart(newest(SHOWN - 20))
    middle = QPoint(400, 200)
    QTest.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
    QTest.mouseMove(chart.viewport(), middle + QPoint(50, 0))
    settle(chart)
    before = places(chart)
    chart.replace_series(WHOLE)
    settle(chart)
    assert before.items() <= places(chart).items()
    QTest.mouseMove(chart.viewport(), middle + QPoint(60, 0))
    settle(chart)
    moved = places(chart)
    assert all(moved[time_ms] == x + 10 for time_ms, x in before.items() if time_ms in moved)
    QTest.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)


def test_a_candle_that_has_closed_meanwhile_is_not_forming_any_more(show_chart: ShowChart) -> None:
    series = newest(SHOWN - 20)
    chart = show_chart(series, has_forming=True)
    chart.replace_series(WHOLE)
    assert chart.model.forming is None


def test_an_empty_chart_takes_all(show_chart: ShowChart) -> None:
    chart = show_chart(CandleSeries(WHOLE.interval))
    chart.replace_series(WHOLE)
    settle(chart)
    assert chart.scale.is_newest_in_view and len(places(chart)) > 10
