"""Paints widgets one after the other: where many are shown at once, none of the frames is a long one."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

_FRAME_MS = 16


class PaintInTurn(QObject):
    """What it holds is not painted until its turn: one widget a frame, in the order of `hold`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._held: list[QWidget] = []
        self._timer = QTimer(self, interval=_FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
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
