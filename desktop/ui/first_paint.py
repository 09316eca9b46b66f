"""The moment at which the user sees something: heavy work begins after it, not before."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

_AT_THE_LATEST_MS = 3_000
"""A window that is minimised or covered may never be painted."""


class FirstPaint(QObject):
    """Emits `happened` once: after the first paint of the window, or a while after its first show."""

    happened = Signal()

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
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
