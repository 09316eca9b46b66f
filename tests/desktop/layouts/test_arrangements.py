from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.arrangements import COMPARE, EVERYTHING, TRAIN, WATCH, Arrangement
from desktop.window import MainWindow
from tests.desktop.conftest import MakeBench

PURPOSES = {
    ActionId.LAYOUT_WATCH: WATCH,
    ActionId.LAYOUT_TRAIN: TRAIN,
    ActionId.LAYOUT_COMPARE: COMPARE,
    ActionId.RESET_LAYOUT: EVERYTHING,
}


def shown(window: MainWindow) -> set[ActionId]:
    return {id_ for id_, dock in window.docks.items() if not dock.isHidden()}


@pytest.mark.parametrize("action_id", list(PURPOSES))
def test_each_purpose_shows_its_docks_in_their_places(make_bench: MakeBench, action_id: ActionId) -> None:
    window = make_bench().window
    window.docks[ActionId.SHOW_LOSS].setFloating(True)
    window.docks[ActionId.SHOW_CHECKPOINTS].close()
    window.actions_of_window[action_id].trigger()
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


def test_a_dock_that_a_purpose_closed_is_opened_again_by_its_key(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.arrange(WATCH)
    window.actions_of_window[ActionId.SHOW_CHECKPOINTS].trigger()
    assert not window.docks[ActionId.SHOW_CHECKPOINTS].isHidden()


def test_every_dock_has_its_place_in_the_default(make_bench: MakeBench) -> None:
    assert EVERYTHING.shown == set(make_bench().window.docks)


def test_a_key_shows_a_dock_that_lies_behind_another_and_hides_the_one_in_front(
    make_bench: MakeBench, qtbot: QtBot
) -> None:
    window = make_bench().window
    log, toggle = window.docks[ActionId.SHOW_LOG], window.actions_of_window[ActionId.SHOW_LOG]
    in_front = window.docks[ActionId.SHOW_CHECKPOINTS]
    qtbot.waitUntil(lambda: not in_front.visibleRegion().isEmpty())
    assert not log.isHidden() and log.visibleRegion().isEmpty(), "open, behind the checkpoints"
    for _ in range(2):
        toggle.trigger()
        qtbot.waitUntil(lambda: not log.visibleRegion().isEmpty())
        assert toggle.isChecked() and in_front.visibleRegion().isEmpty()
        toggle.trigger()
        assert log.isHidden() and not toggle.isChecked()
    toggle.trigger()
    in_front.raise_()
    qtbot.waitUntil(lambda: log.visibleRegion().isEmpty())
    toggle.trigger()
    qtbot.waitUntil(lambda: not log.visibleRegion().isEmpty())
    assert toggle.isChecked()
