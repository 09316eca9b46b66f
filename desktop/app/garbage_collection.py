"""Python's garbage collector, and frames that do not wait for it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

_LOOKS_EVERY_MS = 100


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
