"""Layouts saved under one release of Qt open under another."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from desktop.actions import ActionId
from desktop.layouts.store import LayoutStore
from desktop.window.main_window import MainWindow
from tests.desktop.conftest import MakeBench

SAVED = Path(__file__).parent / "saved"


def change_layout(window: MainWindow) -> None:
    """What the saved files hold: a size, a closed dock and one on another side."""
    window.resize(780, 700)
    window.docks[ActionId.SHOW_LOSS].close()
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, window.docks[ActionId.SHOW_FEED])


@pytest.mark.parametrize("release", ["6.9.3", "6.11.3", "6.12.0"])
def test_a_layout_of_another_release_is_restored(make_bench: MakeBench, tmp_path: Path, release: str) -> None:
    shutil.copy(SAVED / f"{release}.json", tmp_path / "layout.json")
    window = make_bench(layout_store=LayoutStore(tmp_path / "layout.json")).window
    assert (window.width(), window.height()) == (780, 700)
    assert window.docks[ActionId.SHOW_LOSS].isHidden() and not window.docks[ActionId.SHOW_ACCURACY].isHidden()
    assert window.dockWidgetArea(window.docks[ActionId.SHOW_FEED]) == Qt.DockWidgetArea.LeftDockWidgetArea
