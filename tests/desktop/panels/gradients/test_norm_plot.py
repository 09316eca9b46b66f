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

from core.domain.events import StepDone
from desktop.panels.gradients.norm_plot import NormPlot
from desktop.state.step_history import StepHistory
from desktop.ui.plots import LogAxis
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


def history(steps: list[StepDone]) -> StepHistory:
    result = StepHistory()
    for step in steps:
        result.add(step)
    return result


@pytest.fixture
def plot(qtbot: QtBot, theme: Theme) -> NormPlot:
    plot = NormPlot(theme)
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
    plot.show_steps(history(steps))
    clipped = next(step for step in steps[5:] if step.clipped)
    point_at(plot, clipped.step)
    qtbot.waitUntil(plot.readout.isVisible)
    lines = plot.readout.text().splitlines()
    assert lines[0] == f"Step {clipped.step:,}"
    assert lines[1] == f"Before clipping  {clipped.gradient_norm:.2f}"
    assert "After clipping  1.00" in lines and "Clipped at 1.00" in lines
    assert plot.plot.rect().contains(plot.readout.geometry())


def test_after_clipping_the_curve_is_as_high_as_the_threshold_lets_it(plot: NormPlot, theme: Theme) -> None:
    steps = [
        replace(step, gradient_norm=100.0, clip_norm=1.0, gradients=replace(step.gradients, norm_after=1.0))
        for step in scenario.steps(40)
        if step.gradients is not None
    ]
    plot.show_steps(history(steps))
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
    plot.show_steps(history([*steps[:20], skipped, *steps[21:]]))
    point_at(plot, skipped.step)
    qtbot.waitUntil(lambda: reason in plot.readout.text())
    assert "nan" not in plot.readout.text().lower()
    assert plot.plot.rect().contains(plot.readout.geometry())
    assert plot.readout.height() >= plot.readout.heightForWidth(plot.readout.width())


def test_the_numbers_go_when_the_mouse_goes(qtbot: QtBot, plot: NormPlot) -> None:
    plot.show_steps(history(list(scenario.steps(10))))
    point_at(plot, 11_545)
    qtbot.waitUntil(plot.readout.isVisible)
    QApplication.sendEvent(plot.plot, QEvent(QEvent.Type.Leave))
    assert not plot.readout.isVisible()


def test_clipped_and_skipped_steps_are_marked(plot: NormPlot) -> None:
    steps = list(scenario.steps(100))
    plot.show_steps(history(steps))
    feet = set(plot._clipped.getData()[0].tolist())
    assert feet == {float(step.step) for step in steps if step.clipped}
    assert plot._skipped.getData()[0].tolist() == [float(steps[50].step)]


def test_a_spike_and_the_threshold_are_in_view(plot: NormPlot) -> None:
    steps = list(scenario.steps(200))
    steps[120] = replace(steps[120], gradient_norm=4e7)
    plot.show_steps(history(steps))
    low, high = plot.plot.getViewBox().viewRange()[1]
    assert low < 0.0 < math.log10(4e7) < high


norms = st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.none()), min_size=0, max_size=30)


@settings(max_examples=40)
@given(norms)
def test_any_norms_can_be_drawn(qapp: object, values: list[float | None]) -> None:
    plot = NormPlot(Theme("dark"))
    template = next(scenario.steps(1))
    steps = [replace(template, step=index + 1, gradient_norm=value) for index, value in enumerate(values)]
    plot.show_steps(history(steps))
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
    plot.show_steps(history(list(scenario.steps(10))))
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
