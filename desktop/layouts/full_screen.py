"""The whole screen for the window: F11 takes it and gives it back, Escape gives it back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMainWindow

_FULL = Qt.WindowState.WindowFullScreen


class FullScreen(QObject):
    """Keeps action and window in agreement: the desktop has its own keys for full screen."""

    def __init__(self, window: QMainWindow, action: QAction) -> None:
        super().__init__(window)
        self._window, self._action = window, action
        action.triggered.connect(self._choose)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowStateChange:
            self._action.setChecked(self._window.isFullScreen())
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._leave(event)
        return False

    def _choose(self, is_full: bool) -> None:
        """Whether it was maximized before stays known to the window, for the way back."""
        states = self._window.windowState()
        self._window.setWindowState(states | _FULL if is_full else states & ~_FULL)

    def _leave(self, event: QKeyEvent) -> bool:
        """By a key that nothing in the window had a use for."""
        if event.key() != Qt.Key.Key_Escape or not self._window.isFullScreen():
            return False
        self._choose(is_full=False)
        return True


def begin_in_a_window(window: QMainWindow) -> None:
    """A window that was closed while it had the whole screen begins as it was before: without a frame, at a start,
    nothing says how it is left."""
    if window.isFullScreen():
        before = window.normalGeometry()
        window.setWindowState(window.windowState() & ~_FULL)
        if before.isValid() and not window.isMaximized():
            window.setGeometry(before)
