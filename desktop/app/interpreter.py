"""Keeps Python's garbage collector and interpreter lock from delaying frames."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

_LOOKS_EVERY_MS = 100
_TURN_S = 0.001 if os.name == "nt" else 0.0002
"""Windows counts whole milliseconds: with 0, threads that wait would never sleep."""


def freeze_imports() -> None:
    """Exclude all imported objects from later collections: they live until the end anyhow, and a full collection with
    them delays a frame by 55 ms, without them by 15 (measured in the window on a simulated market).

    See `gc.freeze` in Python's documentation.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def collected_here(*, begins_at_once: bool = True) -> Iterator[Callable[[], None]]:
    """A context in which only the calling thread, which must run Qt's event loop, collects garbage.

    Otherwise the collections begin once the caller calls the function that this yields, which freezes all that was
    imported until then: while a window is being made, hardly anything becomes garbage.

    Python collects in whichever thread allocates. With a trainer and readers on other threads half of the collections
    ran there, and a closed dialog that is part of a reference cycle would be destroyed by the trainer: Qt ends in
    "double free or corruption" then.
    """
    timer = QTimer(interval=_LOOKS_EVERY_MS)
    timer.timeout.connect(_collect_due_generations)

    def begin() -> None:
        freeze_imports()
        timer.start()

    was_enabled = gc.isenabled()
    gc.disable()
    if begins_at_once:
        timer.start()
    try:
        yield begin
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
    """A context in which a computing thread yields after a fraction of a millisecond, not after 5.

    sqlite3 releases Python's lock for each row. A panel's computing thread then acquires it, so the 1,000 candles that
    the window reads when another market is chosen could wait for as many turns. See `sys.setswitchinterval`.
    """
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)
