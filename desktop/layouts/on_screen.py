"""Windows fit the screen at the first start, and are brought back from one that was unplugged, or is gone since the
last time; full screen (F11, and Escape to leave it)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QScreen
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

_TITLE_HEIGHT = 30
_REACHABLE = (120, 16)
"""So much of a window's title must lie on screens for a hand to move it by, in pixels."""
_SETTLES_MS = 200
"""Qt and the desktop move windows themselves, first."""
_SHARE_OF_SCREEN = 0.92
_LARGEST_FIRST_SIZE = (1920, 1080)
_FULL = Qt.WindowState.WindowFullScreen


class ScreenKeeper(QObject):
    """Looks after all windows of the program whenever the screens change."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settling = QTimer(self, singleShot=True, interval=_SETTLES_MS)
        self._settling.timeout.connect(self.bring_back)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._look_later)
        application.screenAdded.connect(self._watch)
        for screen in QGuiApplication.screens():
            self._watch(screen)

    def close(self) -> None:
        """Look no more."""
        self._settling.stop()

    def bring_back(self) -> None:
        """Move every window whose title no hand can reach onto a screen."""
        for widget in QApplication.topLevelWidgets():
            is_window = widget.windowType() in (Qt.WindowType.Window, Qt.WindowType.Dialog, Qt.WindowType.Tool)
            if widget.isVisible() and is_window and not widget.isMinimized():
                bring_into_view(widget)

    def _watch(self, screen: QScreen) -> None:
        screen.availableGeometryChanged.connect(self._look_later)

    def _look_later(self, _what: object = None) -> None:
        self._settling.start()


def take_first_size(window: QWidget) -> None:
    """At the first start: most of the screen, but not more than is useful."""
    room = window.screen().availableGeometry()
    width, height = (round(_SHARE_OF_SCREEN * side) for side in (room.width(), room.height()))
    window.resize(min(width, _LARGEST_FIRST_SIZE[0]), min(height, _LARGEST_FIRST_SIZE[1]))


def bring_into_view(widget: QWidget) -> bool:
    """Move a window whose title no hand can reach, and shrink it where it is larger than the screen. True if moved."""
    frame = widget.frameGeometry()
    if any(_is_reachable(frame, screen.availableGeometry()) for screen in QGuiApplication.screens()):
        return False
    screen = QGuiApplication.primaryScreen()
    room = screen.availableGeometry()
    around = frame.size() - widget.size()
    widget.resize(widget.size().boundedTo(room.size() - around))
    place = QRect(QPoint(0, 0), widget.frameSize())
    place.moveCenter(room.center())
    widget.move(QPoint(max(place.left(), room.left()), max(place.top(), room.top())))
    return True


def _is_reachable(frame: QRect, room: QRect) -> bool:
    title = QRect(frame.left(), frame.top(), frame.width(), _TITLE_HEIGHT).intersected(room)
    return title.width() >= min(_REACHABLE[0], frame.width()) and title.height() >= _REACHABLE[1]


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
        """Whether it was maximized before stays known to the window, for the way back."""
        states = self._window.windowState()
        self._window.setWindowState(states | _FULL if is_full else states & ~_FULL)


def begin_in_a_window(window: QMainWindow) -> None:
    """A window that was closed while it had the whole screen begins as it was before: without a frame, at a start,
    nothing says how it is left."""
    if window.isFullScreen():
        before = window.normalGeometry()
        window.setWindowState(window.windowState() & ~_FULL)
        if before.isValid() and not window.isMaximized():
            window.setGeometry(before)
