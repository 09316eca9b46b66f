"""The complete window under ticks, user input, actions and trainer messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.market.resample import ResampledSeries
from core.storage.folder import DataFolder
from desktop.chart.widget import ChartWidget
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.markets.cells import ChartCell
from desktop.state.incident_history import INCIDENTS_KEPT
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.application_style import restored_style
from tests.desktop.chart import past_support
from tests.desktop.chart.paint_helpers import picture, pixels
from tests.torture.census import (
    Census,
    assert_does_not_go_on_growing,
    assert_no_objects_are_left,
    assert_nothing_is_left,
    take,
)
from tests.torture.chart import stop_running_on
from tests.torture.reference import difference, settle, where
from tests.torture.run import LENGTH, Torture, chosen_seed
from tests.torture.window import WindowActs

SEED = 20_261_201
WARM_UP = 300
SHORT = 600
CHECK_EVERY = 200
STRETCHES = 4
STRETCH = 800
TO_BE_MET = {
    *("lines", "crossed lines", "markers", "a measure", "hindsight", "regimes", "ghosts", "a held range"),
    *("another interval", "a whole history", "a coarse whole history", "interrupted loads", "a comparison"),
}
BOUNDS = {"core.domain.events.Incident": 2 * INCIDENTS_KEPT + 50}
"""The record, a hidden panel's copy of it, and those of notices."""
MOST_SMALL_CHARTS = 20
"""Seven markets of the venue and three of the list, and as many that the random user may add to the list."""


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """Styles the application, as the program does."""
    with restored_style(qapp):
        theme = Theme("dark")
        theme.apply_to(qapp)
        yield theme


@pytest.fixture
def acts(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[WindowActs]:
    folder = DataFolder(tmp_path)
    folder.ensure()
    made = WindowActs(theme, ManualClock(scenario.NOW_MS), np.random.default_rng(chosen_seed(SEED)), folder)
    qtbot.addWidget(made.window)
    made.window.resize(1_280, 720)
    with qtbot.waitExposed(made.window):
        made.window.show()
    for panel in made.window.findChildren(AccuracyPanel):
        for page in range(panel.tabs.count()):  # created on first opening: not a leak
            panel.tabs.setCurrentIndex(page)
        panel.tabs.setCurrentIndex(0)
    for dock in made.window.docks.values():  # likewise, in those closed at first: the measured part of the gradients
        dock.show()
        dock.raise_()
        qtbot.waitUntil(dock.widget().isVisible)
        qtbot.waitUntil(lambda: not made.window.has_stale_panels())
    made.window.reset_layout()
    yield made
    made.close()


def torture(acts: WindowActs, qtbot: QtBot, part: int) -> Torture:
    def check() -> None:
        acts.charting.travel.back_to_now()
        come_to_rest(acts, qtbot)
        assert acts.window.isVisible()
        assert_shows_what_is_stored(acts)
        acts.notice()
        differs = where([seen(acts.chart, each) for each in (on_screen(acts.chart), picture(acts.chart))])
        assert not differs, f"partial repaints differ from the whole: {differs}"
        differs = difference(acts.chart, acts.theme, acts.clock)
        assert not differs, f"the chart is not what a fresh one shows: {differs}"

    acts.switch_market()  # the market used at rest stays unchanged
    return Torture(chosen_seed(SEED), acts.acts(), acts.tick, acts.chart.flush, check, part, CHECK_EVERY)


def come_to_rest(acts: WindowActs, qtbot: QtBot) -> None:
    """Nothing is held, nothing moves, and all reads are complete."""
    chart = acts.chart
    acts.close_popups()
    acts.user.rest()
    stop_running_on(chart, acts.clock)
    load_all(acts, qtbot)
    acts.tick()  # a market just opened has no forming candle yet
    settle(chart)
    load_all(acts, qtbot)  # a closed candle triggers a read of the compared market
    settle(chart)
    chart.overlay  # noqa: B018 - requests the past forecasts in view and under the mouse
    read_all(acts, qtbot)
    acts.charting.tools.markers.gather()  # pending merges run now, not between two pictures
    settle(chart)


def load_all(acts: WindowActs, qtbot: QtBot) -> None:
    """No candles are being read, for the market or the compared one."""
    charting = acts.charting
    qtbot.waitUntil(lambda: not (charting.history.is_loading or charting.comparison.history.is_loading))


def read_all(acts: WindowActs, qtbot: QtBot) -> None:
    """Reads between frames (past forecasts and regimes), and what another thread computes, are complete: what comes
    between two pictures is in the second alone."""
    chart, model = acts.chart, acts.chart.model
    qtbot.waitUntil(lambda: not (model.past.is_waiting or model.regimes.is_waiting or chart._idle_work.is_busy))


def on_screen(chart: ChartWidget) -> NDArray[np.uint32]:
    """The chart's part of the screen after partial repaints."""
    window = chart.window()
    area = QRect(chart.mapTo(window, QPoint(0, 0)), chart.size())
    return pixels(window.screen().grabWindow(window.winId()).toImage().copy(area))


def seen(chart: ChartWidget, whole: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The part of its pixels that its window shows: a window at its minimum size cuts off the last row."""
    area = chart.geometry().intersected(chart.parentWidget().rect()).translated(-chart.pos())
    return whole[area.top() : area.bottom() + 1, area.left() : area.right() + 1]


def assert_shows_what_is_stored(acts: WindowActs) -> None:
    """The market knows what it sent; database, series, coarse series and lines must agree with it."""
    watched, candles = acts.watched, acts.charting.candles
    assert candles.stored is not None and acts.chart.model.whole is not None
    assert_alike(candles.stored, watched.walk.series)
    assert acts.database.candles.load(watched.name) == list(watched.walk.series)
    shown = acts.chart.model.whole  # also while a past moment is shown
    if shown is not candles.stored:
        coarse = ResampledSeries(watched.walk.series, shown.interval)
        coarse.forming(watched.walk.forming)
        assert_alike(shown, coarse.series)
    lines = acts.charting.tools.lines.things
    assert list(lines) == acts.database.lines.list(watched.name.venue, watched.name.symbol)


def assert_alike(series: CandleSeries, wanted: CandleSeries) -> None:
    """Volumes are sums, whose last bit depends on the order of addition."""
    assert np.array_equal(series.open_time_ms, wanted.open_time_ms)
    for name in ("open", "high", "low", "close"):
        assert np.array_equal(getattr(series, name), getattr(wanted, name)), name
    assert np.allclose(series.volume, wanted.volume, rtol=1e-9)


def at_rest(acts: WindowActs, qtbot: QtBot) -> Census:
    acts.rest()
    qtbot.waitUntil(lambda: not acts.window.has_stale_panels())
    read_all(acts, qtbot)
    settle(acts.chart)
    for made in (past_support.stored, past_support.issued):
        made.cache_clear()
    forget_small_charts(acts)
    acts.database.db.conn.execute("PRAGMA shrink_memory")  # pages that SQLite keeps for reuse
    return take(acts.window)


def forget_small_charts(acts: WindowActs) -> None:
    """The Markets panel keeps one picture of each market that it has shown, with its candles, `CANDLES_KEPT` at most:
    how many differs between rests, but does not grow with the steps."""
    for cell in acts.window.panels.markets.findChildren(ChartCell):
        assert len(cell.charts._kept) <= MOST_SMALL_CHARTS
        cell.charts._kept.clear()


@pytest.mark.slow
def test_random_use_breaks_nothing_and_leaks_nothing(acts: WindowActs, qtbot: QtBot, qtlog: Any) -> None:
    torture(acts, qtbot, 0).run(qtlog, steps=WARM_UP)
    before = at_rest(acts, qtbot)
    torture(acts, qtbot, 1).run(qtlog, steps=SHORT)
    print(f"met: {dict(acts.met)}")
    assert_nothing_is_left(before, at_rest(acts, qtbot), BOUNDS)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_memory_does_not_grow_over_thousands_of_steps(acts: WindowActs, qtbot: QtBot, qtlog: Any) -> None:
    """Separate stretches: warm-up happens once, leaks continue."""
    rests: list[Census] = []
    for part in range(STRETCHES):
        torture(acts, qtbot, part).run(qtlog, steps=LENGTH * STRETCH)
        rests.append(at_rest(acts, qtbot))
    print(f"met: {dict(acts.met)}")
    for before, after in pairwise(rests):
        assert_no_objects_are_left(before, after, BOUNDS)
    assert_no_objects_are_left(rests[0], rests[-1], BOUNDS)
    assert_does_not_go_on_growing(rests)
    if LENGTH > 1:  # enough for the random user to meet everything
        assert set(acts.met) >= TO_BE_MET, f"never met: {TO_BE_MET - set(acts.met)}"
