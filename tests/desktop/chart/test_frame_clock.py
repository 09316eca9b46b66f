import gc
import weakref

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from desktop.chart.frame_clock import Dirty, FrameClock
from desktop.chart.widget import ChartWidget
from desktop.ui.paint_in_turn import FRAME_MS
from desktop.ui.theme import Theme
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forming_after, random_series


@pytest.fixture
def frames() -> list[Dirty]:
    return []


def test_requests_of_one_moment_make_one_frame(qtbot: QtBot, frames: list[Dirty]) -> None:
    clock = FrameClock(frames.append)
    for dirty in (Dirty.CURSOR, Dirty.TICK, Dirty.CURSOR, Dirty.TICK):
        clock.request(dirty)
    qtbot.waitUntil(lambda: len(frames) > 0)
    assert frames == [Dirty.CURSOR | Dirty.TICK]


def test_a_flood_makes_at_most_one_frame_in_sixteen_milliseconds(qapp: QApplication, frames: list[Dirty]) -> None:
    clock = FrameClock(frames.append)
    timer = clock.findChild(QTimer)
    assert timer is not None
    for count, wait_ms in enumerate((0, FRAME_MS, FRAME_MS, FRAME_MS)):
        for _ in range(100):
            clock.request(Dirty.TICK)
        assert len(frames) == count and timer.isActive() and timer.interval() == wait_ms
        timer.timeout.emit()
        assert len(frames) == count + 1


def test_an_idle_clock_runs_no_timer(qtbot: QtBot, frames: list[Dirty]) -> None:
    parent = QObject()
    clock = FrameClock(frames.append, parent)
    clock.request(Dirty.VIEW)
    timers = clock.findChildren(QTimer)
    qtbot.waitUntil(lambda: not any(timer.isActive() for timer in timers))
    assert frames == [Dirty.VIEW]


def test_flush_serves_at_once_and_only_once(qtbot: QtBot, frames: list[Dirty]) -> None:
    clock = FrameClock(frames.append)
    clock.request(Dirty.DATA)
    clock.flush()
    assert frames == [Dirty.DATA]
    clock.flush()
    assert frames == [Dirty.DATA]


def test_of_many_ticks_the_latest_shows(show_chart: ShowChart, qtbot: QtBot) -> None:
    series = random_series(100)
    chart = show_chart(series)
    for move in range(500):
        chart.set_forming(forming_after(series, move / 100))
    last = forming_after(series, 1.25)
    chart.set_forming(last)
    qtbot.waitUntil(lambda: chart.frame.prices.high > last.high)
    assert chart.model.forming == last
    settle(chart)


def test_a_hidden_or_idle_chart_runs_no_timer(show_chart: ShowChart, qtbot: QtBot) -> None:
    series = random_series(100)
    chart = show_chart(series, has_forming=True)
    chart.set_live(True)
    settle(chart)
    timers = chart.findChildren(QTimer)
    assert any(timer.isActive() for timer in timers)
    chart.hide()
    qtbot.waitUntil(lambda: not any(timer.isActive() for timer in timers))


def test_a_theme_does_not_keep_a_chart_alive(qtbot: QtBot) -> None:
    theme = Theme("dark")
    chart = ChartWidget(theme, ManualClock(0))
    chart.set_series(random_series(50), "test")
    seen = weakref.ref(chart)
    chart.deleteLater()
    del chart
    qtbot.waitUntil(lambda: gc.collect() >= 0 and seen() is None)
    theme.set_mode("light")
