"""Paints widgets one after the other if many are shown at once, so that every frame stays short; and reports the first
visible frame, after which heavy work begins."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

FRAME_MS = 16
"""Time between two frames, at 60 a second."""
_AT_THE_LATEST_MS = 3_000
"""A window that is minimised or covered may never be painted."""


class PaintInTurn(QObject):
    """Delays the painting of held widgets: one a frame, in the order of `hold`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._held: list[QWidget] = []
        self._timer = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._paint_next)

    def hold(self, widgets: Iterable[QWidget]) -> None:
        """Hold these, and begin with the first one a frame from now."""
        for each in widgets:
            each.setUpdatesEnabled(False)
            if each not in self._held:
                self._held.append(each)
        if self._held:
            self._timer.start()

    @Slot()
    def _paint_next(self) -> None:
        each = self._held.pop(0)
        if isValid(each):
            each.setUpdatesEnabled(True)
        if not self._held:
            self._timer.stop()


class FirstPaint(QObject):
    """Emits `happened` once: after the first paint of the window, or a while after its first show."""

    happened = Signal()

    def __init__(self, window: QWidget, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_timeout)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self._timer.start(0)
        elif event.type() is QEvent.Type.Show and not self._timer.isActive():
            self._timer.start(_AT_THE_LATEST_MS)
        return False

    def _on_timeout(self) -> None:
        self._window.removeEventFilter(self)
        self.happened.emit()
