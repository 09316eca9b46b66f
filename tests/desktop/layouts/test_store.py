from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from desktop.actions import ActionId
from desktop.layouts.store import LAYOUT_VERSION, LayoutStore
from tests.desktop.conftest import MakeBench


def test_size_and_docks_come_back(make_bench: MakeBench, tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "layout.json")
    first = make_bench(layout_store=store).window
    first.resize(780, 700)  # the offscreen screen is 800 x 800
    first.docks[ActionId.SHOW_LOSS].close()
    first.close()
    second = make_bench(layout_store=store).window
    assert (second.width(), second.height()) == (780, 700)
    assert second.docks[ActionId.SHOW_LOSS].isHidden()
    assert not second.docks[ActionId.SHOW_ACCURACY].isHidden()


def test_a_broken_file_gives_the_default_layout_says_so_and_is_kept(make_bench: MakeBench, tmp_path: Path) -> None:
    path = tmp_path / "layout.json"
    path.write_bytes(b"\x00\xffnot a layout")
    store = LayoutStore(path)
    window = make_bench(layout_store=store).window
    assert all(not dock.isHidden() for dock in window.docks.values())
    assert store.notice is not None and "cannot be read" in store.notice
    (kept,) = (tmp_path / "quarantine").iterdir()
    assert str(kept) in store.notice and kept.read_bytes() == path.read_bytes()


def test_the_panels_come_back_where_the_window_cannot_be_where_it_was(make_bench: MakeBench, tmp_path: Path) -> None:
    """As on another screen, or at another scale: Qt then refuses the window's place."""
    store, path = LayoutStore(tmp_path / "layout.json"), tmp_path / "layout.json"
    first = make_bench(layout_store=store).window
    first.docks[ActionId.SHOW_LOSS].close()
    first.close()
    kept = json.loads(path.read_text()) | {"checksum": None}
    path.write_text(json.dumps({**kept, "geometry": base64.b64encode(b"of another screen").decode()}))
    again = LayoutStore(path)
    second = make_bench(layout_store=again).window
    assert second.docks[ActionId.SHOW_LOSS].isHidden() and not second.docks[ActionId.SHOW_ACCURACY].isHidden()
    assert again.notice is None and not (tmp_path / "quarantine").exists()


@pytest.mark.parametrize("version", [LAYOUT_VERSION - 1, LAYOUT_VERSION + 1])
def test_a_layout_of_another_version_is_not_taken(make_bench: MakeBench, tmp_path: Path, version: int) -> None:
    store = LayoutStore(tmp_path / "layout.json")
    window = make_bench().window
    assert store.save(window)
    path = tmp_path / "layout.json"
    path.write_text(path.read_text().replace(f'"version": {LAYOUT_VERSION}', f'"version": {version}'))
    assert store.restore(window) is False and "another version" in (store.notice or "")


def test_a_folder_that_cannot_be_written_is_no_error(make_bench: MakeBench, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    assert LayoutStore(blocker / "layout.json").save(make_bench().window) is False


def test_reset_brings_closed_and_floating_docks_back(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.docks[ActionId.SHOW_LOSS].close()
    window.docks[ActionId.SHOW_ACCURACY].setFloating(True)
    window.actions_of_window[ActionId.RESET_LAYOUT].trigger()
    assert all(not dock.isHidden() and not dock.isFloating() for dock in window.docks.values())
    assert window.docks[ActionId.SHOW_GRADIENTS] in window.tabifiedDockWidgets(window.docks[ActionId.SHOW_LOSS])
    loss, accuracy = (window.docks[each].geometry() for each in (ActionId.SHOW_LOSS, ActionId.SHOW_ACCURACY))
    assert loss.bottom() < accuracy.top()
    assert loss.left() > window.chart.mapTo(window, window.chart.rect().topRight()).x()
