from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QInputDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.arrangements import TRAIN, WATCH
from desktop.layouts.store import LayoutStore
from desktop.ui.icons import icon
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


def test_the_question_for_a_name_has_the_icons_of_other_dialogs(window: MainWindow) -> None:
    """Regression: Qt adds these buttons when the dialog is shown, so they kept the style's own."""
    window.shell.actions[ActionId.KEEP_LAYOUT].trigger()
    (dialog,) = window.findChildren(QInputDialog)
    box = dialog.findChild(QDialogButtonBox)
    assert box is not None
    ok = box.button(QDialogButtonBox.StandardButton.Ok)
    ours = icon("check", dialog.palette().buttonText().color())
    assert ok.icon().pixmap(16).toImage() == ours.pixmap(16).toImage()
    dialog.reject()


def test_a_saved_layout_is_restored_also_in_another_window(
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


def test_saving_under_the_same_name_replaces_and_deleting_removes(
    qtbot: QtBot, window: MainWindow, store: LayoutStore
) -> None:
    for arrangement in (WATCH, TRAIN):
        window.arrange(arrangement)
        keep(qtbot, window, "Mine")
    keep(qtbot, window, "Other")
    assert store.names() == ("Mine", "Other")
    window.arrange(WATCH)
    choose(window, "Mine")
    assert not window.docks[ActionId.SHOW_LOSS].isHidden()
    opened(window)
    menu = window.shell.actions.menu_of(ActionId.KEEP_LAYOUT)
    _, forget = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert isinstance(forget, QMenu)
    forget.actions()[0].trigger()
    assert store.names() == ("Other",)
    assert "Mine" not in opened(window)


def test_a_layout_gets_another_name_and_stays_what_it_is(qtbot: QtBot, window: MainWindow, store: LayoutStore) -> None:
    window.arrange(WATCH)
    keep(qtbot, window, "Mine")
    opened(window)
    menu = window.shell.actions.menu_of(ActionId.KEEP_LAYOUT)
    rename, _ = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert isinstance(rename, QMenu)
    rename.actions()[0].trigger()
    dialog = window.findChild(QInputDialog)
    assert dialog is not None and dialog.textValue() == "Mine"
    dialog.setTextValue(" At  work ")
    dialog.accept()
    assert store.names() == ("At work",)
    window.arrange(TRAIN)
    choose(window, "At work")
    assert {id_ for id_, dock in window.docks.items() if not dock.isHidden()} == WATCH.shown
    window.layouts.rename("At work", " ")
    assert store.names() == ("At work",) and "needs a name" in window.banner.text.text()


def test_a_layout_without_a_name_is_not_saved_and_reported(window: MainWindow, store: LayoutStore) -> None:
    window.layouts.save("  ")
    assert store.names() == () and "needs a name" in window.banner.text.text()


def test_a_layout_with_other_docks_changes_nothing_and_is_reported(window: MainWindow, store: LayoutStore) -> None:
    old = b64encode(window.saveState(1).data()).decode()
    store._write(replace(store._layouts, kept={"Old": old}))
    before = window.saveState()
    choose(window, "Old")
    assert window.saveState() == before and "another version" in window.banner.text.text()


def test_saved_layouts_survive_forgetting_the_last_layout(window: MainWindow, store: LayoutStore) -> None:
    window.layouts.save("Mine")
    store.save(window)
    store.forget()
    assert store.names() == ("Mine",) and not store.restore(window)


def test_without_a_file_nothing_is_saved_and_the_menu_says_so(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.layouts.save("Mine")
    assert "safe mode" in window.banner.text.text()
