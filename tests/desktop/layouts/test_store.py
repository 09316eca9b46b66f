from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.layouts.arrangements import WATCH, DockSizes
from desktop.layouts.store import LAYOUT_VERSION, LayoutStore
from desktop.ui.interface_size import InterfaceSize, enlarged, follow_interface_size, interface_factor, set_font
from tests.desktop.conftest import MakeBench


def test_size_and_docks_are_restored(make_bench: MakeBench, tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "layout.json")
    first = make_bench(layout_store=store).window
    first.resize(780, 700)  # the offscreen screen is 800 x 800
    first.docks[ActionId.SHOW_MARKETS].close()
    first.close()
    second = make_bench(layout_store=store).window
    assert (second.width(), second.height()) == (780, 700)
    assert second.docks[ActionId.SHOW_MARKETS].isHidden()
    assert not second.docks[ActionId.SHOW_ACCURACY].isHidden()


def test_a_layout_with_a_dock_that_no_longer_exists_is_restored(make_bench: MakeBench, tmp_path: Path) -> None:
    """Leaderboard was a separate dock, and is a page of Accuracy."""
    store = LayoutStore(tmp_path / "layout.json")
    first = make_bench(layout_store=store).window
    former = QDockWidget("Leaderboard", first)
    former.setObjectName("dock_leaderboard")
    first.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, former)
    first.tabifyDockWidget(first.docks[ActionId.SHOW_CHECKPOINTS], former)
    first.show_dock(ActionId.SHOW_CHECKPOINTS)
    first.docks[ActionId.SHOW_MARKETS].close()
    first.close()
    again = LayoutStore(tmp_path / "layout.json")
    second = make_bench(layout_store=again).window
    assert again.notice is None and second.docks[ActionId.SHOW_MARKETS].isHidden()
    assert not second.docks[ActionId.SHOW_ACCURACY].isHidden()
    assert not second.docks[ActionId.SHOW_CHECKPOINTS].isHidden()


def test_docks_of_a_small_window_on_a_large_screen_are_as_wide_and_high_at_the_next_start(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start text has the screen's size: docks laid out for it get its minimum sizes."""
    monkeypatch.setattr("desktop.ui.interface_size._factor_of_screen", lambda: 1.5)
    appearance = AppearanceSettings()
    store = LayoutStore(tmp_path / "layout.json", appearance)

    def started() -> tuple[QMainWindow, list[QDockWidget]]:
        set_font(qapp, AppearanceSettings(interface_percent=150))
        window = QMainWindow()
        qtbot.addWidget(window)
        window.setCentralWidget(QWidget())
        areas = Qt.DockWidgetArea
        docks = [dock_of_text(window, area) for area in (areas.RightDockWidgetArea, areas.BottomDockWidgetArea)]
        if not store.restore(window):
            window.resize(780, 700)  # the offscreen screen is 800 x 800
        DockSizes(window, docks).follow(InterfaceSize(window, appearance))
        window.show()
        for _ in range(6):
            qapp.processEvents()
        assert interface_factor() == 1.0
        return window, docks

    window, (right, bottom) = started()
    window.resizeDocks([right], [330], Qt.Orientation.Horizontal)
    window.resizeDocks([bottom], [170], Qt.Orientation.Vertical)
    qapp.processEvents()
    assert (right.width(), bottom.height()) == (330, 170)
    assert store.save(window)
    window.close()
    _, (right, bottom) = started()
    assert (right.width(), bottom.height()) == (330, 170)


def dock_of_text(window: QMainWindow, area: Qt.DockWidgetArea) -> QDockWidget:
    """Its text needs 300 x 150 pixels, and more with larger text."""
    dock, inside = QDockWidget(), QWidget()
    dock.setObjectName(area.name)
    dock.setWidget(inside)
    follow_interface_size(inside, lambda: inside.setMinimumSize(enlarged(300), enlarged(150)))
    window.addDockWidget(area, dock)
    return dock


def test_a_broken_file_gives_the_default_layout_says_so_and_is_kept(make_bench: MakeBench, tmp_path: Path) -> None:
    path = tmp_path / "layout.json"
    path.write_bytes(b"\x00\xffnot a layout")
    store = LayoutStore(path)
    window = make_bench(layout_store=store).window
    assert {each for each, dock in window.docks.items() if not dock.isHidden()} == WATCH.shown
    assert store.notice is not None and "damaged" in store.notice
    copy = tmp_path / "layout.json.bak"
    assert str(copy) in store.notice and copy.read_bytes() == path.read_bytes()


def test_docks_are_restored_even_if_the_windows_position_is_not(make_bench: MakeBench, tmp_path: Path) -> None:
    """As on another screen, or at another scale: Qt then refuses the window's position."""
    store = LayoutStore(tmp_path / "layout.json")
    first = make_bench(layout_store=store).window
    first.docks[ActionId.SHOW_MARKETS].close()
    first.close()
    layouts = store._read()
    assert layouts is not None
    store._write(replace(layouts, geometry=base64.b64encode(b"of another screen").decode()))
    again = LayoutStore(tmp_path / "layout.json")
    second = make_bench(layout_store=again).window
    assert second.docks[ActionId.SHOW_MARKETS].isHidden() and not second.docks[ActionId.SHOW_ACCURACY].isHidden()
    assert again.notice is None and second.width() > 0.9 * second.screen().availableGeometry().width()


def test_a_layout_that_was_changed_is_not_passed_to_qt(make_bench: MakeBench, tmp_path: Path) -> None:
    path = tmp_path / "layout.json"
    window = make_bench().window
    assert LayoutStore(path).save(window)
    content = json.loads(path.read_text())
    blob = bytearray(base64.b64decode(content["docks"]))
    blob[-1] ^= 1
    path.write_text(json.dumps({**content, "docks": base64.b64encode(blob).decode()}))
    store = LayoutStore(path)
    assert not store.restore(window)
    assert store.notice is not None and "damaged" in store.notice


@pytest.mark.parametrize("version", [LAYOUT_VERSION - 1, LAYOUT_VERSION + 1])
def test_a_layout_of_another_version_is_ignored(make_bench: MakeBench, tmp_path: Path, version: int) -> None:
    store = LayoutStore(tmp_path / "layout.json")
    window = make_bench().window
    assert store.save(window)
    path = tmp_path / "layout.json"
    path.write_text(path.read_text().replace(f'"version": {LAYOUT_VERSION}', f'"version": {version}'))
    assert store.restore(window) is False and "another version" in (store.notice or "")


def test_a_read_only_folder_is_not_an_error(make_bench: MakeBench, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    assert LayoutStore(blocker / "layout.json").save(make_bench().window) is False


def test_reset_restores_closed_and_floating_docks(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.docks[ActionId.SHOW_MARKETS].close()
    window.docks[ActionId.SHOW_ACCURACY].setFloating(True)
    window.shell.actions[ActionId.RESET_LAYOUT].trigger()
    markets, accuracy = (window.docks[each] for each in (ActionId.SHOW_MARKETS, ActionId.SHOW_ACCURACY))
    assert not any(dock.isHidden() or dock.isFloating() for dock in (markets, accuracy))
    assert markets.geometry().bottom() < accuracy.geometry().top()
    assert markets.geometry().left() > window.chart.mapTo(window, window.chart.rect().topRight()).x()
