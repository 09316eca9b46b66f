"""A pan moves the painted panes below the prices."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QPainter

from core.indicators.spec import IndicatorSpec
from desktop.chart.data.model import ChartModel
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import channels
from tests.desktop.chart.support import random_series

BLENDED = 4
"""Levels of a channel that a strip, which has its own ground, may be off after blending."""


class CountedLayer(IndicatorLayer):
    draws = 0

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        self.draws += 1
        super().draw(painter, frame, pane, model)


@pytest.fixture
def rsi() -> CountedLayer:
    return CountedLayer(IndicatorSpec.of("rsi"), 0)


@pytest.fixture
def chart(show_chart: ShowChart, rsi: CountedLayer) -> ChartWidget:
    chart = show_chart(random_series(2_000))
    chart.add_layer(rsi)
    settle(chart)
    pan(chart, 300.0)
    return chart


def pan(chart: ChartWidget, step_px: float) -> None:
    chart.scale.pan_to(chart.scale.right - step_px / chart.scale.spacing)
    chart.view_moved()
    settle(chart)


def test_most_steps_of_a_pan_draw_no_indicator(chart: ChartWidget, rsi: CountedLayer) -> None:
    before = rsi.draws
    for _ in range(20):
        pan(chart, 10.0)
    assert rsi.draws - before <= 2


@pytest.mark.parametrize("step_px", [7.0, -7.0, 90.0, 3.4])
def test_after_any_pan_the_pane_looks_as_if_drawn_for_it(chart: ChartWidget, step_px: float) -> None:
    for _ in range(5):
        pan(chart, step_px)
    moved = channels(chart.grab().toImage()).astype(int)
    chart.restyle(shows_grid=False)
    settle(chart)
    chart.restyle(shows_grid=True)
    settle(chart)
    drawn = channels(chart.grab().toImage()).astype(int)
    assert np.abs(moved - drawn).max() <= BLENDED


@pytest.mark.parametrize("change", ["zoom", "close", "colours"])
def test_another_picture_is_drawn_again(chart: ChartWidget, rsi: CountedLayer, change: str) -> None:
    before = rsi.draws
    if change == "zoom":
        chart.zoom(1.3)
    elif change == "close":
        chart.replace_series(random_series(2_001))
    else:
        rsi.number += 1
        chart.layers_changed()
    settle(chart)
    assert rsi.draws > before
