"""Layout files that are garbage, of another version, or for a removed screen."""

from __future__ import annotations

import json
import pickle
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.storage.folder import DataFolder
from desktop.layouts.store import LAYOUT_VERSION, LayoutStore
from tests.desktop.conftest import Bench, MakeBench
from tests.hostile.spied import MOVE
from tests.hostile.windows import TRACEBACK, window
from tests.support import commands

pytestmark = pytest.mark.hostile

LEFT = {"name": "left", "x": 0, "y": 0, "width": 1280, "height": 800, "logicalDpi": 96, "dpr": 1}
RIGHT = {**LEFT, "name": "right", "x": 1280}


class Harmful:
    """Unpickling it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench()


def a_layout(**changes: object) -> bytes:
    rubbish = b64encode(bytes(range(200))).decode()
    return json.dumps({"version": LAYOUT_VERSION, "geometry": rubbish, "docks": rubbish, **changes}).encode()


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400))
@example(content=b"")
@example(content=b"[" * 100_000)
@example(content=b"[]")
@example(content=a_layout())
@example(content=a_layout(geometry="not base64", docks="\u20ac"))
@example(content=a_layout(version="four"))
@example(content=a_layout(kept=[1, 2]))
@example(content=a_layout(more=1))
def test_any_layout_file_falls_back_to_the_default_and_can_be_saved(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("layouts") / "layout.json"
    path.write_bytes(content)
    store = LayoutStore(path)
    docks = bench.window.saveState(LAYOUT_VERSION)
    assert store.restore(bench.window) is False and store.names() == ()
    assert bench.window.saveState(LAYOUT_VERSION) == docks, "nothing of it was taken"
    assert store.notice is not None and store.notice.endswith(f"{path}.bak.")
    assert path.with_name("layout.json.bak").read_bytes() == content
    assert store.save(bench.window) and store.save_as(bench.window, "Mine") and store.names() == ("Mine",)
    assert LayoutStore(path).restore(bench.window)


def test_a_layout_executes_nothing(bench: Bench, tmp_path: Path) -> None:
    """Qt's own settings files may hold pickles, which PySide loads when it reads them; this file is none of those."""
    victim = tmp_path / "it ran"
    harmful = b64encode(pickle.dumps(Harmful(victim))).decode()
    (tmp_path / "layout.json").write_bytes(a_layout(geometry=harmful, docks=harmful, kept={"Mine": harmful}))
    store = LayoutStore(tmp_path / "layout.json")
    assert not store.restore(bench.window) and not store.apply(bench.window, "Mine")
    (tmp_path / "layout.ini").write_text(f"[window]\ngeometry=@Variant({harmful})\n")
    assert not LayoutStore(tmp_path / "layout.ini").restore(bench.window)
    assert not victim.exists()


def screens(folder: Path, *of: dict[str, object]) -> str:
    """Qt's offscreen platform with these screens."""
    path = folder / f"screens-{len(of)}.json"
    path.write_text(json.dumps({"screens": of}))
    return f"offscreen:configfile={path}"


@pytest.mark.slow
def test_a_window_of_a_removed_screen_opens_on_an_existing_one(tmp_path: Path) -> None:
    """The user drags it onto the second screen; the next start finds only the first."""
    folder = DataFolder(tmp_path / "data")
    commands.configure(folder.root)
    both = screens(tmp_path, LEFT, RIGHT)
    with window(folder.root, "--feed", "simulate", platform=both, **{MOVE: "1350,40"}) as opened:
        opened.wait_for(lambda said: bool(said.get("window")) and said["place"][0] >= 1350, "a window that was dragged")
        assert opened.close() == 0
    with window(folder.root, "--feed", "simulate", platform=screens(tmp_path, LEFT)) as opened:
        said = opened.wait_for(lambda said: bool(said.get("window")) and said["place"][0] < 1280, "a window in view")
        x, y, _width, _height = said["place"]
        assert 0 <= x < 1280 - 120 and 0 <= y < 800 - 30, "its title is within reach"
        assert opened.close() == 0 and TRACEBACK not in opened.errors


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), part=st.sampled_from(["docks", "geometry"]))
def test_a_changed_byte_of_the_qt_state_is_detected_and_not_passed_to_qt(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, part: str
) -> None:
    """11 of 600 such changes were a segmentation fault in restoreState, at every start."""
    path = tmp_path_factory.mktemp("layouts") / "layout.json"
    assert LayoutStore(path).save(bench.window)
    content = json.loads(path.read_text())
    blob = bytearray(b64decode(content[part]))
    if blob[place % len(blob)] == byte:
        return
    blob[place % len(blob)] = byte
    path.write_text(json.dumps({**content, part: b64encode(blob).decode()}))
    store = LayoutStore(path)
    assert not store.restore(bench.window)
    assert store.notice is not None and "damaged" in store.notice
