"""The window's size at the first start, and full screen (F11, and Escape to leave it)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QWidget

_SHARE_OF_SCREEN = 0.92
_LARGEST_FIRST_SIZE = (1920, 1080)
_FULL = Qt.WindowState.WindowFullScreen


def set_first_size(window: QWidget) -> None:
    """At the first start: most of the screen, but not more than is useful."""
    room = window.screen().availableGeometry()
    width, height = (round(_SHARE_OF_SCREEN * side) for side in (room.width(), room.height()))
    window.resize(min(width, _LARGEST_FIRST_SIZE[0]), min(height, _LARGEST_FIRST_SIZE[1]))


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
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.KeyPress and self._window.isFullScreen():
            self._choose(is_full=False)  # by a key that nothing in the window had a use for
            return True
        return False

    def _choose(self, is_full: bool) -> None:
        states = self._window.windowState()
        self._window.setWindowState(states | _FULL if is_full else states & ~_FULL)


def begin_in_a_window(window: QMainWindow) -> None:
    """A window that was closed in full screen starts with its former size: without a frame, a user would not see how to
    leave it."""
    if window.isFullScreen():
        before = window.normalGeometry()
        window.setWindowState(window.windowState() & ~_FULL)
        if before.isValid() and not window.isMaximized():
            window.setGeometry(before)
