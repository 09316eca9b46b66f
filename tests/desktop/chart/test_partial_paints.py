"""After any mixture of ticks, mouse moves and seconds, partial repaints equal a full paint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.clock import ManualClock
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.style import CandleStyle
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import NOISE, PaintedRegion, picture, screen
from tests.desktop.chart.support import forecast_after, forming_after, outcome_of, random_series


def act(chart: ChartWidget, clock: ManualClock, random: np.random.Generator) -> str:
    """One action that changes the overlay; returns its name."""
    series = chart.model.series
    assert series is not None
    kind = str(random.choice(["tick", "mouse", "axis", "second", "leave"], p=[0.4, 0.35, 0.1, 0.1, 0.05]))
    if kind == "tick":
        chart.set_forming(forming_after(series, float(random.normal(0.0, 6.0))))
    elif kind == "mouse":
        QTest.mouseMove(chart.viewport(), QPoint(int(random.integers(0, 840)), int(random.integers(0, 540))))
    elif kind == "axis":
        QTest.mouseMove(chart.viewport(), QPoint(chart.width() - 5, int(random.integers(0, 540))))
    elif kind == "second":
        clock.advance_ms(1_000)
        chart.overlay_changed()
    else:
        QApplication.sendEvent(chart.viewport(), QEvent(QEvent.Type.Leave))
    return kind


def furthest_apart(chart: ChartWidget) -> int:
    """The largest channel difference between the screen and a full paint."""
    shown, whole = screen(chart), picture(chart)
    differs = shown != whole
    channels = [np.ascontiguousarray(each[differs]).view(np.uint8).astype(int) for each in (shown, whole)]
    return int(np.abs(channels[0] - channels[1]).max(initial=0))


@pytest.mark.parametrize("style", list(CandleStyle))
@pytest.mark.parametrize("with_indicators", [False, True])
def test_any_mixture_leaves_the_picture_that_a_whole_paint_gives(
    show_chart: ShowChart, clock: ManualClock, style: CandleStyle, with_indicators: bool
) -> None:
    series, seed = random_series(400), 2 * list(CandleStyle).index(style) + with_indicators
    chart = show_chart(series)
    if with_indicators:
        for number, kind in enumerate(INDICATORS):
            chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    chart.restyle(candles=style)
    chart.set_forecast(forecast_after(series))
    chart.set_forming(forming_after(series))
    chart.set_live(True)
    for index in range(300, 400):
        chart.model.past.add(outcome_of(series[index]))
    settle(chart)
    random, done = np.random.default_rng(seed), []
    for _ in range(16):
        done += [act(chart, clock, random) for _ in range(int(random.integers(1, 3)))]
        settle(chart)
        assert furthest_apart(chart) <= NOISE, f"seed {seed}, after {done[-6:]}"


def test_what_qt_paints_between_two_frames_leaves_nothing_of_a_tick_that_no_frame_showed(
    show_chart: ShowChart,
) -> None:
    """Qt may paint a column, for the mouse or a moved window, while ticks wait for the next frame."""
    series = random_series(400)
    chart = show_chart(series, has_forming=True)
    for move in (5.0, -4.0, 3.0, -6.0):
        chart.set_forming(forming_after(series, move))
        chart.repaint(QRect(200, 0, 40, chart.height()))
        chart.set_forming(forming_after(series, -move))
        settle(chart)
        assert np.array_equal(screen(chart), picture(chart)), f"after a tick of {move}"


def test_a_tick_paints_no_more_than_what_it_changes(show_chart: ShowChart) -> None:
    series = random_series(400)
    chart = show_chart(series, has_forecast=True, has_forming=True)
    QTest.mouseMove(chart.viewport(), QPoint(300, 200))
    settle(chart)
    painted = PaintedRegion(chart)
    chart.viewport().installEventFilter(painted)
    chart.set_forming(forming_after(series, 3.0))
    settle(chart)
    region, readout, cross = painted.newest, chart.overlay.readout.rect, chart.overlay.cross
    assert cross is not None
    assert region.contains(QPoint(chart.frame.x(400), chart.frame.y(series[-1].close + 3.0))), "the forming candle"
    assert not region.contains(readout.center()), "the readout is that of a closed candle"
    assert not region.contains(QPoint(cross.x(), chart.height() - 5)), "the time axis stays"
    assert not region.contains(QPoint(cross.x(), cross.y() + 30)), "the crosshair stays"
    pixels = sum(part.width() * part.height() for part in cast("Iterable[QRect]", region))
    assert pixels < 0.1 * chart.width() * chart.height()
