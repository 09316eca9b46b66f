"""The desktop's own messages: a bubble beside the tray, and the window's entry flashes; and what price alerts say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from core.alerts.service import Alert
from core.domain.events import Severity
from core.domain.plain_text import plain
from core.domain.price_lines import Direction, PriceLine
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.banner import Notice
from desktop.ui.formatting import crossing_time
from desktop.ui.translation import translate

_SHOWN_MS = 15_000


def in_a_bubble(text: str) -> str:
    """Linux desktops interpret markup in a message's text, others show it; a different angle character is safe on
    both."""
    return plain(text).replace("<", "‹")


class DesktopMessages(QObject):
    """Shows messages on the desktop. Without a tray that shows them, only the window's task bar entry flashes."""

    sent = Signal(str, str)
    """Title and text."""
    sounded = Signal()
    """The system's alert sound was requested."""
    alerted = Signal(object)
    """Alert: set by the user, also sent to the services of the settings."""
    clicked = Signal()
    """A message or the tray icon was clicked: show the window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def send(self, title: str, text: str) -> None:
        self.sent.emit(title, text)
        QApplication.alert(self._window)
        tray = self._shown_tray()
        if tray is not None:
            tray.showMessage(plain(title), in_a_bubble(text), self._window.windowIcon(), _SHOWN_MS)

    def send_alert(self, alert: Alert) -> None:
        self.send(alert.title, alert.text)
        self.alerted.emit(alert)

    def sound(self) -> None:
        """Play the system's alert sound; the desktop sets sound and volume."""
        QApplication.beep()
        self.sounded.emit()

    def hide(self) -> None:
        """Remove the tray icon, as the window closes."""
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


_LATE_MS = 60_000
"""An older crossing is shown with its time."""


class AlertMessages:
    """action: the banner's button. on_action: called with the time of the crossing."""

    def __init__(
        self, shell: Shell, messages: DesktopMessages, action: str, on_action: Callable[[int | None], object]
    ) -> None:
        self._shell, self._messages, self._action, self._on_action = shell, messages, action, on_action

    def show(self, symbol: str, venue: str, lines: Sequence[PriceLine], decimals: int, time: str = "") -> None:
        """Lines of a symbol that one candle or price crossed, one message a price.

        time: when that was, if not now.
        """
        if not self._shell.settings.current.notifications.price_alerts:
            return
        by_text: dict[str, list[PriceLine]] = {}
        for line in lines:
            is_up = line.direction is Direction.UP
            text = translate("Chart", "{0} rose to {1}") if is_up else translate("Chart", "{0} fell to {1}")
            by_text.setdefault(text.format(symbol, formatting.format_price(line.price, decimals)), []).append(line)
        for crossing, together in by_text.items():
            self._show_one(f"{symbol} ({venue})", crossing, together, time)

    def _show_one(self, market: str, crossing: str, lines: Sequence[PriceLine], time: str) -> None:
        if len(lines) > 1:
            crossing = translate("Chart", "{0} ({1} alerts)").format(crossing, len(lines))
        if time:
            crossing = translate("Chart", "{0}, crossed {1}").format(crossing, time)
        text = " ".join((f"{crossing}.", *dict.fromkeys(line.text for line in lines if line.text)))
        key, crossed_at_ms = f"alert {lines[0].number}", lines[0].crossed_at_ms
        self._shell.banner.show_notice(
            Notice(
                key,
                Severity.WARNING,
                translate("Chart", "Alert: {0}").format(text),
                action=self._action,
                on_action=lambda: self._on_action(crossed_at_ms),
                is_alert=True,
            )
        )
        title = translate("Chart", "Price alert")
        self._messages.send_alert(Alert(market, title, text))
        if self._shell.settings.current.notifications.alert_sound:
            self._messages.sound()


def late_time(lines: Sequence[PriceLine], now_ms: int, time_zone: tzinfo | None) -> str:
    """The time at which the first of these lines was crossed, as text; empty if that was just now."""
    crossed = next((line for line in lines if line.crossed_at_ms is not None), None)
    if crossed is None or now_ms - (crossed.crossed_at_ms or 0) < _LATE_MS:
        return ""
    return crossing_time(crossed, time_zone)
