"""Full screen by F11, and back by F11 or Escape, with docks in place; also after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.store import LayoutStore
from tests.desktop.conftest import Bench, MakeBench, fill

CONTROL = Qt.KeyboardModifier.ControlModifier


def press(bench: Bench, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(bench.window.windowHandle(), key, modifiers)


def places(bench: Bench) -> dict[str, bool]:
    return {dock.objectName(): dock.isVisible() for dock in bench.window.docks.values()}


@pytest.fixture(scope="module")
def filled(lasting: Bench) -> Bench:
    fill(lasting)
    return lasting


@pytest.fixture
def bench(filled: Bench, qtbot: QtBot) -> Iterator[Bench]:
    """One window for all tests, which is neither in full screen nor maximized before each."""
    window = filled.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    filled.chart.setFocus()
    yield filled
    window.showNormal()


@pytest.mark.parametrize("key", [Qt.Key.Key_F11, Qt.Key.Key_Escape])
def test_full_screen_toggles(bench: Bench, key: Qt.Key) -> None:
    window, action = bench.window, bench.shell.actions[ActionId.FULL_SCREEN]
    before, docks = window.geometry(), places(bench)
    press(bench, Qt.Key.Key_F11)
    assert window.isFullScreen() and action.isChecked()
    assert window.geometry() == window.screen().geometry() and places(bench) == docks
    press(bench, key)
    assert not window.isFullScreen() and not action.isChecked()
    assert window.geometry() == before and places(bench) == docks


def test_escape_first_deselects_on_the_chart(bench: Bench) -> None:
    press(bench, Qt.Key.Key_F11)
    press(bench, Qt.Key.Key_Left, CONTROL)
    assert bench.chart.key_mark is not None
    press(bench, Qt.Key.Key_Escape)
    assert bench.chart.key_mark is None and bench.window.isFullScreen()
    press(bench, Qt.Key.Key_Escape)
    assert not bench.window.isFullScreen()


def test_escape_in_a_panel_leaves_full_screen_and_otherwise_does_nothing(bench: Bench) -> None:
    window = bench.window
    window.show_dock(ActionId.SHOW_CHECKPOINTS)
    for widget in (window.panels.checkpoints.table, bench.chart):
        press(bench, Qt.Key.Key_F11)
        assert window.isFullScreen()
        assert isinstance(widget, QWidget)
        widget.setFocus()
        press(bench, Qt.Key.Key_Escape)
        assert not window.isFullScreen()
    press(bench, Qt.Key.Key_Escape)
    assert window.isVisible() and not window.isFullScreen()


def test_leaving_full_screen_restores_a_maximized_window(bench: Bench) -> None:
    bench.window.showMaximized()
    press(bench, Qt.Key.Key_F11)
    assert bench.window.isFullScreen()
    press(bench, Qt.Key.Key_F11)
    assert bench.window.isMaximized() and not bench.window.isFullScreen()


def test_the_action_follows_the_window_manager(bench: Bench) -> None:
    action = bench.shell.actions[ActionId.FULL_SCREEN]
    bench.window.showFullScreen()
    assert action.isChecked()
    bench.window.showNormal()
    assert not action.isChecked()


@pytest.mark.parametrize("is_maximized", [False, True])
def test_full_screen_is_restored_at_the_next_start(
    make_bench: MakeBench, tmp_path: Path, qtbot: QtBot, is_maximized: bool
) -> None:
    store = LayoutStore(tmp_path / "layout.json")
    first = make_bench(layout_store=store)
    first.window.activateWindow()
    qtbot.waitUntil(first.window.isActiveWindow)
    first.window.resize(760, 700)  # within the screen of the tests
    first.window.move(20, 30)
    before = first.window.geometry()
    if is_maximized:
        first.window.showMaximized()
    press(first, Qt.Key.Key_F11)
    assert first.window.isFullScreen()
    first.window.close()
    again = make_bench(layout_store=store)
    assert not again.window.isFullScreen() and again.window.isMaximized() is is_maximized
    assert not again.window.shell.actions[ActionId.FULL_SCREEN].isChecked()
    if not is_maximized:
        assert again.window.geometry() == before
