"""Tells a user who may be looking elsewhere: a banner, the desktop's own message, and the window's entry flashes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from core.events import Severity
from desktop.panels.banner import Notice
from desktop.window import MainWindow

_SHOWN_MS = 15_000


class DesktopNotifier(QObject):
    """Falls back to the banner alone where the desktop has no tray, or one that shows no messages."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        window.closing.connect(self._hide)

    def tell(self, key: str, title: str, text: str, action: str, on_action: Callable[[], object]) -> None:
        """One thing that happened. A banner with the same key replaces the former."""
        self._window.banner.tell(Notice(key, Severity.INFO, text, action=action, on_action=on_action))
        QApplication.alert(self._window)
        tray = self._shown_tray()
        if tray is not None:
            tray.showMessage(title, text, self._window.windowIcon(), _SHOWN_MS)

    def _shown_tray(self) -> QSystemTrayIcon | None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return None
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.setToolTip("Ghostcandle")
            self._tray.messageClicked.connect(self._window.come_to_front)
            self._tray.activated.connect(lambda _reason: self._window.come_to_front())
        self._tray.show()
        return self._tray

    def _hide(self) -> None:
        if self._tray is not None:
            self._tray.hide()
