"""What is imported is not gone through by a collection, and what is made later still is."""

from __future__ import annotations

import subprocess
import sys

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
