from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.arrangements import TRAIN, WATCH
from desktop.layouts.store import LayoutStore
from desktop.window.main_window import MainWindow
from tests.desktop.conftest import MakeBench


@pytest.fixture
def store(tmp_path: Path) -> LayoutStore:
    return LayoutStore(tmp_path / "layout.json")


@pytest.fixture
def window(make_bench: MakeBench, store: LayoutStore) -> MainWindow:
    return make_bench(layout_store=store).window


def opened(window: MainWindow) -> list[str]:
    menu = window.shell.actions.menu_of(ActionId.KEEP_LAYOUT)
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def choose(window: MainWindow, name: str) -> None:
    menu = window.shell.actions.menu_of(ActionId.KEEP_LAYOUT)
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == name).trigger()


def keep(qtbot: QtBot, window: MainWindow, name: str) -> None:
    window.shell.actions[ActionId.KEEP_LAYOUT].trigger()
    (dialog,) = window.findChildren(QInputDialog)
    line = dialog.findChild(QLineEdit)
    assert line is not None
    qtbot.keyClicks(line, name)
    qtbot.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.findChildren(QInputDialog))


def test_a_layout_that_is_kept_comes_back_also_in_another_window(
    qtbot: QtBot, window: MainWindow, make_bench: MakeBench, store: LayoutStore
) -> None:
    window.arrange(WATCH)
    keep(qtbot, window, "Mine & theirs/all=2")
    window.arrange(TRAIN)
    other = make_bench(layout_store=store).window
    for each in (window, other):
        assert "Mine && theirs/all=2" in opened(each)
        choose(each, "Mine && theirs/all=2")
        assert {id_ for id_, dock in each.docks.items() if not dock.isHidden()} == WATCH.shown


def test_one_of_the_same_name_is_replaced_and_one_that_is_dropped_is_gone(
    qtbot: QtBot, window: MainWindow, store: LayoutStore
) -> None:
    for arrangement in (WATCH, TRAIN):
        window.arrange(arrangement)
        keep(qtbot, window, "Mine")
    keep(qtbot, window, "Other")
    assert store.names() == ("Mine", "Other")
    window.arrange(WATCH)
    choose(window, "Mine")
    assert not window.docks[ActionId.SHOW_LOG].isHidden()
    opened(window)
    menu = window.shell.actions.menu_of(ActionId.KEEP_LAYOUT)
    (forget,) = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert isinstance(forget, QMenu)
    forget.actions()[0].trigger()
    assert store.names() == ("Other",)
    assert "Mine" not in opened(window)


def test_a_layout_without_a_name_is_not_kept_and_that_is_said(window: MainWindow, store: LayoutStore) -> None:
    window.layouts.keep("  ")
    assert store.names() == () and "needs a name" in window.banner.text.text()


def test_one_of_other_docks_changes_nothing_and_says_why(window: MainWindow, store: LayoutStore) -> None:
    store._write_kept(store._read().layouts, "Old", window.saveState(1))
    before = window.saveState()
    choose(window, "Old")
    assert window.saveState() == before and "another version" in window.banner.text.text()


def test_what_is_kept_outlives_the_forgetting_of_the_last_layout(window: MainWindow, store: LayoutStore) -> None:
    window.layouts.keep("Mine")
    store.save(window)
    store.forget()
    assert store.names() == ("Mine",) and not store.restore(window)


def test_without_a_file_nothing_is_kept_and_that_is_said(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.layouts.keep("Mine")
    assert "safe mode" in window.banner.text.text()
