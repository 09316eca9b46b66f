"""The base of all panels: they are drawn at most ten times a second, and not while hidden."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QColor, QPalette, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop.ui.plain_text import Label
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

REFRESH_INTERVAL_MS = 100
TICK_INTERVAL_MS = 1_000
LOADING = QT_TRANSLATE_NOOP("Panels", "Loading the last run…")


class Panel(QWidget):
    """Reads the state when it is refreshed, also for another palette. Subclasses override `refresh`, and `tick` if they
    show an age."""

    became_stale = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.is_stale = self._is_new = True
        """True from a change to the next refresh."""
        theme.changed.connect(self.mark_stale)

    def follow(self, *changes: SignalInstance) -> None:
        """Refresh after each of these signals: the panel shows what they report."""
        for signal in changes:
            signal.connect(self.mark_stale)

    @property
    def palette_now(self) -> Palette:
        return self.theme.palette

    @property
    def is_on_screen(self) -> bool:
        """False behind another tab, in a closed dock, and in a minimised window."""
        return self.isVisible() and not self.window().isMinimized() and not self.visibleRegion().isEmpty()

    def mark_stale(self) -> None:
        self.is_stale = True
        self.became_stale.emit()

    def refresh_if_seen(self) -> None:
        """Refresh now if something changed and the panel is on the screen; else stay stale."""
        if self.is_stale and self.is_on_screen:
            self.is_stale = self._is_new = False
            self.refresh()

    def refresh(self) -> None:
        """Show the state as it is now."""

    def tick(self) -> None:
        """A second has passed."""

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh before the first frame: a new panel shows its empty text over parts that it hides."""
        super().showEvent(event)
        if self._is_new:
            self.is_stale = self._is_new = False
            self.refresh()
        self.became_stale.emit()


class Refresher(QObject):
    """Refreshes stale panels with one timer, which runs only while there is something to do.

    A second timer calls `tick` of visible panels each second, for ages and countdowns.
    """

    def __init__(self, parent: QObject, interval_ms: int = REFRESH_INTERVAL_MS) -> None:
        super().__init__(parent)
        self._panels: list[Panel] = []
        self._is_stopped = False
        self._timer = QTimer(self, singleShot=True, interval=interval_ms)
        self._timer.timeout.connect(self._refresh)
        self._ticker = QTimer(self, interval=TICK_INTERVAL_MS)
        self._ticker.timeout.connect(self._tick)

    def add(self, panel: Panel) -> None:
        self._panels.append(panel)
        panel.became_stale.connect(self.schedule)
        self.schedule()

    def schedule(self) -> None:
        """Refresh within the interval. Many calls make one refresh."""
        if self._is_stopped:
            return
        if not self._timer.isActive():
            self._timer.start()
        if not self._ticker.isActive():
            self._ticker.start()

    @property
    def has_stale_panels(self) -> bool:
        """True while a panel on the screen waits to be refreshed."""
        return any(panel.is_stale and panel.is_on_screen for panel in self._panels)

    def stop(self) -> None:
        """Stop the timers, for a closed window, until `resume`."""
        self._is_stopped = True
        self._timer.stop()
        self._ticker.stop()

    def resume(self) -> None:
        self._is_stopped = False
        self.schedule()

    @property
    def is_running(self) -> bool:
        return self._timer.isActive() or self._ticker.isActive()

    def _refresh(self) -> None:
        for panel in self._panels:
            panel.refresh_if_seen()

    def _tick(self) -> None:
        for panel in self._panels:
            if panel.is_on_screen:
                panel.tick()


class EmptyState(Label):
    """The text that a panel shows while it is empty: it covers `host` and ignores the mouse."""

    def __init__(self, text: str, host: QWidget) -> None:
        super().__init__(text, host, alignment=Qt.AlignmentFlag.AlignCenter, wraps=True)
        self._text = text
        self.setMargin(12)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        mute(self)
        self._host = host
        host.installEventFilter(self)
        self._cover()

    def update_state(self, *, is_empty: bool, is_loading: bool, text: str | None = None, why: str = "") -> None:
        """Cover the host while it is empty; while it loads, do not claim that there is nothing.

        why: the reason, on a separate line.
        """
        if text is not None:
            self._text = text
        own = f"{why}\n{self._text}" if why else self._text
        set_text(self, translate("Panels", LOADING) if is_loading else own)
        self.setVisible(is_empty)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._cover()
        return False

    def _cover(self) -> None:
        self.setGeometry(self._host.rect())


def colour_text(label: Label, colour: QColor) -> None:
    """Write a label in this QColor, without a style sheet."""
    palette = label.palette()
    palette.setColor(QPalette.ColorRole.WindowText, colour)
    label.setPalette(palette)


def mute(*labels: Label) -> None:
    for label in labels:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)


def set_text(shown: Label | QAbstractButton, text: str) -> None:
    """Set a text only if it differs: an equal one would still cost a layout."""
    if shown.text() != text:
        shown.setText(text)
