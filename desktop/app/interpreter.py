"""What Python's interpreter would let frames wait for: its garbage collector, and its lock."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

_LOOKS_EVERY_MS = 100
_TURN_S = 0.001 if os.name == "nt" else 0.0002
"""Windows counts whole milliseconds: with 0, threads that wait would never sleep."""


def freeze_imports() -> None:
    """Take what is imported by now out of every later collection: it stays until the end anyhow, and a whole collection
    that goes through it holds up a frame for 55 ms, without it for 15 (measured in the window on a simulated market).

    See `gc.freeze` in Python's documentation.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def collected_here() -> Iterator[None]:
    """Meanwhile only the calling thread, which must run Qt's event loop, collects garbage.

    Python collects in whichever thread allocates. With a trainer and readers on other threads half of the
    collections ran there, and a closed dialog that is part of a reference cycle would be destroyed by the trainer: Qt
    ends in "double free or corruption" then.
    """
    timer = QTimer(interval=_LOOKS_EVERY_MS)
    timer.timeout.connect(_collect_due_generations)
    was_enabled = gc.isenabled()
    gc.disable()
    timer.start()
    try:
        yield
    finally:
        timer.stop()
        if was_enabled:
            gc.enable()


def _collect_due_generations() -> None:
    """The oldest generation that Python itself would collect now."""
    for generation, (count, limit) in reversed(list(enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True)))):
        if count > limit > 0:
            gc.collect(generation)
            return


@contextmanager
def short_turns() -> Iterator[None]:
    """Meanwhile a thread that computes gives way after a fraction of a millisecond, not after 5.

    sqlite3 gives Python's lock up for each row. A panel's thread that computes takes it then, so the 1,000 candles that
    the window reads when another market is chosen could wait for as many turns. See `sys.setswitchinterval`.
    """
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)
