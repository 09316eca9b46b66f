"""One clock for all picture changes: requests merge into at most one frame per 16 ms."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from desktop.ui.paint_in_turn import FRAME_MS


class Dirty(IntFlag):
    """Parts to recompute, from the cheapest to the most expensive."""

    NOTHING = 0
    CURSOR = 1
    TICK = 2
    VIEW = 4
    DATA = 8


class FrameClock(QObject):
    """Calls `on_frame` with the merged flags: immediately if idle, otherwise when the current 16 ms are over."""

    def __init__(self, on_frame: Callable[[Dirty], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_frame = on_frame
        self._dirty = Dirty.NOTHING
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def request(self, dirty: Dirty) -> None:
        self._dirty |= dirty
        if not self._timer.isActive():
            self._timer.start(0)

    def flush(self) -> None:
        """Handle pending requests now instead of at the next frame."""
        dirty, self._dirty = self._dirty, Dirty.NOTHING
        if dirty:
            self._on_frame(dirty)

    @Slot()
    def _tick(self) -> None:
        if not self._dirty:
            return
        # Measured from the frame's start: its work is part of the 16 ms. Requests during it wait for the next frame.
        self._timer.start(FRAME_MS)
        self.flush()
