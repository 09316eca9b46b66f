"""Some PySide6 releases lose or gain references to None on each paint; losing them eventually aborts the process."""

import gc
import sys

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from core.domain.clock import ManualClock
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, forming_after, outcome_of, point_over, random_series

REPAINTS = 60

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="None is immortal: its count is not kept, and cannot end the process"
)


def references_to_none() -> int:
    """Without those held by garbage of earlier tests."""
    gc.collect()
    return sys.getrefcount(None)


def test_many_repaints_leave_the_count_of_none_steady(show_chart: ShowChart, clock: ManualClock) -> None:
    series = random_series(400)
    chart = show_chart(series)
    chart.set_live(True)
    chart.set_forecast(forecast_after(series))
    for index in range(350, 400):
        chart.model.past.add(outcome_of(series[index]))

    def repaint(step: int) -> None:
        chart.set_forming(forming_after(series, (step % 9) / 2))
        QTest.mouseMove(
            chart.viewport(), point_over(chart, 350 + step % 58, series[350 + step % 50].close) + QPoint(0, 1)
        )
        clock.advance_ms(10)
        settle(chart)
        # The cached picture of the closed candles is repainted too, not only drawn.
        chart.scale.pan_to(chart.scale.right - (1 if step % 2 else -1))
        chart.refresh()
        settle(chart)

    for step in range(20):
        repaint(step)
    painted, before = chart.closed_paints, references_to_none()
    for step in range(REPAINTS):
        repaint(step)
    grown = references_to_none() - before
    assert chart.closed_paints - painted >= REPAINTS
    assert chart.overlay.cross is not None
    assert abs(grown) < REPAINTS // 4


def test_the_count_stays_when_candles_close(show_chart: ShowChart) -> None:
    series = random_series(400)
    chart = show_chart(series)

    def close_candle(index: int) -> None:
        series.add(candle(index, 20_000.0 + index % 7))
        chart.refresh()
        chart.set_forecast(forecast_after(series))
        settle(chart)

    for index in range(400, 420):
        close_candle(index)
    before = references_to_none()
    for index in range(420, 460):
        close_candle(index)
    assert abs(references_to_none() - before) < 20
