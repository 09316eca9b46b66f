"""Sample paths are drawn only when switched on, and computed once a forecast."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.events import ForecastMade
from core.forecast.paths import sample_paths
from core.training.online import forecast_events
from desktop.chart.items.forecast import FuturesLayer
from desktop.chart.widget import ChartWidget
from desktop.ui.formatting import format_price
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import forecast_with_paths, point_over, random_series, texts

SERIES = random_series(400)
MADE = forecast_with_paths(SERIES)


def computed(chart: ChartWidget, qtbot: QtBot, made: ForecastMade = MADE) -> None:
    """Wait until the chart has the paths."""
    qtbot.waitUntil(lambda: chart._idle_work._making is None and not chart.model.futures.is_waiting(made, SERIES))
    chart.refresh()
    settle(chart)


@pytest.fixture
def chart(show_chart: ShowChart) -> ChartWidget:
    made = show_chart(SERIES)
    made.set_forecast(MADE)
    settle(made)
    return made


def test_they_are_drawn_only_when_switched_on(chart: ChartWidget, qtbot: QtBot) -> None:
    bare = picture(chart)
    chart.add_layer(FuturesLayer())
    settle(chart)
    computed(chart, qtbot)
    assert np.array_equal(picture(chart), bare)
    chart.restyle(shows_paths=True)
    settle(chart)
    changed = np.flatnonzero((picture(chart) != bare).any(axis=0))
    origin = chart.frame.x(len(SERIES) - 1)
    assert changed.size and changed.min() >= origin - 2, "nothing before the forecast"
    chart.restyle(shows_paths=False)
    settle(chart)
    assert np.array_equal(picture(chart), bare)


def test_the_bodies_follow_the_most_central_one_and_the_readout_says_so(chart: ChartWidget, qtbot: QtBot) -> None:
    model = chart.model
    chart.add_layer(FuturesLayer())
    settle(chart)
    computed(chart, qtbot)
    ghosts, central = model.ghosts(), model.central_path()
    assert central is not None and model.drawn_ghosts(along_path=False) == ghosts
    drawn = model.drawn_ghosts(along_path=True)
    assert [placed.index for placed in drawn] == [placed.index for placed in ghosts]
    assert tuple(placed.ghost for placed in drawn) == central.ghosts
    chart.restyle(shows_paths=True)
    settle(chart)
    third = drawn[2]
    ink = rgb_of(chart.frame.palette.ghost(third.ghost.close >= third.ghost.open))
    rows_of_ink = np.flatnonzero(picture(chart)[:, chart.frame.x(third.index)] == ink)
    assert rows_of_ink.min() == chart.frame.y(third.ghost.high) and rows_of_ink.max() >= chart.frame.y(third.ghost.low)
    close = format_price(third.ghost.close, chart.frame.decimals)
    rows = texts(tuple(chart._layers.readout_rows(chart.frame, model, third.index)))
    assert close in rows and f"{central.count:,} sample paths" in rows
    assert chart._layers.readout_rows(chart.frame, model, drawn[0].index) == [], "the first is as scored"
    chart.restyle(shows_paths=False)
    assert chart._layers.readout_rows(chart.frame, model, third.index) == []


def test_a_trend_is_drawn_along_the_path_and_no_trend_as_medians(chart: ChartWidget, qtbot: QtBot) -> None:
    model = chart.model
    chart.add_layer(FuturesLayer())
    settle(chart)
    computed(chart, qtbot)
    assert model.drawn_path(along_path=False) is None and model.drawn_ghosts(along_path=False) == model.ghosts()
    trend = forecast_with_paths(SERIES, drift=3e-4)
    chart.set_forecast(trend)
    settle(chart)
    medians = picture(chart)
    computed(chart, qtbot, trend)
    central = model.drawn_path(along_path=False)
    assert central is not None and central == model.central_path()
    drawn = model.drawn_ghosts(along_path=False)
    assert tuple(placed.ghost for placed in drawn) == central.ghosts
    assert (picture(chart) != medians).any()
    close = format_price(drawn[2].ghost.close, chart.frame.decimals)
    assert close in texts(tuple(chart._layers.readout_rows(chart.frame, model, drawn[2].index)))


def test_a_moving_mouse_computes_nothing(chart: ChartWidget, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*given: object) -> object:
        calls.append(given)
        return sample_paths(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(forecast_events, "sample_paths", counted)
    chart.add_layer(FuturesLayer())
    chart.restyle(shows_paths=True, shows_chance=True)
    settle(chart)
    computed(chart, qtbot)
    for index in range(380, 408):
        QTest.mouseMove(chart.viewport(), point_over(chart, index, MADE.origin_close + index - 390))
        settle(chart)
    QTest.mouseMove(chart.viewport(), QPoint(chart.width() - 5, 200))
    settle(chart)
    assert len(calls) == 1 and chart.overlay.tooltip is not None


def test_at_another_interval_there_are_none(chart: ChartWidget) -> None:
    layer = FuturesLayer()
    assert layer.is_waiting(chart.model)
    chart.model.past.interval_ms = 2 * SERIES.interval.duration_ms  # type: ignore[misc]
    assert not layer.is_waiting(chart.model) and chart.model.chances_of(MADE.origin_close) == ()
    assert chart.model.central_path() is None
