from __future__ import annotations

from dataclasses import replace

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.events import EventBatch
from desktop.panels.drift_marks import drift_in_words
from desktop.panels.loss import LossPanel
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_time
from desktop.ui.plain_text import with_usual_spaces
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> LossPanel:
    panel = LossPanel(state, theme, RunCurves(state, state))
    shown_panel(qtbot, panel)
    state.apply(EventBatch(tuple(scenario.steps(800))))
    return panel


def test_a_drift_has_a_line_at_its_step_and_describes_change_and_response(panel: LossPanel, state: RunState) -> None:
    panel.refresh()
    assert not panel.drifts.marked and not panel.drifts.isVisible()
    drift = scenario.drift()
    state.apply(drift)
    assert panel.is_stale
    panel.refresh()
    assert panel.drifts.marked == (drift,) and panel.drifts.isVisible()
    shown = panel.drifts.text()
    for text in ("11,600", format_time(drift.candle_open_time_ms), "0.33 → 0.66", drift.what_was_done):
        assert text in shown
    assert "37 candles" in with_usual_spaces(panel.drifts.toolTip())
    line = panel.drifts._lines[drift]
    assert line.value() == 11_600 and drift.what_was_done in with_usual_spaces(line.toolTip())


def test_the_newest_visible_drift_is_described_and_all_are_in_the_tooltip(panel: LossPanel, state: RunState) -> None:
    newer = scenario.drift(step=12_000, candle_open_time_ms=scenario.NOW_MS - 60_000)
    out_of_view = scenario.drift(step=9_000, candle_open_time_ms=scenario.NOW_MS - 10**9)
    state.add_drifts((newer, scenario.drift(), out_of_view))
    panel.refresh()
    assert panel.drifts.marked == (scenario.drift(), newer)
    assert panel.drifts.text() == drift_in_words(newer)
    assert "11,600" in panel.drifts.toolTip() and "9,000" not in panel.drifts.toolTip()


def test_a_drift_names_its_market_where_the_model_has_several(panel: LossPanel, state: RunState) -> None:
    state.apply(scenario.ready_of_three())
    newest = scenario.drift(run_id=f"{scenario.RUN}-2", step=12_000, candle_open_time_ms=scenario.NOW_MS - 60_000)
    for drift in (scenario.drift(), newest):
        state.apply(drift)
    panel.refresh()
    assert panel.drifts.marked == (scenario.drift(), newest), "the curves are those of all of them"
    assert with_usual_spaces(panel.drifts.text()).startswith("SOL/USDT: Drift at step 12,000")
    assert "BTC/USDT: Drift at step 11,600" in with_usual_spaces(panel.drifts.toolTip())
    assert "SOL/USDT" in panel.drifts._lines[newest].toolTip()


def test_a_repeated_drift_is_marked_once_and_one_of_another_run_never(panel: LossPanel, state: RunState) -> None:
    state.apply(scenario.drift())
    state.apply(scenario.drift(at_ms=5))
    state.apply(scenario.drift(run_id="another", candle_open_time_ms=7))
    assert len(state.drifts) == 1
    panel.refresh()
    assert len(panel.drifts.marked) == 1


def test_marks_end_with_the_run_and_follow_the_theme(panel: LossPanel, state: RunState, theme: Theme) -> None:
    state.apply(scenario.drift())
    panel.refresh()
    theme.set_mode("light")
    panel.refresh()
    (line,) = panel.drifts._lines.values()
    assert line.pen.color() == theme.palette.muted_text
    state.begin(None)
    panel.refresh()
    assert not panel.drifts.marked and not panel.drifts.isVisible() and line.scene() is None


def test_marks_out_of_view_are_removed(panel: LossPanel, state: RunState) -> None:
    state.apply(scenario.drift())
    panel.refresh()
    (line,) = panel.drifts._lines.values()
    last = state.steps.last
    assert last is not None
    for ahead in range(1, 400):
        state.steps.add(replace(last, step=last.step + ahead))
    panel.mark_stale()
    panel.refresh()
    assert not panel.drifts.marked and line.scene() is None
    assert not shiboken6.ownedByPython(line.label), "it would be deleted twice: by Qt with the line, and by Python"


@pytest.mark.parametrize("width", [260, 340, 480, 900])
def test_the_text_of_a_drift_takes_one_line_of_the_plot(panel: LossPanel, state: RunState, width: int) -> None:
    panel.refresh()
    panel.resize(width, panel.minimumSizeHint().height() + 2 * panel.fontMetrics().lineSpacing())
    before = panel.plot.height()
    state.apply(scenario.drift())
    panel.refresh()
    assert panel.drifts.isVisible()
    QApplication.processEvents()
    line = panel.drifts.fontMetrics().lineSpacing()
    assert before - 2 * line <= panel.plot.height() < before and panel.drifts.height() < 2 * line


def test_the_name_of_a_drift_is_not_cut_in_a_low_plot(panel: LossPanel, state: RunState) -> None:
    panel.resize(300, 180)
    drift = scenario.drift()
    state.apply(drift)
    panel.refresh()
    QApplication.processEvents()
    name = panel.drifts._lines[drift].label
    area, view = name.mapRectToScene(name.boundingRect()), panel.plot.getViewBox().sceneBoundingRect()
    assert view.adjusted(-1, -1, 1, 1).contains(area)
