"""Curves over steps are zoomed and moved along the steps by the mouse, and follow new steps until then."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.ui.plots import NumberAxis
from desktop.ui.step_plot import StepPlot, step_plot
from desktop.ui.theme import Theme

NONE, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
MIDDLE = QPoint(220, 80)


def shown(qtbot: QtBot, theme: Theme, *, needs_control: bool = False) -> StepPlot:
    plot = step_plot("Curves", NumberAxis, theme, needs_control=needs_control)
    qtbot.addWidget(plot)
    plot.resize(400, 160)
    with qtbot.waitExposed(plot):
        plot.show()
    plot.set_extent(1.0, 1_000.0)
    return plot


@pytest.fixture
def plot(qtbot: QtBot, theme: Theme) -> StepPlot:
    return shown(qtbot, theme)


def turn(plot: StepPlot, angle: int = 120, modifiers: Qt.KeyboardModifier = NONE) -> bool:
    """Turn the wheel over the middle. Returns whether the plot took it."""
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    place = QPointF(MIDDLE)
    turned = QWheelEvent(place, place, QPoint(), QPoint(0, angle), buttons, modifiers, phase, False)
    QApplication.sendEvent(plot.viewport(), turned)
    return turned.isAccepted()


def test_it_follows_its_steps(plot: StepPlot) -> None:
    assert plot.view == pytest.approx((1.0, 1_000.0), abs=20)
    plot.set_extent(101.0, 1_100.0)
    assert plot.view == pytest.approx((101.0, 1_100.0), abs=20) and not plot.is_zoomed


def test_the_wheel_zooms_around_the_mouse_and_a_double_click_shows_all(qtbot: QtBot, plot: StepPlot) -> None:
    place = plot.getViewBox().mapSceneToView(QPointF(MIDDLE)).x()
    with qtbot.waitSignal(plot.view_changed):
        assert turn(plot)
    low, high = plot.view
    assert plot.is_zoomed and high - low < 950
    assert plot.getViewBox().mapSceneToView(QPointF(MIDDLE)).x() == pytest.approx(place, abs=5)
    plot.set_extent(1.0, 1_010.0)
    assert plot.view == pytest.approx((low, high)), "further steps do not move it"
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, NONE, MIDDLE)
    assert not plot.is_zoomed and plot.view == pytest.approx((1.0, 1_010.0), abs=20)


def test_zooming_out_ends_at_all_steps_and_follows_again(plot: StepPlot) -> None:
    turn(plot)
    for _ in range(20):
        turn(plot, -120)
    assert not plot.is_zoomed and plot.view == pytest.approx((1.0, 1_000.0), abs=20)


def test_dragging_moves_the_view_within_the_steps(qtbot: QtBot, plot: StepPlot) -> None:
    for _ in range(10):
        turn(plot)
    low, high = plot.view
    QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, NONE, MIDDLE)
    places = itertools.cycle((100, 150))

    def is_moved() -> bool:
        QTest.mouseMove(plot.viewport(), MIDDLE - QPoint(next(places), 0))
        return plot.view[0] > low

    qtbot.waitUntil(is_moved)  # pyqtgraph leaves out moves that follow too soon
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, NONE, MIDDLE - QPoint(150, 0))
    moved = plot.view
    assert moved[0] > low and moved[1] - moved[0] == pytest.approx(high - low)
    assert moved[1] <= 1_020.0


def test_where_the_wheel_scrolls_it_zooms_with_control_only(qtbot: QtBot, theme: Theme) -> None:
    plot = shown(qtbot, theme, needs_control=True)
    before = plot.view
    assert not turn(plot) and plot.view == before
    assert turn(plot, modifiers=CONTROL) and plot.is_zoomed


def test_a_plot_that_was_high_does_not_ask_for_that_height(qtbot: QtBot, theme: Theme) -> None:
    """Regression: in the dock of a layout it needed scrolling, as it had once been higher."""
    plot = shown(qtbot, theme)
    before = plot.sizeHint()
    plot.resize(900, 900)
    QApplication.processEvents()
    assert plot.sizeHint() == before and before.height() < 200


@pytest.mark.parametrize("x", [90, 220, 390])
def test_numbers_lie_inside_the_plot_beside_their_step(plot: StepPlot, x: int) -> None:
    QTest.mouseMove(plot.viewport(), QPoint(x, 80))
    assert plot.pointer is not None
    plot.show_readout(plot.pointer, ["Training  0.3127"])
    assert plot.readout.isVisible() and plot.rect().contains(plot.readout.geometry())
    assert not plot.readout.geometry().contains(QPoint(x, plot.readout.y() + 1))
    plot.hide_readout()
    assert not plot.readout.isVisible()
