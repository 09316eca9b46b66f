"""The chart under ticks, user input and candles in any order: no exceptions, no leaks, no drawing errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.desktop.chart.paint_helpers import picture, screen
from tests.desktop.chart.support import START_MS
from tests.torture.census import Census, assert_nothing_is_left, take
from tests.torture.chart import ChartActs, stop_running_on
from tests.torture.reference import difference, settle, where
from tests.torture.run import LENGTH, Torture, chosen_seed

SEED = 20_261_121
WARM_UP = 600
SHORT = 1_000
LONG = 8_000


@pytest.fixture
def acts(qtbot: QtBot) -> ChartActs:
    clock, theme = ManualClock(START_MS), Theme("dark")
    chart = ChartWidget(theme, clock)
    qtbot.addWidget(chart)
    chart.resize(900, 560)
    with qtbot.waitExposed(chart):
        chart.show()
    return ChartActs(chart, theme, clock, np.random.default_rng(chosen_seed(SEED)))


def torture(acts: ChartActs, qtbot: QtBot, part: int) -> Torture:
    chart = acts.chart

    def check() -> None:
        acts.user.rest()
        chart.show()
        stop_running_on(chart, acts.clock)
        settle(chart)
        differs = where([screen(chart), picture(chart)])
        assert not differs, f"partial repaints differ from the whole: {differs}"
        differs = difference(chart, acts.theme, acts.clock)
        assert not differs, f"the chart is not what a fresh one shows: {differs}"

    return Torture(
        chosen_seed(SEED),
        acts.data_acts() | acts.user.acts() | acts.look_acts(),
        acts.tick,
        chart.flush,
        check,
        part,
    )


def at_rest(acts: ChartActs) -> Census:
    acts.rest()
    settle(acts.chart)
    QApplication.processEvents()
    return take(acts.chart)


@pytest.mark.slow
def test_random_use_breaks_nothing_and_leaks_nothing(acts: ChartActs, qtbot: QtBot, qtlog: Any) -> None:
    torture(acts, qtbot, 0).run(qtlog, steps=WARM_UP)
    before = at_rest(acts)
    torture(acts, qtbot, 1).run(qtlog, steps=SHORT)
    assert_nothing_is_left(before, at_rest(acts))


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_memory_does_not_grow_over_thousands_of_steps(acts: ChartActs, qtbot: QtBot, qtlog: Any) -> None:
    torture(acts, qtbot, 0).run(qtlog, steps=LENGTH * LONG // 4)
    before = at_rest(acts)
    torture(acts, qtbot, 1).run(qtlog, steps=LENGTH * LONG * 3 // 4)
    assert_nothing_is_left(before, at_rest(acts))
