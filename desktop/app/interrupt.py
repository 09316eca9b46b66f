"""Ctrl+C and a polite kill, while Qt's C++ loop runs: Python's handlers would wait for the next Python call."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class SignalWatcher(QObject):
    """Calls `on_signal` in the window's thread. A byte on a socket wakes the loop (as qutebrowser does it)."""

    def __init__(self, on_signal: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_signal = on_signal
        self._ours, self._theirs = socket.socketpair()
        self._theirs.setblocking(False)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)
        self._old_wakeup = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {number: signal.signal(number, self._handle) for number in _SIGNALS}

    def close(self) -> None:
        """Restore the former handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._ours.close()
        self._theirs.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._on_signal()

    def _drain(self) -> None:
        self._ours.recv(4096)
