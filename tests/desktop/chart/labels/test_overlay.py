"""Labels are laid out again only if a tick can change them, and are always up to date."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from core.domain.clock import ManualClock
from desktop.chart.labels.overlay import Overlay
from desktop.chart.panes.layer import LayerSet
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forming_after, outcome_of, random_series

MOVES = (0.5, -3.0, 4.0, 0.1, 12.0, -15.0)


def point_at(chart: ChartWidget, index: int) -> None:
    """The mouse over a candle's close."""
    frame, candle = chart.frame, chart.model.candle(index)
    row = frame.layout.price_bottom // 2 if candle is None else frame.y(candle.close)
    place = QPoint(round(frame.x(index) / frame.ratio), round(row / frame.ratio))
    # Qt sends no event if an earlier test left the cursor at this place.
    QTest.mouseMove(chart.viewport(), place + QPoint(0, 40))
    QTest.mouseMove(chart.viewport(), place)
    settle(chart)


@pytest.mark.parametrize("ahead", [-40, -1, 0, 2], ids=["closed", "newest closed", "forming", "ghost"])
def test_after_each_tick_they_are_what_a_new_layout_gives(
    show_chart: ShowChart, clock: ManualClock, ahead: int
) -> None:
    series = random_series(400)
    chart = show_chart(series, has_forecast=True, has_forming=True)
    for index in range(300, 400):
        chart.model.past.add(outcome_of(series[index]))
    chart.set_live(True)
    settle(chart)
    point_at(chart, 400 + ahead)
    for move in MOVES:
        chart.set_forming(forming_after(series, move))
        clock.advance_ms(1_000)
        settle(chart)
        shown = chart.overlay
        assert shown.cross is not None
        chart.fresh_frame()
        assert chart.overlay == shown, f"after a tick of {move}"


def test_a_tick_leaves_the_labels_of_a_closed_candle_and_of_the_forecast_as_they_are(show_chart: ShowChart) -> None:
    series = random_series(400)
    chart = show_chart(series, has_forecast=True)
    forming = forming_after(series)
    chart.set_forming(forming)
    settle(chart)
    point_at(chart, 360)
    before = chart.overlay
    chart.set_forming(replace(forming, close=forming.open))  # the same range: the view stays
    settle(chart)
    assert chart.overlay is not before
    assert chart.overlay.readout is before.readout
    assert chart.overlay.forecast_label is before.forecast_label


@pytest.mark.parametrize("away_px", [-6, 0, 6])
def test_near_it_the_crosshair_leaves_the_last_price_readable(show_chart: ShowChart, away_px: int) -> None:
    chart = show_chart(random_series(120))
    frame = chart.frame
    row = frame.y(chart.model.series[-1].close) + away_px  # type: ignore[index]
    found = Overlay.of(frame, chart.model, LayerSet(), QPoint(frame.layout.plot_right // 2, row), None)
    assert found.last_price is not None and found.price_label is not None
    assert not found.last_price.rect.intersects(found.price_label.rect)
