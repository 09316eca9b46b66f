from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.layouts.arrangements import COMPARE, TRAIN, WATCH, Arrangement, DockSizes
from desktop.ui.interface_size import set_font
from desktop.window.main_window import MainWindow
from tests.desktop.conftest import Bench

PURPOSES = {
    ActionId.LAYOUT_WATCH: WATCH,
    ActionId.LAYOUT_TRAIN: TRAIN,
    ActionId.LAYOUT_COMPARE: COMPARE,
    ActionId.RESET_LAYOUT: WATCH,
}


def shown(window: MainWindow) -> set[ActionId]:
    return {id_ for id_, dock in window.docks.items() if not dock.isHidden()}


@pytest.fixture
def window(lasting: Bench) -> MainWindow:
    """One window for all tests, with the default layout before each."""
    lasting.window.reset_layout()
    return lasting.window


@pytest.mark.parametrize("action_id", list(PURPOSES))
def test_each_arrangement_shows_its_docks_in_their_places(window: MainWindow, action_id: ActionId) -> None:
    window.docks[ActionId.SHOW_LOSS].setFloating(True)
    window.docks[ActionId.SHOW_CHECKPOINTS].close()
    window.shell.actions[action_id].trigger()
    arrangement: Arrangement = PURPOSES[action_id]
    assert shown(window) == arrangement.shown
    assert not any(dock.isFloating() for dock in window.docks.values())
    column = [window.docks[tabs[0]] for tabs, _share in arrangement.right]
    places = [dock.mapTo(window, dock.rect().topLeft()) for dock in column]
    assert [place.y() for place in places] == sorted({place.y() for place in places}), "one below the other"
    assert all(window.dockWidgetArea(dock) is Qt.DockWidgetArea.RightDockWidgetArea for dock in column)
    for each in arrangement.bottom:
        assert window.dockWidgetArea(window.docks[each]) is Qt.DockWidgetArea.BottomDockWidgetArea
    for tabs, _share in arrangement.right:
        stacked = {dock for dock in window.tabifiedDockWidgets(window.docks[tabs[0]]) if not dock.isHidden()}
        assert stacked == {window.docks[each] for each in tabs[1:]}


def test_a_dock_closed_by_an_arrangement_reopens_by_its_shortcut(window: MainWindow) -> None:
    window.arrange(WATCH)
    window.shell.actions[ActionId.SHOW_CHECKPOINTS].trigger()
    assert not window.docks[ActionId.SHOW_CHECKPOINTS].isHidden()


@pytest.mark.parametrize("action_id", [ActionId.SHOW_EVENTS, ActionId.SHOW_JOBS, ActionId.SHOW_CHECKPOINTS])
def test_a_table_that_is_opened_alone_has_the_width_below_the_chart(
    window: MainWindow, qtbot: QtBot, action_id: ActionId
) -> None:
    window.show_dock(action_id)
    assert window.dockWidgetArea(window.docks[action_id]) is Qt.DockWidgetArea.BottomDockWidgetArea
    dock = window.docks[action_id]
    qtbot.waitUntil(lambda: dock.height() <= WATCH.bottom_px[1] < window.chart.height())  # Qt animates its size
    window.show_dock(ActionId.SHOW_LOSS)
    assert window.dockWidgetArea(window.docks[ActionId.SHOW_LOSS]) is Qt.DockWidgetArea.RightDockWidgetArea


def test_a_shortcut_raises_a_dock_behind_another_and_hides_the_front_one(window: MainWindow, qtbot: QtBot) -> None:
    window.arrange(TRAIN)
    behind, toggle = window.docks[ActionId.SHOW_CHECKPOINTS], window.shell.actions[ActionId.SHOW_CHECKPOINTS]
    in_front = window.docks[ActionId.SHOW_EVENTS]
    qtbot.waitUntil(lambda: not in_front.visibleRegion().isEmpty())
    assert not behind.isHidden() and behind.visibleRegion().isEmpty(), "open, behind the events"
    for _ in range(2):
        toggle.trigger()
        qtbot.waitUntil(lambda: not behind.visibleRegion().isEmpty())
        assert toggle.isChecked() and in_front.visibleRegion().isEmpty()
        toggle.trigger()
        assert behind.isHidden() and not toggle.isChecked()
    toggle.trigger()
    in_front.raise_()
    qtbot.waitUntil(lambda: behind.visibleRegion().isEmpty())
    toggle.trigger()
    qtbot.waitUntil(lambda: not behind.visibleRegion().isEmpty())
    assert toggle.isChecked()


class Beside:
    """A window with one dock at its right, whose text needs a minimum width."""

    def __init__(self, qtbot: QtBot, qapp: QApplication) -> None:
        self._application = qapp
        self.window, self.dock, self._inside = QMainWindow(), QDockWidget(), QWidget()
        qtbot.addWidget(self.window)
        self.window.setCentralWidget(QWidget())
        self.dock.setWidget(self._inside)
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.sizes = DockSizes(self.window, [self.dock])
        self.window.resize(*SMALL)
        self._inside.setMinimumWidth(300)
        with qtbot.waitExposed(self.window):
            self.window.show()
        self.window.resizeDocks([self.dock], [400], Qt.Orientation.Horizontal)

    def make(self, size: tuple[int, int], percent: int, least: int) -> int:
        """A window of this size, and text of that. Returns the dock's width. least: what the text needs of it."""
        self.window.resize(*size)
        self._application.processEvents()
        self.sizes.store()
        set_font(self._application, AppearanceSettings(interface_percent=percent))
        self._inside.setMinimumWidth(least)
        self._application.processEvents()
        self.sizes.scale()
        self._application.processEvents()
        return self.dock.width()


SMALL, LARGE = (1280, 720), (1920, 1080)


@pytest.mark.parametrize("least", [450, 700], ids=["room in its share", "in need of more"])
def test_enlarging_a_window_temporarily_keeps_the_docks_widths(qtbot: QtBot, qapp: QApplication, least: int) -> None:
    beside = Beside(qtbot, qapp)
    assert beside.make(LARGE, 200, least) == 800
    assert beside.make(LARGE, 150, least) == max(least, 600)
    assert beside.make(SMALL, 101, 300) == 404


def test_a_width_dragged_meanwhile_is_the_one_to_scale(qtbot: QtBot, qapp: QApplication) -> None:
    beside = Beside(qtbot, qapp)
    beside.make(LARGE, 150, 450)
    handle, separator = beside.window.windowHandle(), QPoint(beside.dock.geometry().left() - 2, 500)
    there = separator - QPoint(150, 0)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, separator)
    QTest.mouseMove(handle, there)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, there)
    qapp.processEvents()
    by_hand = beside.dock.width()
    assert by_hand > 700
    assert beside.make(SMALL, 101, 300) == pytest.approx(by_hand / 150 * 101, abs=2)
