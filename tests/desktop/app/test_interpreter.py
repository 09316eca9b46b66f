"""Imported objects are frozen out of garbage collection; later ones are collected."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref

import pytest
from pytestqt.qtbot import QtBot

from desktop.app import interpreter
from desktop.app.interpreter import collected_here
from tests.support import commands

CODE = """
import gc, weakref
import desktop.app.running
from desktop.app.interpreter import freeze_imports

class Node:
    pass

before = len(gc.get_objects())
freeze_imports()
left = len(gc.get_objects())
node = Node()
node.itself = node
gone = weakref.ref(node)
del node
gc.collect()
print(before, left, gone() is None)
"""


@pytest.mark.slow
def test_a_collection_skips_imported_objects_and_frees_later_ones() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    before, left, is_gone = done.stdout.split()
    assert int(before) > 50_000 and int(left) < int(before) / 20
    assert is_gone == "True"


FRAMES = """
import gc
from tests.benchmarks import __main__ as program

program.measure_frames = lambda *given: {"left_out": gc.get_freeze_count()}
program.benchmarks(["frames", "--host", "none", "--seconds", "1"])
"""


def test_frames_beside_a_trainer_are_timed_with_the_windows_collections() -> None:
    done = subprocess.run([sys.executable, "-c", FRAMES], capture_output=True, text=True, check=True, cwd=commands.ROOT)
    assert json.loads(done.stdout)["left_out"] > 50_000


def test_cycles_of_another_thread_are_destroyed_on_the_windows_thread(qtbot: QtBot) -> None:
    destroyed_by = set[int]()

    class Node:
        def __del__(self) -> None:
            destroyed_by.add(threading.get_ident())

    def leave_cycles() -> None:
        for _ in range(10 * gc.get_threshold()[0]):
            node = Node()
            node.itself = node  # type: ignore[attr-defined]

    gc.enable()  # as at the program's start, not as in a test
    with collected_here():
        thread = threading.Thread(target=leave_cycles)
        thread.start()
        thread.join()
        assert not destroyed_by
        qtbot.waitUntil(lambda: bool(destroyed_by))
    assert destroyed_by == {threading.get_ident()} and gc.isenabled()


def test_nothing_is_collected_until_the_collections_begin(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    class Node:
        pass

    frozen: list[bool] = []
    monkeypatch.setattr(interpreter, "freeze_imports", lambda: frozen.append(gone() is None))
    gc.enable()
    with collected_here(begins_at_once=False) as begin:
        node = Node()
        node.itself = node  # type: ignore[attr-defined]
        gone = weakref.ref(node)
        del node
        kept = [[] for _ in range(10 * gc.get_threshold()[0])]  # type: list[list[object]]
        assert gone() is not None and not frozen
        begin()
        qtbot.waitUntil(lambda: gone() is None)
    assert frozen == [False] and kept and gc.isenabled()
