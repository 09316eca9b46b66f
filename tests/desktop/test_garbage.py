"""What is imported is not gone through by a collection, and what is made later still is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CODE = """
import gc, weakref
import desktop.running
from desktop.garbage import freeze_imports

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


def test_a_collection_leaves_out_what_was_imported_and_frees_what_came_later() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    before, left, is_gone = done.stdout.split()
    assert int(before) > 50_000 and int(left) < int(before) / 20
    assert is_gone == "True"


FRAMES = """
import gc, sys
from desktop.__main__ import main
from desktop.benchmark import while_training

while_training.measure_frames = lambda *given: {"left_out": gc.get_freeze_count()}
sys.argv = ["ghostcandle", "bench", "frames", "--host", "none", "--seconds", "1", "--data-dir", sys.argv[1]]
main()
"""


def test_frames_beside_a_trainer_are_timed_with_the_windows_collections(tmp_path: Path) -> None:
    code = [sys.executable, "-c", FRAMES, str(tmp_path)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["left_out"] > 50_000
