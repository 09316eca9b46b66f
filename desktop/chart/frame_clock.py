"""One clock for all that changes the picture: requests merge, and at most one frame comes in 16 ms."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag

from PySide6.QtCore import QObject, Qt, QTimer, Slot

FRAME_MS = 16


class Dirty(IntFlag):
    """What has to be looked at again, from the cheapest to the dearest."""

    NOTHING = 0
    CURSOR = 1
    TICK = 2
    VIEW = 4
    DATA = 8


class FrameClock(QObject):
    """Calls `on_frame` with the merged flags: at once when it was idle, else when the running 16 ms are over."""

    def __init__(self, on_frame: Callable[[Dirty], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_frame = on_frame
        self._dirty = Dirty.NOTHING
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def request(self, dirty: Dirty) -> None:
        """Ask for a frame."""
        self._dirty |= dirty
        if not self._timer.isActive():
            self._timer.start(0)

    def flush(self) -> None:
        """Serve what waits now instead of at the next frame."""
        dirty, self._dirty = self._dirty, Dirty.NOTHING
        if dirty:
            self._on_frame(dirty)

    @Slot()
    def _tick(self) -> None:
        if not self._dirty:
            return
        # From the frame's start: its own work is part of the 16 ms. What is asked for meanwhile waits for the next.
        self._timer.start(FRAME_MS)
        self.flush()
