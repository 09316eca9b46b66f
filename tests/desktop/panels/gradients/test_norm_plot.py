from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.events import StepDone
from desktop.panels.gradients.norm_plot import NormPlot
from desktop.state.run_curves import FoundCurves, RunCurves
from desktop.state.run_state import RunState
from desktop.ui.plots import LogAxis
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.desktop.panels.step_columns import columns_of


def show(plot: NormPlot, steps: list[StepDone]) -> None:
    state = plot._curves._state
    state.steps.clear()
    state.add_steps(steps)
    plot.show_steps()


@pytest.fixture
def plot(qtbot: QtBot, state: RunState, theme: Theme) -> NormPlot:
    plot = NormPlot(state, theme, RunCurves(state, state))
    shown_panel(qtbot, plot, 400, 260)
    return plot


def point_at(plot: NormPlot, step: float) -> None:
    view = plot.plot.getViewBox()
    low, high = view.viewRange()[1]
    place = plot.plot.mapFromScene(view.mapViewToScene(QPointF(step, (low + high) / 2)))
    QTest.mouseMove(plot.plot.viewport(), place + QPoint(1, 0))
    QTest.mouseMove(plot.plot.viewport(), place)


def test_pointing_at_a_step_shows_its_numbers(qtbot: QtBot, plot: NormPlot) -> None:
    steps = list(scenario.steps(40))
    show(plot, steps)
    clipped = next(step for step in steps[5:] if step.clipped)
    point_at(plot, clipped.step)
    qtbot.waitUntil(plot.plot.readout.isVisible)
    lines = plot.plot.readout.text().splitlines()
    assert lines[0] == f"Step {clipped.step:,}"
    assert lines[1] == f"Before clipping  {clipped.gradient_norm:.2f}"
    assert "After clipping  1.00" in lines and "Clipped at 1.00" in lines
    assert plot.plot.rect().contains(plot.plot.readout.geometry())


def test_after_clipping_the_curve_is_as_high_as_the_threshold_lets_it(plot: NormPlot, theme: Theme) -> None:
    steps = [
        replace(step, gradient_norm=100.0, clip_norm=1.0, gradients=replace(step.gradients, norm_after=1.0))
        for step in scenario.steps(40)
        if step.gradients is not None
    ]
    show(plot, steps)
    plot.resize(401, 260)
    heights = {}
    for curve in plot.plot.getPlotItem().listDataItems():
        _x, y = curve.getData()
        if y is not None and len(y) and np.isfinite(y).any():
            heights[curve.opts["pen"].color().name(), curve.opts["pen"].widthF()] = float(np.nanmedian(y))
    after, before = (colour.name() for colour in theme.palette.curves[:2])
    assert heights[before, 2.0] == pytest.approx(2.0) and heights[after, 2.0] == pytest.approx(0.0)


@pytest.mark.parametrize("width", [260, 400])
def test_a_skipped_step_says_why_inside_the_plot(qtbot: QtBot, plot: NormPlot, width: int) -> None:
    plot.resize(width, 260)
    steps = list(scenario.steps(40))
    reason = "The gradient of blocks.0.attention.project_in was not finite, for the third time in a row."
    skipped = replace(steps[20], skipped_because=reason)
    show(plot, [*steps[:20], skipped, *steps[21:]])
    point_at(plot, skipped.step)
    qtbot.waitUntil(lambda: reason in plot.plot.readout.text())
    assert "nan" not in plot.plot.readout.text().lower()
    assert plot.plot.rect().contains(plot.plot.readout.geometry())
    assert plot.plot.readout.height() >= plot.plot.readout.heightForWidth(plot.plot.readout.width())


def test_the_numbers_go_when_the_mouse_goes(qtbot: QtBot, plot: NormPlot) -> None:
    show(plot, list(scenario.steps(10)))
    point_at(plot, 11_545)
    qtbot.waitUntil(plot.plot.readout.isVisible)
    QApplication.sendEvent(plot.plot, QEvent(QEvent.Type.Leave))
    assert not plot.plot.readout.isVisible()


def test_clipped_and_skipped_steps_are_marked(plot: NormPlot) -> None:
    steps = list(scenario.steps(100))
    show(plot, steps)
    feet = set(plot._clipped.getData()[0].tolist())
    assert feet == {float(step.step) for step in steps if step.clipped}
    assert plot._skipped.getData()[0].tolist() == [float(steps[50].step)]


@pytest.mark.parametrize(("spike", "is_in_view"), [(8.0, True), (4e7, False)])
def test_the_threshold_and_usual_norms_are_in_view_and_a_spike_if_they_stay_readable(
    plot: NormPlot, spike: float, is_in_view: bool
) -> None:
    """Regression: one spike flattened the thousand steps beside it."""
    steps = list(scenario.steps(200))
    steps[120] = replace(steps[120], gradient_norm=spike)
    show(plot, steps)
    low, high = plot.plot.getViewBox().viewRange()[1]
    assert low < 0.0 < high < 2.0 and (math.log10(spike) < high) is is_in_view


def test_a_second_run_is_laid_over(plot: NormPlot) -> None:
    steps, other = list(scenario.steps(40, first=1)), list(scenario.steps(60, first=1, seed=8))
    curves = plot._curves
    show(plot, steps)
    curves.choose_other("other")
    curves.set_found(FoundCurves((), {"other": columns_of(other)}))
    plot.show_steps()
    assert plot._laid_over.getData()[0].tolist() == [step.step for step in other]
    assert plot.plot.view[1] >= 60


norms = st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.none()), min_size=0, max_size=30)


@settings(max_examples=40)
@given(norms)
def test_any_norms_can_be_drawn(qapp: object, values: list[float | None]) -> None:
    state = RunState(ManualClock(scenario.NOW_MS))
    plot = NormPlot(state, Theme("dark"), RunCurves(state, state))
    template = next(scenario.steps(1))
    steps = [replace(template, step=index + 1, gradient_norm=value) for index, value in enumerate(values)]
    show(plot, steps)
    for curve in (plot._raw, plot._before, plot._after, plot._threshold):
        drawn = curve.getData()[1]
        assert drawn is None or np.isfinite(drawn).all()
    low, high = plot.plot.getViewBox().viewRange()[1]
    assert math.isfinite(low) and math.isfinite(high) and low < high
    plot.deleteLater()


@given(st.floats(-30, 30), st.floats(0.5, 40), st.floats(40, 800))
def test_the_axis_is_written_in_plain_numbers_that_have_room(low: float, span: float, size: float) -> None:
    axis = LogAxis("left")
    ((_spacing, places),) = axis.tickValues(low, low + span, size)
    assert 1 <= len(places) <= max(size / 22, 2) + 1
    texts = axis.tickStrings(places, 1.0, 1.0)
    assert len(set(texts)) == len(texts)
    assert all(low - 1e-6 <= place <= low + span + 1e-6 for place in places)


def test_the_wheel_is_left_to_the_panel(plot: NormPlot) -> None:
    show(plot, list(scenario.steps(10)))
    before = plot.plot.getViewBox().viewRange()
    nothing = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        QPointF(100, 100),
        QPointF(100, 100),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        nothing,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot.plot.viewport(), event)
    assert not event.isAccepted()
    assert plot.plot.getViewBox().viewRange() == before
