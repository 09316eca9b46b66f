"""The whole window under ticks, hands, actions and what the trainer says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.clock import ManualClock
from desktop.state import INCIDENTS_KEPT
from desktop.theme import Theme
from tests.desktop import scenario
from tests.torture.census import Census, assert_nothing_is_left, take
from tests.torture.chart import stop_running_on
from tests.torture.run import LONG_SECONDS, Torture, chosen_seed
from tests.torture.twin import difference, settle
from tests.torture.window import WindowActs

SEED = 20_261_121
WARM_UP = 800
SHORT = 1_200
BOUNDS = {"core.events.Incident": 2 * INCIDENTS_KEPT + 50}
"""The record, a hidden panel's copy of how it was, and those of notices."""


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """Dresses the application, as the program does; afterwards it is as it was."""
    before, style = QPalette(qapp.palette()), qapp.style().objectName()
    theme = Theme("dark")
    theme.apply_to(qapp)
    yield theme
    theme.set_mode("system")
    qapp.setStyle(style)
    qapp.setPalette(before)


@pytest.fixture
def acts(qtbot: QtBot, theme: Theme, tmp_path: Path) -> WindowActs:
    clock = ManualClock(scenario.NOW_MS)
    made = WindowActs(theme, clock, np.random.default_rng(chosen_seed(SEED)), tmp_path)
    qtbot.addWidget(made.window)
    made.window.resize(1_280, 720)
    with qtbot.waitExposed(made.window):
        made.window.show()
    return made


def torture(acts: WindowActs, qtbot: QtBot, part: int) -> Torture:
    charted = acts.chart_acts

    def check() -> None:
        acts.close_popups()
        charted.hands.rest()
        stop_running_on(charted.chart, charted.clock, lambda: qtbot.wait(20))
        settle(charted.chart)
        assert acts.window.isVisible()
        differs = difference(charted.chart, charted.theme, charted.clock)
        assert not differs, f"the chart is not what a fresh one shows: {differs}"

    return Torture(chosen_seed(SEED), acts.acts(), charted.tick, charted.chart.flush, check, part)


def at_rest(acts: WindowActs, qtbot: QtBot) -> Census:
    acts.rest()
    qtbot.waitUntil(lambda: not acts.window.has_stale_panels(), timeout=5_000)
    settle(acts.chart_acts.chart)
    return take(acts.window)


def test_nothing_breaks_and_nothing_is_left(acts: WindowActs, qtbot: QtBot, qtlog: Any) -> None:
    torture(acts, qtbot, 0).run(qtlog, steps=WARM_UP)
    before = at_rest(acts, qtbot)
    torture(acts, qtbot, 1).run(qtlog, steps=SHORT)
    assert_nothing_is_left(before, at_rest(acts, qtbot), BOUNDS)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_nothing_grows_over_minutes(acts: WindowActs, qtbot: QtBot, qtlog: Any) -> None:
    torture(acts, qtbot, 0).run(qtlog, seconds=LONG_SECONDS / 4)
    before = at_rest(acts, qtbot)
    torture(acts, qtbot, 1).run(qtlog, seconds=LONG_SECONDS * 3 / 4)
    assert_nothing_is_left(before, at_rest(acts, qtbot), BOUNDS)
