"""The desktop's own messages: a bubble beside the tray, and the window's entry flashes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from core.alerts.alert import Alert
from core.domain.plain_text import plain

_SHOWN_MS = 15_000


def in_a_bubble(text: str) -> str:
    """Desktops on Linux read markup in a message's text, others show it; an angle of another form is none anywhere."""
    return plain(text).replace("<", "‹")


class DesktopMessages(QObject):
    """Where the desktop has no tray, or one that shows no messages, the window's entry flashes and that is all."""

    sent = Signal(str, str)
    """Title and text."""
    sounded = Signal()
    """The system's alert sound was asked for."""
    alerted = Signal(object)
    """Alert: one of the user's, also for the webhook."""
    clicked = Signal()
    """On a message or on the tray: the window is wanted."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def send(self, title: str, text: str) -> None:
        """One thing that happened."""
        self.sent.emit(title, text)
        QApplication.alert(self._window)
        tray = self._shown_tray()
        if tray is not None:
            tray.showMessage(plain(title), in_a_bubble(text), self._window.windowIcon(), _SHOWN_MS)

    def send_alert(self, alert: Alert) -> None:
        """The same for an alert."""
        self.send(alert.title, alert.text)
        self.alerted.emit(alert)

    def sound(self) -> None:
        """Make the system's alert sound: which one, and how loud, the desktop decides."""
        QApplication.beep()
        self.sounded.emit()

    def hide(self) -> None:
        """The window closes: nothing of it stays in the tray."""
        if self._tray is not None:
            self._tray.hide()

    def _shown_tray(self) -> QSystemTrayIcon | None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return None
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self, toolTip="Ghostcandle")
            self._tray.messageClicked.connect(self.clicked)
            self._tray.activated.connect(lambda _reason: self.clicked.emit())
        self._tray.show()
        return self._tray
