"""Layouts saved under one release of Qt open under another, also with docks that no longer exist."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from desktop.actions import ActionId
from desktop.layouts.store import LayoutStore
from tests.desktop.conftest import MakeBench

SAVED = Path(__file__).parent / "saved"
"""A window of 780 x 700 with all docks of version 6 but the closed one of the loss. That of the feed is on the left."""


@pytest.mark.parametrize("release", ["6.9.3", "6.11.3", "6.12.0"])
def test_a_layout_of_another_release_is_restored(make_bench: MakeBench, tmp_path: Path, release: str) -> None:
    shutil.copy(SAVED / f"{release}.json", tmp_path / "layout.json")
    store = LayoutStore(tmp_path / "layout.json")
    window = make_bench(layout_store=store).window
    assert store.notice is None
    assert (window.width(), window.height()) == (780, 700)
    assert window.docks[ActionId.SHOW_LOSS].isHidden() and not window.docks[ActionId.SHOW_ACCURACY].isHidden()
    events = window.docks[ActionId.SHOW_EVENTS]
    assert not events.isHidden() and window.dockWidgetArea(events) is Qt.DockWidgetArea.BottomDockWidgetArea
